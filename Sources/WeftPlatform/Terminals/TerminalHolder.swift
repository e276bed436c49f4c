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
