import Synchronization
import WeftEvents
import WeftExecution
import WeftPlatform

/// Lends the program's terminal to one step at a time, and keeps the display off it meanwhile.
final class TerminalArbiter: TerminalAccess {
  private struct State {
    /// The queued requests for the terminal; the first one holds it.
    var queue: [Wakeup] = []
    var loan: TerminalLoan?
  }

  private let displayLock: DisplayLock
  /// The longest wait for a display that does not respond.
  private let patience: Duration?
  private let state = Mutex(State())

  /// - Parameter isShownOnTerminal: Whether the display writes to a terminal, so that it must withdraw before a step
  ///   gets it.
  init(_ displayLock: DisplayLock, isShownOnTerminal: Bool) {
    self.displayLock = displayLock
    patience = isShownOnTerminal ? nil : .seconds(1)
  }

  /// The loan to a step; `nil` if there is none.
  var loan: TerminalLoan? { state.withLock { $0.loan } }

  func borrow(stop: StopSwitch) throws(SpawnError) -> TerminalLoan {
    guard takeTurn(stop) else { throw .stopped }
    do throws(TerminalError) {
      let loan = try TerminalLoan()
      let isQuiet = displayLock.ask(atMost: patience, stop: stop)
      state.withLock { $0.loan = loan }
      if isQuiet || stop.level == .none { return loan }
      giveBack(loan)
    } catch {
      endTurn()
      throw .terminalUnavailable(error)
    }
    throw .stopped
  }

  func giveBack(_ loan: TerminalLoan) {
    state.withLock { $0.loan = nil }
    displayLock.release()
    endTurn()
  }

  /// Waits for earlier requests; returns false if a stop was requested.
  private func takeTurn(_ stop: StopSwitch) -> Bool {
    let turn = Wakeup()
    state.withLock { $0.queue.append(turn) }
    stop.attach(turn)
    defer { stop.detach(turn) }
    while !state.withLock({ $0.queue.first === turn }) {
      guard stop.level == .none else {
        leaveQueue(turn)
        return false
      }
      turn.wait()
    }
    return true
  }

  /// Leaves the queue, and wakes the next one, since this one may have become first meanwhile.
  private func leaveQueue(_ turn: Wakeup) {
    let next = state.withLock { state in
      state.queue.removeAll { $0 === turn }
      return state.queue.first
    }
    next?.wake()
  }

  private func endTurn() {
    let next = state.withLock { state in
      state.queue.removeFirst()
      return state.queue.first
    }
    next?.wake()
  }
}
