import WeftEvents

/// Lines on their way to the scrolling part of the screen; many steps skipped at once for the same reason are
/// grouped.
struct ScrolledLines: Sendable {
  /// The number of consecutive steps skipped for one reason that get their own lines.
  static let skipLimit = 3

  private enum Entry: Sendable {
    case line(String)
    /// Lines of steps, with their ends.
    case output([UInt8])
    case moreSkipped(Int, SkipReason)
  }

  private var entries: [Entry] = []
  /// The output after them.
  private var output: [UInt8] = []
  private var lastSkip: (reason: SkipReason, count: Int)?
  /// The number of all lines so far, except those of steps.
  private(set) var lineCount = 0

  /// The size of the output among them.
  private(set) var outputBytes = 0

  mutating func add(_ line: String) {
    append(.line(line))
    lastSkip = nil
  }

  /// Adds lines of steps, with their ends.
  mutating func add(output lines: [UInt8]) {
    if !lines.isEmpty { lastSkip = nil }
    output += lines
    outputBytes += lines.count
  }

  /// Appends one line of a step.
  mutating func append(_ line: (inout [UInt8]) -> Void) {
    lastSkip = nil
    let before = output.count
    line(&output)
    output += "\r\n".utf8
    outputBytes += output.count - before
  }

  private mutating func append(_ entry: Entry) {
    if !output.isEmpty {
      entries.append(.output(output))
      output = []
    }
    entries.append(entry)
    lineCount += 1
  }

  /// Counts a skipped step.
  ///
  /// - Returns: Whether the caller must add a line for it.
  mutating func add(skipped reason: SkipReason) -> Bool {
    let count = lastSkip?.reason == reason ? lastSkip!.count + 1 : 1
    lastSkip = (reason, count)
    guard count > ScrolledLines.skipLimit else { return true }
    if case .moreSkipped(let more, reason)? = entries.last {
      entries[entries.count - 1] = .moreSkipped(more + 1, reason)
    } else {
      append(.moreSkipped(1, reason))
    }
    return false
  }

  mutating func add(lineOfSkipped line: String) { append(.line(line)) }

  /// Returns everything added since the last call, each line with its end.
  mutating func take(moreSkipped: (Int, SkipReason) -> String) -> [UInt8] {
    var bytes: [UInt8] = []
    for entry in entries {
      switch entry {
      case .output(let output): bytes += output
      case .line(let line): bytes += "\(line)\r\n".utf8
      case .moreSkipped(let count, let reason): bytes += "\(moreSkipped(count, reason))\r\n".utf8
      }
    }
    bytes += output
    entries = []
    output = []
    outputBytes = 0
    return bytes
  }
}
