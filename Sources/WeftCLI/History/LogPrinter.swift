import WeftPlanning
import WeftReporting

/// Prints the log of one step: unchanged, or each line prefixed with the step's name.
///
/// A terminal would execute control characters in a log, so even the log of a single step is sanitized line by line
/// for it.
struct LogPrinter {
  private let port: OutputPort
  private var lines: LogLines?

  init(_ port: OutputPort, of step: StepAddress, isSingle: Bool) {
    self.port = port
    let settings = port.displaySettings
    lines = isSingle && !settings.isTerminal ? nil : LogLines(settings, of: isSingle ? nil : step)
  }

  /// - Returns: Whether the output is still read.
  mutating func print(_ piece: [UInt8]) -> Bool {
    port.write(lines?.take(piece) ?? piece)
    port.flush()
    return !port.isClosed
  }

  /// Prints an unterminated line; nothing more comes for now.
  mutating func end() {
    if let rest = lines?.takeRest() { port.write(rest) }
  }
}
