import WeftEvents
import WeftExecution
package import WeftPlanning

/// The log of a step, each line prefixed with the step's name, as in the plain display.
package struct LogLines {
  private let style: PlainStyle
  private let prefix: [UInt8]
  private var lines = LineSplitter()
  private var parts = LineAssembler()

  /// - Parameter step: The step in the prefix; `nil` for no prefix.
  package init(_ settings: DisplaySettings, of step: StepAddress?) {
    style = PlainStyle(settings)
    prefix = step.map(style.prefix) ?? []
  }

  /// Returns the lines that a piece of the log completes.
  package mutating func take(_ piece: [UInt8]) -> [UInt8] {
    rendered(piece.withUnsafeBytes { lines.take($0) })
  }

  /// Returns the unterminated line at the end of the log.
  package mutating func takeRest() -> [UInt8] {
    var bytes = rendered(lines.finish())
    if let rest = parts.takeRest() { style.append(output: rest, prefix: prefix, to: &bytes) }
    return bytes
  }

  private mutating func rendered(_ block: LineSplitter.Block?) -> [UInt8] {
    var bytes: [UInt8] = []
    for line in block?.lines ?? [] {
      let part = block!.bytes[line.range]
      parts.take(part, isWhole: line.ending != .partial) {
        style.append(output: $0, prefix: prefix, to: &bytes)
      }
    }
    return bytes
  }
}
