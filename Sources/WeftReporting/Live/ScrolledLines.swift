import WeftExecution

/// Lines on their way to the part of the screen that scrolls; many steps that are skipped at once
/// for the same reason are put together.
struct ScrolledLines: Sendable {
  /// How many steps skipped for one reason have their own line, one after another.
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
  /// - Returns: Whether it gets a line of its own, which the caller then adds.
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
