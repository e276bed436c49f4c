import Synchronization
import WeftPlatform

/// Whose turn it is to write on the terminal: the display's, unless others have asked for it. They are a
/// step that is to have the terminal, and the shell that gets it back at ^Z.
///
/// They ask on their own threads; the display's thread takes away what it has drawn, says so, and then
/// waits, holding back what it would have written.
final class Screen: Sendable {
  private struct State {
    var askers = 0
    /// Whether there is a display that would write.
    var hasDisplay = false
    var hasWithdrawn = false
    var waiting: [Wakeup] = []

    var isQuiet: Bool { !hasDisplay || hasWithdrawn }
  }

  private let state = Mutex(State())
  /// Where the display's thread waits, for events as well.
  let wakeup = Wakeup()

  // MARK: For others

  /// Asks the display to be quiet until ``release()``, which must follow in any case, and waits until it is.
  ///
  /// - Parameters:
  ///   - limit: The display cannot answer while nobody reads what it writes.
  ///   - stop: Ends the wait.
  /// - Returns: Whether it is quiet.
  func ask(atMost limit: Duration?, stop: StopSwitch? = nil) -> Bool {
    let answer = Wakeup()
    state.withLock { state in
      state.askers += 1
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
    state.withLock { $0.askers -= 1 }
    wakeup.wake()
  }

  // MARK: For the display's thread

  /// A display begins to write; until ``close()``.
  func open() { state.withLock { $0.hasDisplay = true } }

  func close() {
    let waiting = state.withLock { state in
      state.hasDisplay = false
      return state.waiting
    }
    for answer in waiting { answer.wake() }
  }

  /// Whether somebody waits for the display to withdraw.
  var isWanted: Bool { state.withLock { $0.askers > 0 } }

  /// The display has withdrawn. Returns when nobody wants the screen any more.
  func yield() {
    let waiting = state.withLock { state in
      state.hasWithdrawn = true
      return state.waiting
    }
    for answer in waiting { answer.wake() }
    while !isFreeAgain() { wakeup.wait() }
  }

  private func isFreeAgain() -> Bool {
    state.withLock { state in
      guard state.askers == 0 else { return false }
      state.hasWithdrawn = false
      return true
    }
  }
}
