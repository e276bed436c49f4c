import WeftPlatform

/// The effect of ^Z: the display withdraws, the steps are paused, the terminal is restored, and the program stops
/// until `fg` or `bg`.
struct Suspension: Sendable {
  let displayLock: DisplayLock
  let arbiter: TerminalArbiter

  /// The longest wait for a display whose output is not read.
  private static let patience = Duration.milliseconds(250)

  /// Stops the program; returns when it is continued.
  func stopUntilContinued() {
    _ = displayLock.ask(atMost: Suspension.patience)
    // In this order, a step about to start with the terminal either has it by now, or waits.
    RunningGroups.shared.pause()
    arbiter.loan?.suspend()
    ThisProcess.stop()
    RunningGroups.shared.resume()
    arbiter.loan?.resume()
    displayLock.release()
  }
}
