import WeftPlanning
import WeftReporting

/// Prints the log of one step: as it is, or each line behind the step's name.
struct LogPrinter {
  private let port: OutputPort
  private var lines: LogLines?

  init(_ port: OutputPort, of step: StepAddress, isSingle: Bool) {
    self.port = port
    lines = isSingle ? nil : LogLines(port.displaySettings, of: step)
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
