import Synchronization
import WeftPlatform

/// Coordinates writers of the terminal: the display writes unless others request it, such as a step that gets the
/// terminal, or the shell after ^Z.
///
/// Requests come from other threads. The display's thread removes what it has drawn, confirms that, and waits without
/// writing.
final class DisplayLock: Sendable {
  private struct State {
    var requesters = 0
    /// Whether a display is open.
    var hasDisplay = false
    var hasWithdrawn = false
    var waiting: [Wakeup] = []

    var isQuiet: Bool { !hasDisplay || hasWithdrawn }
  }

  private let state = Mutex(State())
  /// The point where the display's thread waits, also for events.
  let wakeup = Wakeup()

  // MARK: For other writers

  /// Asks the display to be quiet until ``release()``, which must always follow, and waits until it is.
  ///
  /// - Parameters:
  ///   - limit: The longest wait; a display whose output is not read cannot respond.
  ///   - stop: Ends the wait.
  /// - Returns: Whether it is quiet.
  func ask(atMost limit: Duration?, stop: StopSwitch? = nil) -> Bool {
    let answer = Wakeup()
    state.withLock { state in
      state.requesters += 1
      state.waiting.append(answer)
    }
    wakeup.wake()
    stop?.attach(answer)
    defer {
      stop?.detach(answer)
      state.withLock { $0.waiting.removeAll { $0 === answer } }
    }
    let deadline = limit.map { MonotonicClock.now + $0 }
    while true {
      if state.withLock({ $0.isQuiet }) { return true }
      if let stop, stop.level > .none { return false }
      let left = deadline.map { $0 - MonotonicClock.now }
      if let left, left <= .zero { return false }
      answer.wait(atMost: left)
    }
  }

  func release() {
    state.withLock { $0.requesters -= 1 }
    wakeup.wake()
  }

  // MARK: For the display's thread

  /// Notes that a display starts to write, until ``close()``.
  func open() { state.withLock { $0.hasDisplay = true } }

  func close() {
    let waiting = state.withLock { state in
      state.hasDisplay = false
      return state.waiting
    }
    for answer in waiting { answer.wake() }
  }

  /// Whether another writer waits for the display to withdraw.
  var isWanted: Bool { state.withLock { $0.requesters > 0 } }

  /// Confirms that the display has withdrawn, and waits until no other writer needs the screen.
  func yield() {
    let waiting = state.withLock { state in
      state.hasWithdrawn = true
      return state.waiting
    }
    for answer in waiting { answer.wake() }
    while !isReleased() { wakeup.wait() }
  }

  private func isReleased() -> Bool {
    state.withLock { state in
      guard state.requesters == 0 else { return false }
      state.hasWithdrawn = false
      return true
    }
  }
}
