package import WeftEvents
package import WeftPlanning

/// A request from another process to a run, running or suspended.
package enum ControlRequest: Sendable, Hashable {
  case approve(StepAddress)
  case reject(StepAddress)
  /// Cancels the run, as by ``RunEngine/cancel(_:)``.
  case cancel
  /// Ends the run without a grace period, as by ``RunEngine/killNow()``.
  case kill

  /// The step whose approval it decides.
  package var answeredStep: StepAddress? {
    switch self {
    case .approve(let step), .reject(let step): step
    case .cancel, .kill: nil
    }
  }
}

/// The place where other processes leave control requests for a run.
package protocol ControlInbox: Sendable {
  /// Takes the requests since the last call, oldest first: those to end the run, and answers to these steps.
  /// Answers to other steps stay. Called on the timer thread, so it must not block.
  func take(answersTo steps: Set<StepAddress>) -> [ControlRequest]

  /// Removes all answers to a step that have arrived so far: before the step asks, because they do not answer
  /// that question, and after its end is recorded.
  func discard(answersTo step: StepAddress)

  /// Closes the inbox when the engine has ended or suspended the run.
  ///
  /// - Parameter open: The steps that still wait for an answer.
  func close(leaving open: Set<StepAddress>)
}

extension ControlRequest {
  /// Whether it still applies to an engine that resumes the run. A step that has its answer needs no other one.
  /// A request to end the run was meant for the previous engine, unless that had suspended the run.
  package func isDue(after recorded: RunState) -> Bool {
    switch self {
    case .approve(let step), .reject(let step): recorded.steps[step]?.isAsking ?? false
    case .cancel, .kill: recorded.pause != nil
    }
  }
}

extension RecordedStep {
  /// Whether the step waits for an approval.
  package var isAsking: Bool {
    if case .started = state { question != nil } else { false }
  }
}
