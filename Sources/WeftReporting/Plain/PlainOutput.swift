import WeftEvents
import WeftPlanning
import WeftPlatform

/// The output of one running step: assembles whole lines, and tracks how much of the log has been shown.
struct PlainOutput: Sendable {
  let address: StepAddress
  /// The prefix `[step] `.
  let prefix: [UInt8]
  /// The offset in the step's log up to which it has been shown.
  private(set) var shown: UInt64 = 0
  /// Whether output events may have been dropped since the last one.
  var hasGaps = false
  private var stdout = LineAssembler()
  private var stderr = LineAssembler()
  private var missed = LineAssembler()

  init(_ address: StepAddress, prefix: [UInt8]) {
    self.address = address
    self.prefix = prefix
  }

  mutating func take(_ output: StepOutput) -> [ArraySlice<UInt8>] {
    let end =
      output.logOffset + UInt64(output.bytes.count) + (output.ending == .newline ? 1 : 0)
    shown = max(shown, end)
    let rest = missed.takeRest().map { [$0] } ?? []
    switch output.stream {
    case .stdout: return rest + stdout.take(output.bytes, isWhole: output.ending != .partial)
    case .stderr: return rest + stderr.take(output.bytes, isWhole: output.ending != .partial)
    }
  }

  /// Takes a part of the log in place of dropped events. If both streams wrote at once, the beginning of a line may
  /// appear as a line of its own, and again when the event of the whole line arrives.
  mutating func takeSkipped(_ part: [UInt8]) -> [ArraySlice<UInt8>] {
    var lines = takeUnfinished()
    shown += UInt64(part.count)
    var rest = part[...]
    while let newline = rest.index(of: UInt8(ascii: "\n")) {
      lines += missed.take(rest[..<newline], isWhole: true)
      rest = rest[(newline + 1)...]
    }
    if !rest.isEmpty { lines += missed.take(rest, isWhole: false) }
    return lines
  }

  /// Returns unterminated lines at the end of the step.
  mutating func takeRest() -> [ArraySlice<UInt8>] {
    takeUnfinished() + [missed.takeRest()].compactMap(\.self)
  }

  private mutating func takeUnfinished() -> [ArraySlice<UInt8>] {
    [stdout.takeRest(), stderr.takeRest()].compactMap(\.self)
  }
}

/// Joins the parts of a line, up to a limit.
struct LineAssembler: Sendable {
  /// The maximum length; a longer line is shown in pieces.
  static let limitBytes = 64 << 10

  private var pending: [UInt8] = []

  /// Returns the lines that `bytes` complete: none or one.
  mutating func take(_ bytes: ArraySlice<UInt8>, isWhole: Bool) -> [ArraySlice<UInt8>] {
    if pending.isEmpty, isWhole || bytes.count >= LineAssembler.limitBytes { return [bytes] }
    pending += bytes
    guard isWhole || pending.count >= LineAssembler.limitBytes else { return [] }
    defer { pending = [] }
    return [pending[...]]
  }

  mutating func takeRest() -> ArraySlice<UInt8>? {
    defer { pending = [] }
    return pending.isEmpty ? nil : pending[...]
  }
}
