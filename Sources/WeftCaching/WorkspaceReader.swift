import WeftEncoding
package import WeftExpressions
package import WeftPlatform

/// Reads files of a workspace, and hashes their content.
package struct WorkspaceReader: Sendable {
  package let workspace: Directory
  let memory: FileMemory
  package let stop: StopSwitch

  /// - Parameter stop: Ends a walk or the reading of a file with ``WorkspaceError/Kind/stopped``.
  package init(_ workspace: Directory, memory: FileMemory, stop: StopSwitch = StopSwitch()) {
    self.workspace = workspace
    self.memory = memory
    self.stop = stop
  }

  /// Returns a step's input files; links include the hashes of the files they lead to.
  ///
  /// - Throws: ``WorkspaceError/Kind/linkedDirectory`` if files behind a link to a directory would be missing.
  package func inputs(_ rule: FileRule) throws(WorkspaceError) -> InputFiles {
    var files = InputFiles()
    let choice = Directory.Choice(
      entersDirectory: rule.canInclude(below:), onlyNames: rule.onlyNames(in:),
      visits: { rule.includes($0) || rule.canInclude(below: $0) })
    try workspace.walk(choice, stop: stop) { (found) throws(WorkspaceError) in
      if found.stamp.kind == .link, found.leadsToDirectory { try checkLink(found, rule) }
      guard rule.includes(found.path), let (record, stamps) = try input(found) else { return }
      files.records.append(record)
      files.stamps.append(stamps)
    }
    return files
  }

  /// Returns a file, or a link with the hash of the file it leads to; `nil` for a directory, and for a FIFO or socket,
  /// which has no content.
  package func record(of found: FoundFile) throws(WorkspaceError) -> FileRecord? {
    try input(found)?.record
  }

  private typealias Input = (record: FileRecord, stamps: InputFiles.Stamps)

  private func input(_ found: FoundFile) throws(WorkspaceError) -> Input? {
    switch found.stamp.kind {
    case .file: try file(found)
    case .link: try linkedInput(found)
    case .directory, .other: nil
    }
  }

  /// Walks do not follow a link to a directory: that is right only if they find everything behind it at another path.
  private func checkLink(_ found: FoundFile, _ rule: FileRule) throws(WorkspaceError) {
    guard let target = try target(of: found), rule.selects(below: target, allOf: found.path),
      (try? workspace.directory(target[...], of: target)) != nil
    else { throw WorkspaceError(.linkedDirectory, at: found.path) }
  }

  /// The path that a relative link names; `nil` if it is not in the workspace.
  private func target(of found: FoundFile) throws(WorkspaceError) -> [String]? {
    let text = try found.target()
    guard !text.hasPrefix("/") else { return nil }
    var names = Array(found.path.dropLast())
    for name in text.split(separator: "/") where name != "." {
      if name != ".." { names.append(String(name)) } else if names.popLast() == nil { return nil }
    }
    return names
  }

  /// Returns the file or the directory tree at a path; empty if nothing is there.
  package func tree(at path: [String]) throws(WorkspaceError) -> [FileRecord] {
    let (records, specials) = try treeWithSpecials(at: path)
    if let fault = specials.first { throw fault }
    return records
  }

  /// Returns the tree, and the FIFOs, sockets and devices in it, each as the error it is for callers that read files.
  func treeWithSpecials(
    at path: [String]
  ) throws(WorkspaceError) -> (records: [FileRecord], specials: [WorkspaceError]) {
    var records: [FileRecord] = []
    var specials: [WorkspaceError] = []
    try workspace.walk(at: path, stop: stop) { (found) throws(WorkspaceError) in
      switch found.stamp.kind {
      case .file: records.append(try file(found).record)
      case .link:
        records.append(
          FileRecord(path: WorkspaceReader.text(found), .link(try found.target(), hash: nil)))
      case .directory:
        records.append(
          FileRecord(
            path: WorkspaceReader.text(found), .directory, permissions: found.stamp.permissions))
      case .other(let noun): specials.append(WorkspaceError(.special(noun), at: found.path))
      }
    }
    return (records, specials)
  }

  /// Returns the stamps of everything at a path, except directories.
  package func stamps(at path: [String]) throws(WorkspaceError) -> [String: FileStamp] {
    var stamps: [String: FileStamp] = [:]
    try workspace.walk(at: path, stop: stop) { (found) throws(WorkspaceError) in
      if found.stamp.kind != .directory { stamps[WorkspaceReader.text(found)] = found.stamp }
    }
    return stamps
  }

  static func text(_ found: FoundFile) -> String { found.path.joined(separator: "/") }

  private func file(_ found: FoundFile) throws(WorkspaceError) -> Input {
    let (digest, stamp) = try read(found) { () throws(WorkspaceError) in try found.opened() }
    guard case .file(let isExecutable) = stamp.kind else {
      throw WorkspaceError(.changing, at: found.path)
    }
    let record = FileRecord(
      path: WorkspaceReader.text(found),
      .file(hash: SHA256.text(of: digest), isExecutable: isExecutable), size: Int(stamp.size),
      permissions: stamp.permissions)
    return (record, InputFiles.Stamps(own: stamp))
  }

  private func linkedInput(_ found: FoundFile) throws(WorkspaceError) -> Input {
    var hash: String?
    var stamps = InputFiles.Stamps(own: found.stamp)
    if let file = found.openedThroughLink() {
      let (digest, stamp) = try digest(of: file, found.path)
      hash = SHA256.text(of: digest)
      stamps.target = stamp
    }
    let record = FileRecord(
      path: WorkspaceReader.text(found), .link(try found.target(), hash: hash))
    return (record, stamps)
  }

  private func read(
    _ found: FoundFile, opening: () throws(WorkspaceError) -> Descriptor
  ) throws(WorkspaceError) -> (SHA256.Digest, FileStamp) {
    if let digest = memory.digest(of: found.stamp) { return (digest, found.stamp) }
    let (digest, stamp) = try digest(of: opening(), found.path)
    return (digest, stamp)
  }

  /// Reads an open file; retries if it was written to meanwhile.
  private func digest(
    of file: Descriptor, _ path: [String]
  ) throws(WorkspaceError) -> (digest: SHA256.Digest, stamp: FileStamp) {
    for _ in 1...3 {
      let moment = memory.moment
      let before = try placing(path) { () throws(SystemError) in try FileStamp(of: file) }
      if let known = memory.digest(of: before) { return (known, before) }
      let read = try placing(path) { () throws(SystemError) in try file.digest(stop: stop) }
      guard let read else { throw WorkspaceError(.stopped, at: path) }
      let after = try placing(path) { () throws(SystemError) in try FileStamp(of: file) }
      if before == after {
        memory.learn(after, read, readAt: moment)
        return (read, after)
      }
    }
    throw WorkspaceError(.changing, at: path)
  }
}

extension CacheKey {
  /// Sets a part of the key from files.
  package mutating func set(_ part: CachePart, files: [FileRecord]) {
    set(part, files.map { CacheValue($0.path, $0.content) })
  }
}

/// The input files of a step.
package struct InputFiles: Sendable {
  /// The stamps of a file as it was read; a link also has those of the file it leads to.
  package struct Stamps: Sendable, Hashable {
    var own: FileStamp
    var target: FileStamp?
  }

  /// In the order of a walk.
  package var records: [FileRecord] = []
  /// The stamps of the records, in the same order.
  package var stamps: [Stamps] = []

  package init() {}
}

/// A file, identified by its content.
package struct FileRecord: Sendable, Hashable {
  /// The path relative to the workspace's root, with `/`.
  package var path: String
  /// A file, link or directory.
  package var content: CacheContent
  /// The size of a file in bytes; 0 for anything else.
  package var size: Int
  /// The permission bits of a file or directory; 0 for anything else.
  package var permissions: UInt32

  package init(
    path: String, _ content: CacheContent, size: Int = 0, permissions: UInt32 = 0
  ) {
    self.path = path
    self.content = content
    self.size = size
    self.permissions = permissions
  }

  var isDirectory: Bool { content == .directory }

  /// Whether `one` precedes `other` in a walk: a directory before its contents, names by their bytes.
  static func comesBefore(_ one: FileRecord, _ other: FileRecord) -> Bool {
    one.names.lexicographicallyPrecedes(other.names) {
      $0.utf8.lexicographicallyPrecedes($1.utf8)
    }
  }

  package var names: [String] { path.split(separator: "/").map(String.init) }

  /// Whether it is at a path, or in a directory there.
  package func isBelow(_ root: String) -> Bool {
    path.utf8.elementsEqual(root.utf8) || path.utf8.starts(with: (root + "/").utf8)
  }
}

extension [FileRecord] {
  /// The records in the order of a walk.
  package var inOrder: [FileRecord] { sorted(by: FileRecord.comesBefore) }

  /// Identifies the content of a path: the content hash for a file; for a directory, a hash of the names, kinds and
  /// contents of everything in it.
  package var digest: String {
    if count == 1, case .file(let hash, _) = self[0].content { return hash }
    var bytes = CanonicalBytes()
    bytes.append(count: count)
    for record in self {
      switch record.content {
      case .file(let hash, let isExecutable):
        bytes.append(record.path, isExecutable ? "program" : "file", hash)
      case .link(let target, _): bytes.append(record.path, "link", target)
      case .directory: bytes.append(record.path, "directory")
      case .text, .long, .secret, .unset: break
      }
    }
    return bytes.hash
  }
}

/// The files of a workspace that a step reads: those that its patterns match, except its own outputs, Weft's own
/// files, and git's.
package struct FileRule: Sendable {
  private let selection: FileSelection
  private let excluded: [[String]]

  /// - Parameter excluded: Paths that are not inputs, with everything below them.
  package init(_ selection: FileSelection, excluding excluded: [[String]]) {
    self.selection = selection
    self.excluded = excluded
  }

  package func includes(_ path: [String]) -> Bool {
    !isExcluded(path) && selection.includes(path)
  }

  package func canInclude(below directory: [String]) -> Bool {
    !isExcluded(directory) && selection.canInclude(below: directory)
  }

  /// Whether every input below `directory`, if it were `other`, is also one there.
  func selects(below other: [String], allOf directory: [String]) -> Bool {
    isExcluded(other) || selection.selects(below: other, allOf: directory)
  }

  package func onlyNames(in directory: [String]) -> Set<String>? {
    selection.onlyNames(in: directory)
  }

  private func isExcluded(_ path: [String]) -> Bool {
    path.contains(".git") || excluded.contains { path.starts(with: $0) }
      || path.contains { $0.hasPrefix(StagedFiles.prefix) }
  }
}
