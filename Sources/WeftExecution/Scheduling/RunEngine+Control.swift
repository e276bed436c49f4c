import Synchronization
import WeftEvents
import WeftPlanning
import WeftPlatform

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
    let open = state.withLock { Set($0.approvals.values.map(\.request.step)) }
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
  func isAskedAlready(_ step: StepAddress) -> Bool {
    resumePolicy?.past.steps[step]?.isAsking == true
      && !state.withLock { $0.asked.contains(step) }
  }

  /// Discards answers that arrived before the step asks: they are not meant for this question.
  func beginQuestion(_ step: StepAddress, isAskedAlready: Bool) {
    if !isAskedAlready { inbox?.discard(answersTo: step) }
  }

  /// Looks for answers once a question is open that an earlier engine asked: they may have arrived before this engine
  /// started.
  func questionIsOpen(isAskedAlready: Bool) {
    if isAskedAlready { takeRequests() }
  }
}
