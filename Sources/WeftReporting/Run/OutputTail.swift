import WeftExecution

/// The last lines that a step wrote, each bounded.
struct OutputTail: Sendable {
  /// How many lines are kept.
  static let lineLimit = 20
  /// How much is kept of one line.
  static let lineLimitBytes = 1024

  /// A ring: the oldest line stands at `next` once it is full.
  private var ring: [[UInt8]] = []
  private var next = 0
  /// How many lines there were, those that were left out included.
  private(set) var lineCount = 0
  /// The last line that is more than white space; what a live display shows.
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

  /// Shows a line that may still change, and does not keep it.
  ///
  /// - Returns: What is kept of such a line.
  @discardableResult
  mutating func show(_ line: ArraySlice<UInt8>) -> [UInt8] {
    let kept = Array(DisplayText.lastState(of: line).prefix(OutputTail.lineLimitBytes))
    if kept.contains(where: { $0 > 0x20 }) { latest = kept }
    return kept
  }

  /// Oldest first.
  var lines: [[UInt8]] { Array(ring[next...] + ring[..<next]) }

  /// The lines of the end of a log; of a part that does not begin at the log's start, the first line
  /// is taken to be incomplete and left out.
  init(logEnd: [UInt8], isWhole: Bool) {
    var pieces = logEnd.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if pieces.last?.isEmpty == true { pieces.removeLast() }
    for line in pieces.dropFirst(isWhole ? 0 : 1) { append(line) }
  }

  init() {}
}
