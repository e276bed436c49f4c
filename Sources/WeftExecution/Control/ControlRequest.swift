package import WeftPlanning

/// What others ask of a run under way, or of one that waits.
package enum ControlRequest: Sendable, Hashable {
  case approve(StepAddress)
  case reject(StepAddress)
  /// To end, as by ``LiveRun/cancel(_:)``.
  case cancel
  /// To end without a grace, as by ``LiveRun/killNow()``.
  case kill

  /// The step that it answers.
  package var answeredStep: StepAddress? {
    switch self {
    case .approve(let step), .reject(let step): step
    case .cancel, .kill: nil
    }
  }
}

/// Where others leave what they ask of a run.
package protocol ControlInbox: Sendable {
  /// Requests that have come since the last call, the oldest first: those to end the run, and answers to these steps.
  /// Answers to other steps stay where they are. Called on the thread of the timers, so it must not block.
  func take(answersTo steps: Set<StepAddress>) -> [ControlRequest]

  /// Removes all answers to a step that have come so far: before it asks, for they are no answers to that question,
  /// and once its end is recorded.
  func discard(answersTo step: StepAddress)

  /// The engine has ended, or left the run to another.
  ///
  /// - Parameter open: Whose answers are still waited for.
  func close(leaving open: Set<StepAddress>)
}

extension ControlRequest {
  /// Whether it is still of use to an engine that goes on with a run: what has been answered is not answered
  /// again, and who ended an engine that was killed meant that one, unless the run only waited.
  package func isDue(after past: RecordedRun) -> Bool {
    switch self {
    case .approve(let step), .reject(let step): past.steps[step]?.isAsking ?? false
    case .cancel, .kill: past.pause != nil
    }
  }
}

extension RecordedStep {
  /// Whether the step waits for a person.
  package var isAsking: Bool {
    if case .started = state { asks != nil } else { false }
  }
}
