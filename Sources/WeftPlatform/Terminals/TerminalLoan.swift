import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// A loan of the terminal to one program or prompt. A program gets it by ``lend()`` just before it starts, until
/// ``end(restoringScreen:)``, when the terminal's modes are restored.
///
/// Used by the thread that runs the program; ``suspend()``, ``resume()`` and ``end(restoringScreen:)`` may be called on
/// any thread.
package final class TerminalLoan: Sendable {
  private struct State {
    var holder = TerminalHolder()
    /// The program's leader, while it is alive.
    var leader: Int32?
    /// The terminal's modes in the program when the terminal was taken back.
    var programModes: TerminalModes?
    /// Whether a program has got the terminal, so that it must be taken back.
    var wasLent = false
    var hasEnded = false
    /// The number of times that this process has continued after it was stopped.
    var continuations = 0
  }

  private let terminal: ControllingTerminal
  private let modes: TerminalModes?
  private let state = Mutex(State())

  /// - Throws: `.missing`, or `.inBackground`.
  package init() throws(TerminalError) {
    terminal = try ControllingTerminal()
    guard terminal.isForeground else { throw .inBackground }
    modes = terminal.modes
  }

  /// The descriptor that becomes the program's standard streams.
  var descriptor: Descriptor { terminal.descriptor }

  /// Notes that a program is about to start at the terminal.
  ///
  /// - Throws: `.inBackground`, since this process may have been stopped after it borrowed the terminal.
  func lend() throws(TerminalError) {
    guard terminal.isForeground else { throw .inBackground }
    state.withLock { $0.wasLent = true }
  }

  /// Reports that the program has started, as the terminal's foreground group.
  func began(_ leader: Int32) { state.withLock { $0.leader = leader } }

  /// Checks whether the program has been stopped or may continue. Must be called periodically, because no descriptor
  /// reports that a child was stopped.
  func check() {
    state.withLock { state in
      guard let leader = state.leader else { return }
      let signal = weft_stopped_by(leader)
      if signal != 0 {
        perform(state.holder.programStopped(wantedTerminal: isTerminalStop(signal)), &state)
      }
      perform(state.holder.next(isForeground: terminal.isForeground), &state)
    }
  }

  /// Stops the program and restores the terminal, because this process is about to stop.
  package func suspend() {
    state.withLock { state in
      // Before its start, the program does not have the terminal.
      guard state.leader != nil else { return }
      perform(state.holder.engineStops(), &state)
    }
  }

  /// Reports that this process continues; in the foreground, the program gets the terminal back.
  package func resume() {
    state.withLock { state in
      state.holder.engineContinues()
      state.continuations += 1
      guard state.leader != nil else { return }
      perform(state.holder.next(isForeground: terminal.isForeground), &state)
    }
  }

  /// Reports that the program is about to be reaped: from now on its group must not be signalled.
  func programEnded() { state.withLock { $0.leader = nil } }

  /// Takes the terminal back for good. Later calls have no effect.
  ///
  /// - Parameter restoringScreen: Whether the program had no chance to clean up.
  package func end(restoringScreen: Bool) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      guard state.wasLent, state.holder.isLent else { return }
      takeBack()
      if restoringScreen { terminal.restoreScreen() }
    }
  }

  private func perform(_ action: TerminalHolder.Action, _ state: inout sending State) {
    guard let leader = state.leader, !state.hasEnded else { return }
    switch action {
    case .nothing: break
    case .takeBackAndStop:
      state.programModes = terminal.modes
      takeBack()
      if !ThisProcess.stopJob() { state.holder.engineContinues() }
    case .stopAndTakeBack:
      Self.stop(leader)
      state.programModes = terminal.modes
      takeBack()
    case .lend:
      terminal.modes = state.programModes
      terminal.foregroundGroup = leader
      kill(-leader, SIGCONT)
    }
  }

  /// Stops the program as ^Z would, so that it can restore the screen, and then with STOP.
  private static func stop(_ leader: Int32) {
    kill(-leader, SIGTSTP)
    let limit = MonotonicClock.now + .milliseconds(200)
    while weft_stopped_by(leader) == 0, MonotonicClock.now < limit { usleep(2_000) }
    kill(-leader, SIGSTOP)
  }

  private func takeBack() {
    terminal.modes = modes
    terminal.foregroundGroup = getpgrp()
  }

  private func isTerminalStop(_ signal: Int32) -> Bool { signal == SIGTTIN || signal == SIGTTOU }
}

extension TerminalLoan {
  /// The interval between checks for a stop, in milliseconds.
  private static let attention: Int32 = 50

  /// The input after a prompt.
  package enum Input: Hashable, Sendable {
    case line(String)
    /// The user has ended it (^D).
    case end
    /// The terminal was closed, or cannot be read.
    case hangup
    /// This process is in the background, where it must not read.
    case background
    /// A stop was requested.
    case stopped
  }

  /// Writes a prompt and reads input up to the end of the line. After ^Z and `fg`, it writes the prompt again.
  package func line(after prompt: String, stop: StopSwitch) -> Input {
    var line: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 512)
    var shown: Int?
    while stop.level == .none {
      if terminal.isInBackground { return .background }
      let continuations = state.withLock { $0.continuations }
      if shown != continuations {
        guard (try? descriptor.writeAll(prompt)) != nil else {
          return terminal.isInBackground ? .background : .hangup
        }
        shown = continuations
        line = []
      }
      guard weft_poll_one(descriptor.number, Int16(POLLIN), TerminalLoan.attention) > 0 else {
        continue
      }
      // Between the check and this, the shell may have taken the terminal: reading fails then.
      let count = read(descriptor.number, &buffer, buffer.count)
      if count < 0, errno == EINTR || errno == EAGAIN { continue }
      if count < 0, terminal.isInBackground { return .background }
      guard count > 0 else {
        if count < 0 || isClosed { return .hangup }
        beginLine()
        return .end
      }
      line += buffer[..<count]
      if line.contains(UInt8(ascii: "\n")) { return .line(String(decoding: line, as: UTF8.self)) }
    }
    beginLine()
    return .stopped
  }

  /// Whether the other side of the terminal is gone: reading ends then as after ^D.
  private var isClosed: Bool {
    var request = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLHUP | POLLERR) != 0
  }

  /// Makes later output begin on a new line.
  private func beginLine() { _ = write(descriptor.number, "\n", 1) }
}

/// Decides which process has the terminal while a program has borrowed it. A pure state machine without access to the
/// terminal: callers report what happened, and it returns the next action.
///
///     lent ── the program stops, or this process does ──▶ kept ── both may continue, in the foreground ──▶ lent
struct TerminalHolder {
  enum Action: Hashable {
    case nothing
    /// Take the terminal back from the program, which has stopped, and stop this process's whole job.
    case takeBackAndStop
    /// Stop the program and take the terminal back.
    case stopAndTakeBack
    /// Lend the terminal again and continue the program.
    case lend
  }

  private enum State {
    case lent
    /// The program is stopped and waits for the terminal.
    case kept
  }

  private var state = State.lent
  /// Whether this process is about to stop, or has stopped.
  private var isStopping = false

  /// Whether the program may have the terminal or have changed it.
  var isLent: Bool { state == .lent }

  /// Reports that the program is stopped.
  ///
  /// - Parameter wantedTerminal: Whether it was stopped for using the terminal from the background (TTIN, TTOU): the
  ///   terminal was taken away, for example by a shell that saw this process stop.
  mutating func programStopped(wantedTerminal: Bool) -> Action {
    guard state == .lent else { return .nothing }
    state = .kept
    guard !wantedTerminal else { return .nothing }
    isStopping = true
    return .takeBackAndStop
  }

  /// Reports that this process is about to stop.
  mutating func engineStops() -> Action {
    isStopping = true
    guard state == .lent else { return .nothing }
    state = .kept
    return .stopAndTakeBack
  }

  /// Reports that this process continues, or could not be stopped.
  mutating func engineContinues() { isStopping = false }

  /// The next action while nothing happens.
  ///
  /// - Parameter isForeground: Whether this process has the terminal to lend.
  mutating func next(isForeground: Bool) -> Action {
    guard state == .kept, !isStopping, isForeground else { return .nothing }
    state = .lent
    return .lend
  }
}
