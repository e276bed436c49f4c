import Glibc
import Synchronization
import Testing

@testable import WeftPlatform

/// Work on a thread that is continuously interrupted by signals.
final class Storm: Sendable {
  private struct State {
    var target: pthread_t?
    var isOver = false
  }

  private let state = Mutex(State())
  private static let received = Atomic<Int>(0)

  var hits: Int { Self.received.load(ordering: .relaxed) }

  init(_ work: @escaping @Sendable () throws -> Void) throws {
    var action = sigaction()  // without SA_RESTART
    action.__sigaction_handler.sa_handler = { _ in Storm.received.wrappingAdd(1, ordering: .relaxed)
    }
    sigaction(SIGURG, &action, nil)
    try Thread.start(name: "storm", stackBytes: 1 << 20) {
      var urgent = sigset_t()
      sigemptyset(&urgent)
      sigaddset(&urgent, SIGURG)
      pthread_sigmask(SIG_UNBLOCK, &urgent, nil)
      self.state.withLock { $0.target = pthread_self() }
      do { try work() } catch { Issue.record(error) }
      self.state.withLock { $0.isOver = true }
    }
  }

  /// Sends signals until the work is done.
  func rage() {
    var isOver = false
    while !isOver {
      isOver = state.withLock { state in
        if let target = state.target, !state.isOver { pthread_kill(target, SIGURG) }
        return state.isOver
      }
      usleep(100)
    }
  }
}
