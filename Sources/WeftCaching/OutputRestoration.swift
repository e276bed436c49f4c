import WeftEncoding
import WeftPlatform

/// Restoring the outputs of steps.
///
/// Only paths that the entry lists are written. A file is removed only if an earlier result of the step has the same
/// content at the same path. Everything else stays.
extension StepCache {
  /// The effect of restoring an entry.
  package struct Restored: Sendable, Hashable {
    /// The number of outputs that were changed.
    package var outputs = 0
    /// The files in the outputs that the step is not known to have made; unordered.
    package var foreign: [FileRecord] = []
  }

  /// Restores missing or different outputs of a step, after all of them have been prepared next to their paths.
  ///
  /// - Throws: ``CacheError/changed(_:)`` if a file that the entry expects unchanged is not, and
  ///   ``CacheError/inTheWay(_:)`` if another file occupies a listed path. Nothing is changed then.
  package func restore(
    _ entry: CacheEntry, to reader: WorkspaceReader
  ) throws(CacheError) -> Restored {
    // Another process may change the same outputs meanwhile.
    for _ in 1...StepCache.attempts {
      if let restored = try restoreOnce(entry, reader) { return restored }
    }
    throw .workspace(WorkspaceError(.changing, at: entry.outputs))
  }

  private static let attempts = 20

  /// Whether the foreign files that the step may have read are unchanged, and nothing else is in the place of an output.
  package func canRestore(_ entry: CacheEntry, to reader: WorkspaceReader) -> Bool {
    entry.outputs.allSatisfy { (try? restoration(of: entry, at: $0, reader)) != nil }
  }

  /// - Returns: `nil` if another process changed something meanwhile.
  private func restoreOnce(
    _ entry: CacheEntry, _ reader: WorkspaceReader
  ) throws(CacheError) -> Restored? {
    var restored = Restored()
    var parts: [OutputRestoration] = []
    defer { for part in parts { part.staged?.discard() } }
    for output in entry.outputs {
      var part = try restoration(of: entry, at: output, reader)
      restored.foreign += part.foreign
      if part.isNeeded {
        restored.outputs += 1
        do { try stage(&part, reader) } catch {
          part.staged?.discard()
          throw CacheError(error)
        }
      }
      parts.append(part)
    }
    for part in parts {
      do {
        guard try part.publish() else { return nil }
      } catch {
        throw CacheError(error)
      }
    }
    return restored
  }

  private func restoration(
    of entry: CacheEntry, at output: String, _ reader: WorkspaceReader
  ) throws(CacheError) -> OutputRestoration {
    let names = FileRecord(path: output, .directory).names
    let found: (records: [FileRecord], specials: [WorkspaceError])
    do { found = try reader.treeWithSpecials(at: names) } catch { throw CacheError(error) }
    return try OutputRestoration(of: entry, at: output, names, found) {
      EarlierOutputs(
        entries(of: entry.step, near: entry.key, making: entry.outputs, isCurrent: true))
    }
  }

  private func stage(
    _ part: inout OutputRestoration, _ reader: WorkspaceReader
  ) throws(WorkspaceError) {
    reader.workspace.removeStaged(
      beside: part.names, before: now() / 1_000_000_000 - StepCache.staleSeconds)
    let staged = try StagedFiles(part.names, in: reader.workspace)
    part.staged = staged
    for file in part.stagedFiles {
      let inner = file.names[part.names.count...]
      switch file.content {
      case .directory: try staged.makeDirectory(at: inner, permissions: file.permissions)
      case .link(let target, _): try staged.makeLink(at: inner, to: target)
      case .file(let hash, _):
        let copy = try staged.makeFile(at: inner, permissions: file.permissions)
        try fill(copy, with: hash, for: file, reader.stop)
      case .text, .long, .secret, .unset: break
      }
    }
  }

  private func fill(
    _ copy: Descriptor, with hash: String, for file: FileRecord, _ stop: StopSwitch
  ) throws(WorkspaceError) {
    let name = StepCache.objectName(hash)
    guard let object = objects.open(name) else {
      throw WorkspaceError(.lost(hash), at: file.names)
    }
    let digest: SHA256.Digest?
    do throws(SystemError) {
      digest = try object.digest(stop: stop) { (piece) throws(SystemError) in
        do throws(WriteError) { try copy.writeAll(piece) } catch { throw error.error }
      }
    } catch {
      throw WorkspaceError(.system(error), at: file.names)
    }
    guard let digest else { throw WorkspaceError(.stopped, at: file.names) }
    guard SHA256.text(of: digest) == hash else {
      objects.remove(name)
      throw WorkspaceError(.lost(hash), at: file.names)
    }
    objects.touch(name)
  }
}

extension CacheError {
  init(_ fault: WorkspaceError) {
    switch fault.kind {
    case .lost(let hash): self = .lost(hash)
    case .stopped: self = .stopped
    default: self = .workspace(fault)
    }
  }
}

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
    _ found: (records: [FileRecord], specials: [WorkspaceError]), made: () -> EarlierOutputs
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
    let known = isKnown ? EarlierOutputs([]) : made()
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
package struct EarlierOutputs {
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
