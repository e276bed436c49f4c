package import WeftPlatform

/// Lends the program's terminal to steps that want it, one at a time.
package protocol TerminalAccess: Sendable {
  /// Waits until no other step has the terminal and nobody else writes to it.
  ///
  /// - Throws: Why the step does not get it; `.stopped` if that was requested meanwhile. Nothing is to be
  ///   given back then.
  func borrow(stop: StopSwitch) throws(ProgramNotStarted) -> TerminalLoan

  /// The program has ended, or did not start.
  func giveBack(_ loan: TerminalLoan)
}

extension CommandExecutor {
  /// Waits for the terminal and runs the program there; nothing of what it writes comes back.
  func runAtTerminal(
    _ program: ChildProgram, for attempt: Attempt, started: (StartedProgram) -> Void
  ) throws(ProgramNotStarted) -> ProgramEnd {
    guard let terminal else { throw .terminalUnavailable(.notOffered) }
    let loan = try terminal.borrow(stop: attempt.stop)
    defer { terminal.giveBack(loan) }
    var program = program
    program.terminal = loan
    return try program.run(stop: attempt.stop, started: started, output: attempt.output)
  }
}
