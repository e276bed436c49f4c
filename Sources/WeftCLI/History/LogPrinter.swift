import WeftPlanning
import WeftReporting

/// Prints the log of one step: as it is, or each line behind the step's name.
///
/// A terminal would obey what is in a log, so it gets that of one step line by line, too.
struct LogPrinter {
  private let port: OutputPort
  private var lines: LogLines?

  init(_ port: OutputPort, of step: StepAddress, isSingle: Bool) {
    self.port = port
    let settings = port.displaySettings
    lines = isSingle && !settings.isTerminal ? nil : LogLines(settings, of: isSingle ? nil : step)
  }

  /// - Returns: Whether anybody reads it.
  mutating func print(_ piece: [UInt8]) -> Bool {
    port.write(lines?.take(piece) ?? piece)
    port.flush()
    return !port.isClosed
  }

  /// Nothing more comes for now.
  mutating func end() {
    if let rest = lines?.takeRest() { port.write(rest) }
  }
}
