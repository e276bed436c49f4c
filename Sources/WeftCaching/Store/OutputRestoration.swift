import WeftPlatform

/// What has to be done to one output of a step, so that all that an entry lists is there.
struct OutputRestoration {
  let names: [String]
  /// Whether nothing is there.
  private let isAbsent: Bool
  private let listed: [FileRecord]
  /// What is listed, and is missing or different.
  private let missing: [FileRecord]
  /// What an earlier result of the step has left, and this one does not list.
  private let outdated: [FileRecord]
  /// What is there besides.
  let foreign: [FileRecord]
  /// What is made beside the output.
  var staged: StagedFiles?

  /// - Parameters:
  ///   - found: What is there.
  ///   - made: What the step is known to have made before; asked for only if that matters.
  init(
    of entry: CacheEntry, at output: String, _ names: [String],
    _ found: (records: [FileRecord], specials: [WorkspaceFault]), made: () -> MadeBefore
  ) throws(CacheFault) {
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
      // Who may use a directory is its owner's to say.
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

  /// Whether the output comes as a whole: there is nothing that has to stay.
  private var isWhole: Bool { isAbsent || listed.first?.isDirectory != true }

  /// What is to be made beside the output: all of it, or what is missing with the directories that it is in.
  var stagedFiles: [FileRecord] {
    if isWhole { return listed }
    var paths: Set<[String]> = []
    for file in missing where !file.isDirectory {
      for count in 0...file.names.count { paths.insert(Array(file.names.prefix(count))) }
    }
    return listed.filter { paths.contains($0.names) }
  }

  /// - Returns: False if something was changed by another process meanwhile.
  func publish() throws(WorkspaceFault) -> Bool {
    guard let staged else { return true }
    for file in outdated.inOrder.reversed() {
      let inner = file.names[names.count...]
      // A directory stays that has foreign files in it.
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

/// What a step is known to have made: the files, links and directories of its results.
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
