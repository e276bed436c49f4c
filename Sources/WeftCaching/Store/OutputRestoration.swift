import WeftPlatform

/// The changes needed to restore one output of a step to the state that an entry lists.
struct OutputRestoration {
  let names: [String]
  /// Whether nothing exists at the path.
  private let isAbsent: Bool
  private let listed: [FileRecord]
  /// The listed files that are missing or different.
  private let missing: [FileRecord]
  /// The files of an earlier result of the step that this one does not list.
  private let outdated: [FileRecord]
  /// The other files at the path.
  let foreign: [FileRecord]
  /// The replacement files, prepared next to the output.
  var staged: StagedFiles?

  /// - Parameters:
  ///   - found: The existing files.
  ///   - made: Returns the files known to have been made by the step; called only if needed.
  init(
    of entry: CacheEntry, at output: String, _ names: [String],
    _ found: (records: [FileRecord], specials: [WorkspaceError]), made: () -> MadeBefore
  ) throws(CacheError) {
    self.names = names
    isAbsent = found.records.isEmpty && found.specials.isEmpty
    let listed = entry.files(at: output)
    self.listed = listed
    let there = Dictionary(
      found.records.map { ($0.path, $0) }, uniquingKeysWith: { first, _ in first })
    for file in entry.foreign(at: output) where there[file.path]?.content != file.content {
      throw .changed(file.path)
    }
    let paths = Set(listed.map(\.path))
    if let special = found.specials.first(where: { paths.contains($0.path) }) {
      throw .inTheWay(special.path)
    }
    missing = listed.filter { file in
      guard let now = there[file.path] else { return true }
      // The permissions of a directory are up to its owner.
      return now.content != file.content
        || !file.isDirectory && now.permissions & ~file.permissions != 0
    }
    let others = found.records.filter { !paths.contains($0.path) }
    let misplaced = missing.compactMap { file in
      there[file.path].flatMap { $0.isDirectory != file.isDirectory ? $0 : nil }
    }
    let kept = Set(entry.foreign.map(\.path))
    let isKnown = misplaced.isEmpty && others.allSatisfy { kept.contains($0.path) }
    let known = isKnown ? MadeBefore([]) : made()
    if let file = misplaced.first(where: { !known.contains($0) }) { throw .inTheWay(file.path) }
    outdated =
      others.filter { !kept.contains($0.path) && known.contains($0) } + misplaced
    foreign = others.filter { kept.contains($0.path) || !known.contains($0) }
  }

  var isNeeded: Bool { !missing.isEmpty || !outdated.isEmpty }

  /// Whether the output is replaced as a whole, because nothing in it has to stay.
  private var isWhole: Bool { isAbsent || listed.first?.isDirectory != true }

  /// The files to prepare: all of them, or the missing ones with the directories they are in.
  var stagedFiles: [FileRecord] {
    if isWhole { return listed }
    var paths: Set<[String]> = []
    for file in missing where !file.isDirectory {
      for count in 0...file.names.count { paths.insert(Array(file.names.prefix(count))) }
    }
    return listed.filter { paths.contains($0.names) }
  }

  /// - Returns: False if another process changed something meanwhile.
  func publish() throws(WorkspaceError) -> Bool {
    guard let staged else { return true }
    for file in outdated.inOrder.reversed() {
      let inner = file.names[names.count...]
      // A directory with foreign files in it stays.
      let isRemoved = try staged.removePublished(inner, isDirectory: file.isDirectory)
      guard isRemoved || file.isDirectory else { return false }
    }
    if isWhole { return try staged.publish() }
    for file in missing {
      let inner = file.names[names.count...]
      let isPublished =
        file.isDirectory
        ? try staged.publishDirectory(at: inner, permissions: file.permissions)
        : try staged.publish(inner)
      guard isPublished else { return false }
    }
    return true
  }
}

/// The files, links and directories of a step's known results.
package struct MadeBefore {
  private struct Key: Hashable {
    let path: String
    let content: CacheContent
  }

  private let keys: Set<Key>

  package init(_ entries: [CacheEntry]) {
    keys = Set(
      entries.lazy.flatMap { $0.files.lazy.map { Key(path: $0.path, content: $0.content) } })
  }

  package func contains(_ file: FileRecord) -> Bool {
    keys.contains(Key(path: file.path, content: file.content))
  }
}
