import Synchronization
import WeftPlatform

/// Doing what others ask of the run.
extension LiveRun {
  /// How long a request may lie before it is seen.
  private static let attention = Duration.milliseconds(200)

  /// Does what is asked for by now, and from now on.
  func heedRequests() {
    guard let inbox, !events.isFinished else { return }
    for request in inbox.take() {
      switch request {
      case .approve(let step): answer(step, .approved)
      case .reject(let step): answer(step, .rejected)
      case .cancel: cancel(.requested)
      case .kill: killNow()
      }
    }
    let timer = time.schedule(after: LiveRun.attention) { [weak self] in self?.heedRequests() }
    state.withLock { $0.controlTimer = timer }
  }
}
