import WeftPlatform

/// When a folder is looked through for what has to go, and what that is.
struct DiskBudget: Sendable {
  private let limit: Int
  /// What this process has written since it looked; nil: it has not looked.
  private var written: Int?

  init(limit: Int) { self.limit = limit }

  /// Whether to look now. Others may write too, so it is not only when this process has filled the folder:
  /// with few of them the limit is hardly exceeded.
  mutating func isDue(writing size: Int) -> Bool {
    guard let before = written, before + size <= limit / 8 else {
      written = 0
      return true
    }
    written = before + size
    return false
  }

  /// What was used least recently and has to go, so that there is room for an eighth of the limit.
  func superfluous(_ entries: [PrivateFolder.Entry]) -> [String] {
    var size = entries.reduce(0) { $0 + $1.size }
    var names: [String] = []
    for entry in entries.sorted(by: { $0.lastUse < $1.lastUse }) where size > limit - limit / 8 {
      names.append(entry.name)
      size -= entry.size
    }
    return names
  }
}
