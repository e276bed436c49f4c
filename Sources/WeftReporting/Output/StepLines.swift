import WeftEvents
import WeftExecution
package import WeftPlanning
import WeftPlatform

/// The output of one step as whole lines, and how much of its log has been shown.
struct StepLines: Sendable {
  let address: StepAddress
  /// The prefix `[step] `; empty where there is none.
  let prefix: [UInt8]
  /// The offset in the step's log up to which it has been shown.
  private(set) var shown: UInt64
  /// The end of the log, as far as events have told.
  private(set) var known: UInt64
  /// Whether output from `shown` on may have to be read from the log.
  var hasGaps = false
  private var stdout = LineAssembler()
  private var stderr = LineAssembler()
  private var missed = LineAssembler()

  typealias Show = (ArraySlice<UInt8>) -> Void

  init(_ address: StepAddress, prefix: [UInt8], from offset: UInt64 = 0) {
    self.address = address
    self.prefix = prefix
    shown = offset
    known = offset
  }

  mutating func take(_ output: StepOutput, _ show: Show) {
    note(output)
    shown = max(shown, output.logEnd)
    if let rest = missed.takeRest() { show(rest) }
    let isWhole = output.ending != .partial
    switch output.stream {
    case .stdout: stdout.take(output.bytes, isWhole: isWhole, show)
    case .stderr: stderr.take(output.bytes, isWhole: isWhole, show)
    }
  }

  /// Notes output that will be read from the log.
  mutating func note(_ output: StepOutput) { known = max(known, output.logEnd) }

  /// The size of one read from a log. Small because short lines take more memory than their bytes.
  private static let readBytes: UInt64 = 32 << 10

  /// Reads a piece of the log in place of missing events. If both streams wrote at once, the beginning of a line may
  /// appear as a line of its own, and again when the event of the whole line arrives.
  ///
  /// - Returns: Whether there is more to read up to `end`.
  mutating func read(upTo end: UInt64, log: Reporter.ReadLog, _ show: Show) -> Bool {
    guard hasGaps, shown < end else {
      hasGaps = false
      return false
    }
    let part = log(address, shown..<min(end, shown + StepLines.readBytes))
    takeUnfinished(show)
    shown += UInt64(part.count)
    var rest = part[...]
    while let newline = rest.index(of: UInt8(ascii: "\n")) {
      missed.take(rest[..<newline], isWhole: true, show)
      rest = rest[(newline + 1)...]
    }
    if !rest.isEmpty { missed.take(rest, isWhole: false, show) }
    // A log truncated at its limit has no more, and that of an element is not kept for long.
    hasGaps = !part.isEmpty && shown < end
    return hasGaps
  }

  /// Shows unterminated lines at the end of an attempt.
  mutating func takeRest(_ show: Show) {
    takeUnfinished(show)
    if let rest = missed.takeRest() { show(rest) }
  }

  private mutating func takeUnfinished(_ show: Show) {
    if let rest = stdout.takeRest() { show(rest) }
    if let rest = stderr.takeRest() { show(rest) }
  }
}

extension StepOutput {
  /// The offset in the log after the bytes and their line end.
  var logEnd: UInt64 {
    ending == .transient
      ? logOffset : logOffset + UInt64(bytes.count) + (ending == .newline ? 1 : 0)
  }
}

/// Joins the parts of a line, up to a limit.
struct LineAssembler: Sendable {
  /// The maximum length; a longer line is shown in pieces.
  static let limitBytes = 64 << 10

  private var pending: [UInt8] = []

  /// Shows the line that `bytes` complete, if they complete one.
  mutating func take(
    _ bytes: ArraySlice<UInt8>, isWhole: Bool, _ show: (ArraySlice<UInt8>) -> Void
  ) {
    if pending.isEmpty, isWhole || bytes.count >= LineAssembler.limitBytes { return show(bytes) }
    pending += bytes
    guard isWhole || pending.count >= LineAssembler.limitBytes else { return }
    show(pending[...])
    pending = []
  }

  mutating func takeRest() -> ArraySlice<UInt8>? {
    defer { pending = [] }
    return pending.isEmpty ? nil : pending[...]
  }
}

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
