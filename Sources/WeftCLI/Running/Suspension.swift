import WeftPlatform

/// What ^Z does: the display withdraws, the steps stand still, the terminal is as it was, and then the
/// program stops, until `fg` or `bg`.
struct Suspension: Sendable {
  let screen: Screen
  let desk: TerminalDesk

  /// A display that nobody reads is not waited for longer.
  private static let patience = Duration.milliseconds(250)

  /// Returns when the program has been continued.
  func stopUntilContinued() {
    _ = screen.ask(atMost: Suspension.patience)
    // In this order: who is about to start with the terminal either has it then, or waits.
    RunningGroups.shared.pause()
    desk.loan?.suspend()
    ThisProcess.stop()
    RunningGroups.shared.resume()
    desk.loan?.resume()
    screen.release()
  }
}
