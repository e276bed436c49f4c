import Synchronization
import Weft
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

/// Asks for approval at the terminal, while the display is withdrawn.
struct TerminalApprover: Approver {
  let arbiter: TerminalArbiter
  let threads: ThreadPool

  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    let promise = Promise<ApprovalAnswer, Never>(ifDropped: .success(.unanswered("no reply")))
    do {
      try threads.submit { promise.succeed(answer(to: request, stop: stop, reportAbsence)) }
    } catch {
      promise.succeed(.unanswered("no thread is available"))
    }
    return promise.future
  }

  /// Asks whenever this process is in the foreground. In the background the terminal belongs to others.
  private func answer(
    to request: ApprovalRequest, stop: StopSwitch, _ reportAbsence: AbsenceReport?
  ) -> ApprovalAnswer {
    while true {
      do {
        let loan = try arbiter.borrow(stop: stop)
        defer { arbiter.giveBack(loan) }
        if let answer = answer(to: request, at: loan, stop: stop) { return answer }
      } catch {
        guard case .terminalUnavailable(let reason) = error else { return .rejected }
        guard reason == .inBackground, reportAbsence != nil else {
          return .unanswered(reason.message)
        }
      }
      guard let reportAbsence, let terminal = try? ControllingTerminal() else {
        return .unanswered(TerminalError.inBackground.message)
      }
      reportAbsence(true)
      guard terminal.waitForForeground(stop: stop) else { return .rejected }
      reportAbsence(false)
    }
  }

  /// - Returns: `nil` if this process is in the background.
  private func answer(
    to request: ApprovalRequest, at loan: TerminalLoan, stop: StopSwitch
  ) -> ApprovalAnswer? {
    var prompt =
      "\(TerminalText.harmless(request.step.text)): \(TerminalText.harmless(request.message)) [y/N] "
    while true {
      switch loan.line(after: prompt, stop: stop) {
      case .line(let line):
        switch line.lowercased().trimmingSpaces {
        case "y", "yes": return .approved(by: "\(ThisProcess.userName), at the terminal")
        case "n", "no", "": return .rejected
        default: prompt = "answer y or n: "
        }
      case .end, .stopped: return .rejected
      // A closed terminal is no answer.
      case .hangup: return .unanswered("the terminal was closed")
      case .background: return nil
      }
    }
  }
}

extension String {
  fileprivate var trimmingSpaces: String {
    String(split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }
}

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
