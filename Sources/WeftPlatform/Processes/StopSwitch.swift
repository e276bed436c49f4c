import CWeftPlatform
import Synchronization

/// Asks running programs to stop; any thread may, any number of times, only upwards.
///
/// One switch serves one program or many, and those that have not started yet: they never will.
package final class StopSwitch: Sendable {
  private struct State {
    var level = StopLevel.none
    var wakers: [Int32] = []
  }

  private let state = Mutex(State())

  package init() {}

  package var level: StopLevel { state.withLock { $0.level } }

  /// Raises the level; a lower or equal one changes nothing.
  package func request(_ level: StopLevel) {
    state.withLock { state in
      guard level > state.level else { return }
      state.level = level
      // Inside the lock, for after `detach` the descriptor may be closed and its number be another's.
      for waker in state.wakers { weft_wake_signal(waker) }
    }
  }

  /// From now on `waker` is signalled when the level rises.
  func attach(_ waker: Int32) -> StopLevel {
    state.withLock { state in
      state.wakers.append(waker)
      return state.level
    }
  }

  func detach(_ waker: Int32) {
    state.withLock { state in
      guard let index = state.wakers.firstIndex(of: waker) else { return }
      state.wakers.remove(at: index)
    }
  }
}
