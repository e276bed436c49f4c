import Synchronization
import WeftPlatform

/// The thread that takes tokens out of pipes for the run's slots, only while a step waits for a slot.
final class TokenExchange: Sendable {
  private struct State {
    var hasThread = false
    var isClosed = false
  }

  private let state = Mutex(State())
  private let watch: TokenWatch
  private let threads = ThreadPool(name: "weft-tokens")

  init() throws(SystemError) {
    watch = try TokenWatch()
  }

  /// Reports that the set of waiting steps has changed.
  func look(for slots: Slots) {
    let needsThread = state.withLock { state in
      defer { state.hasThread = true }
      return !state.hasThread && !state.isClosed
    }
    guard needsThread else { return watch.wake() }
    do {
      try threads.submit { [self] in serve(slots) }
    } catch {
      // Retried at the next change; until then the run continues with the slots that it has.
      state.withLock { $0.hasThread = false }
    }
  }

  func close() {
    state.withLock { $0.isClosed = true }
    watch.wake()
    threads.close()
  }

  private func serve(_ slots: Slots) {
    while !state.withLock({ $0.isClosed }) {
      let wanted = slots.wantedTokens()
      guard let index = watch.wait(for: wanted.map(\.pipe)) else { continue }
      guard let token = wanted[index].pipe.take() else { continue }
      slots.receive(token, from: wanted[index].source)
    }
  }
}
