/// Decides when to search a folder for entries to remove, and which entries those are.
package struct FolderBudget: Sendable {
  private let limit: Int
  /// The bytes that this process has written since its last search; `nil` before the first one.
  private var written: Int?

  package init(limit: Int) { self.limit = limit }

  /// Whether to search now. Other processes may write too, so this is due well before this process alone has filled the
  /// folder: with few of them, the limit is hardly exceeded.
  package mutating func isDue(writing size: Int) -> Bool {
    guard let before = written, before + size <= limit / 8 else {
      written = size
      return true
    }
    written = before + size
    return false
  }

  /// The least recently used entries, whose removal makes room for an eighth of the limit, or for as much as is about
  /// to be written.
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
