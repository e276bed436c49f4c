/// The last lines of a step's output, each truncated to a limit.
package struct OutputTail: Sendable {
  /// The number of lines kept.
  package static let lineLimit = 20
  /// The maximum length of a line.
  package static let lineLimitBytes = 1024

  /// A ring buffer: once full, the oldest line is at `next`, and its memory is used again.
  private var ring: [[UInt8]] = []
  private var next = 0
  /// The total number of lines.
  package private(set) var lineCount = 0
  /// The content for now of the line that follows, if it is not blank.
  private var state: [UInt8] = []

  package mutating func append(_ line: ArraySlice<UInt8>) {
    lineCount += 1
    state.removeAll(keepingCapacity: true)
    if ring.count < OutputTail.lineLimit {
      ring.append(OutputTail.kept(line))
    } else {
      ring[next].removeAll(keepingCapacity: true)
      OutputTail.append(line, to: &ring[next])
      next = (next + 1) % OutputTail.lineLimit
    }
  }

  /// Shows a line that may still change, without keeping it.
  package mutating func show(_ line: ArraySlice<UInt8>) {
    let shown = OutputTail.kept(line)
    if !OutputTail.isBlank(shown) { state = shown }
  }

  /// The last of the lines that is not blank, for a live display.
  package var latest: [UInt8] {
    if !state.isEmpty { return state }
    return ring[..<next].last { !OutputTail.isBlank($0) }
      ?? ring[next...].last { !OutputTail.isBlank($0) } ?? []
  }

  private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { $0 <= 0x20 } }

  /// The lines, the oldest first.
  package var lines: [[UInt8]] { Array(ring[next...] + ring[..<next]) }

  /// Returns the final content of a line, with a mark if it is truncated.
  package static func kept(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var kept: [UInt8] = []
    append(line, to: &kept)
    return kept
  }

  private static func append(_ line: ArraySlice<UInt8>, to kept: inout [UInt8]) {
    let state = StepOutput.lastState(of: line)
    guard state.count > lineLimitBytes else {
      kept += state
      return
    }
    var end = state.startIndex + lineLimitBytes
    // Not within a character (RFC 3629: at most three continuation bytes).
    for _ in 0..<3 where state[end] & 0xC0 == 0x80 { end -= 1 }
    kept += state[..<end]
    kept += "…".utf8
  }

  /// Takes the lines at the end of a log. If `logEnd` does not start at the log's start, the first line is assumed to
  /// be incomplete and skipped.
  package init(logEnd: [UInt8], isWhole: Bool) {
    var pieces = logEnd.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if pieces.last?.isEmpty == true { pieces.removeLast() }
    for line in pieces.dropFirst(isWhole ? 0 : 1) { append(line) }
  }

  package init() {}
}
