/// Decides whose the terminal is while a program has borrowed it. It touches no terminal: it is told what
/// happened and says what is to be done now.
///
///     lent ── the program stops, or this process does ──▶ kept ── both may go on, in the foreground ──▶ lent
struct TerminalHolder {
  enum Action: Hashable {
    case nothing
    /// Take the terminal back from the program, which has stopped, and stop this process's whole job.
    case takeBackAndStop
    /// Stop the program and take the terminal back from it.
    case stopAndTakeBack
    /// Give it the terminal again and continue it.
    case lend
  }

  private enum State {
    case lent
    /// The program stands still and waits for the terminal.
    case kept
  }

  private var state = State.lent
  /// Whether this process is about to stop, or has.
  private var isStopping = false

  /// Whether the program may have changed the terminal, or have it.
  var isLent: Bool { state == .lent }

  /// The program stands still.
  ///
  /// - Parameter wantedTerminal: It was stopped for using the terminal from the background (TTIN, TTOU):
  ///   somebody took the terminal away, such as a shell that saw this process stop.
  mutating func programStopped(wantedTerminal: Bool) -> Action {
    guard state == .lent else { return .nothing }
    state = .kept
    guard !wantedTerminal else { return .nothing }
    isStopping = true
    return .takeBackAndStop
  }

  /// This process is about to stop.
  mutating func engineStops() -> Action {
    isStopping = true
    guard state == .lent else { return .nothing }
    state = .kept
    return .stopAndTakeBack
  }

  /// This process goes on, or could not be stopped.
  mutating func engineContinues() { isStopping = false }

  /// What to do while nothing happens.
  ///
  /// - Parameter isForeground: Whether the terminal is this process's to give.
  mutating func next(isForeground: Bool) -> Action {
    guard state == .kept, !isStopping, isForeground else { return .nothing }
    state = .lent
    return .lend
  }
}
