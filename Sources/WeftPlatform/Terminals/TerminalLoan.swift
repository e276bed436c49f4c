import CWeftPlatform
import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The terminal in the hands of one program: from before it starts, when the terminal's modes are
/// remembered, until ``end(restoringScreen:)``, when they are what they were.
///
/// Used by the thread that runs the program; ``suspend()``, ``resume()`` and the end by any.
package final class TerminalLoan: Sendable {
  private struct State {
    var holder = TerminalHolder()
    /// The program, while it lives.
    var leader: Int32?
    /// How the program had the terminal when it was taken back.
    var programModes: TerminalModes?
    var hasEnded = false
  }

  private let terminal: ControllingTerminal
  private let modes: TerminalModes?
  private let state = Mutex(State())

  /// - Throws: `.missing`, or `.inBackground`.
  package init() throws(TerminalUnavailable) {
    terminal = try ControllingTerminal()
    guard terminal.isForeground else { throw .inBackground }
    modes = terminal.modes
  }

  /// What becomes the program's standard streams.
  var descriptor: Descriptor { terminal.descriptor }

  /// Whether this process still has it to lend.
  var isForeground: Bool { terminal.isForeground }

  /// The program has started, as the terminal's foreground group.
  func began(_ leader: Int32) { state.withLock { $0.leader = leader } }

  /// Sees whether the program has been stopped, or may go on. To be called every so often, because no
  /// descriptor tells that a child was stopped.
  func look() {
    state.withLock { state in
      guard let leader = state.leader else { return }
      let signal = weft_stopped_by(leader)
      if signal != 0 {
        perform(state.holder.programStopped(wantedTerminal: isTerminalStop(signal)), &state)
      }
      perform(state.holder.next(isForeground: terminal.isForeground), &state)
    }
  }

  /// This process is about to stop: the program stands still, and the terminal is as it was.
  package func suspend() {
    state.withLock { state in
      // Before its start it has nothing.
      guard state.leader != nil else { return }
      perform(state.holder.engineStops(), &state)
    }
  }

  /// This process goes on; in the foreground, the program has the terminal again.
  package func resume() {
    state.withLock { state in
      state.holder.engineContinues()
      guard state.leader != nil else { return }
      perform(state.holder.next(isForeground: terminal.isForeground), &state)
    }
  }

  /// The program is about to be reaped: from now on its group is nobody's to signal.
  func programEnded() { state.withLock { $0.leader = nil } }

  /// Takes the terminal back for good. Later calls do nothing.
  ///
  /// - Parameter restoringScreen: The program had no chance to clean up after itself.
  package func end(restoringScreen: Bool) {
    state.withLock { state in
      guard !state.hasEnded else { return }
      state.hasEnded = true
      guard state.holder.isLent else { return }
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

  /// As ^Z would, which lets a program leave the screen as it found it; else the hard way.
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
