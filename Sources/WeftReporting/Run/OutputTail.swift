import WeftEvents

/// The last lines of a step's output, each truncated to a limit.
struct OutputTail: Sendable {
  /// The number of lines kept.
  static let lineLimit = 20
  /// The maximum length of a line.
  static let lineLimitBytes = 1024

  /// A ring buffer: once full, the oldest line is at `next`.
  private var ring: [[UInt8]] = []
  private var next = 0
  /// The total number of lines.
  private(set) var lineCount = 0
  /// The last line that is not blank, for a live display.
  private(set) var latest: [UInt8] = []

  mutating func append(_ line: ArraySlice<UInt8>) {
    let kept = show(line)
    lineCount += 1
    if ring.count < OutputTail.lineLimit {
      ring.append(kept)
    } else {
      ring[next] = kept
      next = (next + 1) % OutputTail.lineLimit
    }
  }

  /// Shows a line that may still change, without keeping it.
  ///
  /// - Returns: The truncated line.
  @discardableResult
  mutating func show(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let kept = Array(DisplayText.lastState(of: line).prefix(OutputTail.lineLimitBytes))
    if kept.contains(where: { $0 > 0x20 }) { latest = kept }
    return kept
  }

  /// The lines, the oldest first.
  var lines: [[UInt8]] { Array(ring[next...] + ring[..<next]) }

  /// Takes the lines at the end of a log. If `logEnd` does not start at the log's start, the first line is assumed to
  /// be incomplete and skipped.
  init(logEnd: [UInt8], isWhole: Bool) {
    var pieces = logEnd.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if pieces.last?.isEmpty == true { pieces.removeLast() }
    for line in pieces.dropFirst(isWhole ? 0 : 1) { append(line) }
  }

  init() {}
}
