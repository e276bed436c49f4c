import Synchronization
import WeftPlanning
import WeftPlatform

/// Doing what others ask of the run.
extension LiveRun {
  /// How long a request may lie before it is seen.
  private static let attention = Duration.milliseconds(200)

  /// Does what is asked for by now, and from now on.
  func heedRequests() {
    guard inbox != nil, !events.isFinished else { return }
    takeRequests()
    let timer = time.schedule(after: LiveRun.attention) { [weak self] in self?.heedRequests() }
    state.withLock { $0.controlTimer = timer }
  }

  /// Does what is asked for by now. Only questions that are open when it begins are answered: an answer that came
  /// before its question is removed by ``beginQuestion(_:)``.
  private func takeRequests() {
    guard let inbox else { return }
    let open = state.withLock { Set($0.approvals.values.map(\.request.step)) }
    let requests = inbox.take(answersTo: open)
    for (index, request) in requests.enumerated() {
      // Who has answered twice means the later answer.
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

  /// Whether a step goes on waiting for the answer to a question that an earlier engine has asked.
  func isAskedAlready(_ step: StepAddress) -> Bool {
    standing?.past.steps[step]?.isAsking == true
      && !state.withLock { $0.asked.contains(step) }
  }

  /// A step is about to ask: what lies there before is no answer to that.
  func beginQuestion(_ step: StepAddress, isAskedAlready: Bool) {
    if !isAskedAlready { inbox?.discard(answersTo: step) }
  }

  /// The question is open: answers to it may lie there since before this engine.
  func questionIsOpen(isAskedAlready: Bool) {
    if isAskedAlready { takeRequests() }
  }
}
