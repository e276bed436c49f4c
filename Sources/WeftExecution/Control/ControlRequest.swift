package import WeftPlanning

/// What others ask of a run under way, or of one that waits.
package enum ControlRequest: Sendable, Hashable {
  case approve(StepAddress)
  case reject(StepAddress)
  /// To end, as by ``LiveRun/cancel(_:)``.
  case cancel
  /// To end without a grace, as by ``LiveRun/killNow()``.
  case kill
}

/// Where others leave what they ask of a run.
package protocol ControlInbox: Sendable {
  /// What has come since it was last asked for, the oldest first. Called on the thread of the timers, so it
  /// must not take long.
  func take() -> [ControlRequest]

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
    case .approve(let step), .reject(let step): past.steps[step]?.isAsking ?? true
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
