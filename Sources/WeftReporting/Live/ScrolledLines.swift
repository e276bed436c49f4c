import WeftEvents

/// Lines on their way to the scrolling part of the screen; many steps skipped at once for the same reason are
/// grouped.
struct ScrolledLines: Sendable {
  /// The number of consecutive steps skipped for one reason that get their own lines.
  static let skipLimit = 3

  private enum Entry: Sendable {
    case line(String)
    case moreSkipped(Int, SkipReason)
  }

  private var entries: [Entry] = []
  private var lastSkip: (reason: SkipReason, count: Int)?

  mutating func add(_ line: String) {
    entries.append(.line(line))
    lastSkip = nil
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
      entries.append(.moreSkipped(1, reason))
    }
    return false
  }

  mutating func add(lineOfSkipped line: String) { entries.append(.line(line)) }

  mutating func take(moreSkipped: (Int, SkipReason) -> String) -> [String] {
    defer { entries = [] }
    return entries.map { entry in
      switch entry {
      case .line(let line): line
      case .moreSkipped(let count, let reason): moreSkipped(count, reason)
      }
    }
  }
}
