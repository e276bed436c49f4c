import CWeftPlatform
import Synchronization

/// Stops running programs. Any thread may raise its level, any number of times.
///
/// One switch serves any number of programs. Those that have not been spawned yet never will be.
package final class StopSwitch: Sendable {
  private enum Waker {
    case descriptor(Int32)
    case wakeup(Wakeup)

    func wake() {
      switch self {
      case .descriptor(let number): weft_wake_signal(number)
      case .wakeup(let wakeup): wakeup.wake()
      }
    }

    func isSame(as other: Waker) -> Bool {
      switch (self, other) {
      case (.descriptor(let one), .descriptor(let other)): one == other
      case (.wakeup(let one), .wakeup(let other)): one === other
      default: false
      }
    }
  }

  private struct State {
    var level = StopLevel.none
    var wakers: [Waker] = []
    var observers: [(level: StopLevel, action: @Sendable () -> Void)] = []

    /// - Returns: Whether it was added before the level was reached.
    mutating func add(_ wanted: StopLevel, _ action: @escaping @Sendable () -> Void) -> Bool {
      guard level < wanted else { return false }
      observers.append((wanted, action))
      return true
    }

    /// Removes and returns the observers whose level has been reached.
    mutating func takeObservers() -> [@Sendable () -> Void] {
      let called = observers.filter { $0.level <= level }
      observers.removeAll { $0.level <= level }
      return called.map(\.action)
    }
  }

  private let state = Mutex(State())

  package init() {}

  package var level: StopLevel { state.withLock { $0.level } }

  /// Raises the level; a lower or equal one has no effect.
  package func request(_ level: StopLevel) {
    let observers = state.withLock { state -> [@Sendable () -> Void] in
      guard level > state.level else { return [] }
      state.level = level
      // Inside the lock, because after `detach` the descriptor may be closed and its number reused.
      for waker in state.wakers { waker.wake() }
      return state.takeObservers()
    }
    for observer in observers { observer() }
  }

  /// Calls `action` once, when a stop at least as urgent as `level` is first requested: on the requesting thread, or
  /// immediately if one has been requested. For code that waits without a thread.
  package func whenRequested(
    _ level: StopLevel = .graceful, _ action: @escaping @Sendable () -> Void
  ) {
    if !state.withLock({ $0.add(level, action) }) { action() }
  }

  /// Signals `descriptor` whenever the level rises, until it is detached.
  func attach(_ descriptor: Int32) -> StopLevel { attach(.descriptor(descriptor)) }
  func detach(_ descriptor: Int32) { detach(.descriptor(descriptor)) }

  /// Wakes `wakeup` whenever the level rises, until it is detached.
  package func attach(_ wakeup: Wakeup) { _ = attach(.wakeup(wakeup)) }
  package func detach(_ wakeup: Wakeup) { detach(.wakeup(wakeup)) }

  private func attach(_ waker: Waker) -> StopLevel {
    state.withLock { state in
      state.wakers.append(waker)
      return state.level
    }
  }

  private func detach(_ waker: Waker) {
    state.withLock { state in
      guard let index = state.wakers.firstIndex(where: { $0.isSame(as: waker) }) else { return }
      state.wakers.remove(at: index)
    }
  }
}
