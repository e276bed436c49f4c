/// When a folder is looked through for what has to go, and what that is.
package struct FolderBudget: Sendable {
  private let limit: Int
  /// What this process has written since it looked; nil: it has not looked.
  private var written: Int?

  package init(limit: Int) { self.limit = limit }

  /// Whether to look now. Others may write too, so it is not only when this process has filled the folder:
  /// with few of them the limit is hardly exceeded.
  package mutating func isDue(writing size: Int) -> Bool {
    guard let before = written, before + size <= limit / 8 else {
      written = size
      return true
    }
    written = before + size
    return false
  }

  /// What was used least recently and has to go, so that there is room for an eighth of the limit, or for as much
  /// as is about to be written.
  package func superfluous(
    _ entries: [PrivateFolder.Entry], writing bytes: Int = 0
  ) -> [String] {
    let most = limit - max(limit / 8, bytes)
    var size = entries.reduce(0) { $0 + $1.size }
    var names: [String] = []
    for entry in entries.sorted(by: { $0.lastUse < $1.lastUse }) where size > most {
      names.append(entry.name)
      size -= entry.size
    }
    return names
  }
}
