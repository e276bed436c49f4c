package import WeftPlatform

/// Lends the program's terminal to steps that need it, one at a time.
package protocol TerminalAccess: Sendable {
  /// Waits until no other step has the terminal and nothing else writes to it.
  ///
  /// - Throws: The reason why the step does not get it; `.stopped` if that was requested meanwhile. There is no
  ///   loan to give back then.
  func borrow(stop: StopSwitch) throws(SpawnError) -> TerminalLoan

  /// Returns the terminal after the program has ended or failed to start.
  func giveBack(_ loan: TerminalLoan)
}

extension CommandExecutor {
  /// Waits for the terminal and runs the program there; its output is not captured.
  func runAtTerminal(
    _ program: ChildProgram, for attempt: Attempt, started: (StartedProgram) -> Void
  ) throws(SpawnError) -> ProgramEnd {
    guard let terminal else { throw .terminalUnavailable(.notOffered) }
    let loan = try terminal.borrow(stop: attempt.stop)
    defer { terminal.giveBack(loan) }
    var program = program
    program.terminal = loan
    return try program.run(stop: attempt.stop, started: started, output: attempt.output)
  }
}
