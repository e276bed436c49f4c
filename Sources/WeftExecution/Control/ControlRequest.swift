import Synchronization
package import WeftEvents
package import WeftPlanning
import WeftPlatform

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

  /// Removes the answers to a step that were given after a moment: its time was over.
  func discard(answersTo step: StepAddress, givenAfter moment: WallTime)

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

  /// Whether the time to answer its approval is over.
  package func isTooLate(at now: WallTime) -> Bool {
    isAsking && waitsUntil.map { $0.nanoseconds < now.nanoseconds } ?? false
  }
}

/// Executes control requests of other processes, such as `weft approve` and `weft cancel`.
extension RunEngine {
  /// The interval between two looks at the inbox.
  private static let attention = Duration.milliseconds(200)

  /// Executes the requests that are there, and schedules the next look.
  func heedRequests() {
    guard inbox != nil, !events.isFinished else { return }
    takeRequests()
    let timer = time.schedule(after: RunEngine.attention) { [weak self] in self?.heedRequests() }
    state.withLock { $0.controlTimer = timer }
  }

  /// Executes the requests that are there. Only questions that are open when it begins are answered: an answer that
  /// came before its question is removed by ``beginQuestion(_:)``.
  private func takeRequests() {
    guard let inbox else { return }
    let open = Set(state.withLock { $0.approvals.requests }.map(\.step))
    let requests = inbox.take(answersTo: open)
    for (index, request) in requests.enumerated() {
      // The last of several answers to a step counts.
      if let step = request.answeredStep,
        requests[(index + 1)...].contains(where: { $0.answeredStep == step })
      {
        continue
      }
      switch request {
      case .approve(let step):
        answer(step, .approved(by: "\(ThisProcess.userName), with weft approve"))
      case .reject(let step): answer(step, .rejected)
      case .cancel: cancel(.requested)
      case .kill: killNow()
      }
    }
  }

  /// Whether a step continues to wait for the answer to a question that an earlier engine asked.
  func isAlreadyPending(_ step: StepAddress) -> Bool {
    resumePolicy?.recorded.steps[step]?.isAsking == true
      && !state.withLock { $0.approvals.hasAsked(step) }
  }

  /// Discards answers that do not count: those that arrived before the step asks are not meant for this question, and
  /// those to a question that an earlier engine asked may be too late.
  ///
  /// - Parameter end: The moment until which the question can be answered, if there is one.
  func beginQuestion(_ step: StepAddress, isAlreadyPending: Bool, until end: WallTime?) {
    if !isAlreadyPending {
      inbox?.discard(answersTo: step)
    } else if let end {
      inbox?.discard(answersTo: step, givenAfter: end)
    }
  }

  /// Looks for answers once a question is open that an earlier engine asked: they may have arrived before this engine
  /// started.
  func questionIsOpen(isAlreadyPending: Bool) {
    if isAlreadyPending { takeRequests() }
  }
}
