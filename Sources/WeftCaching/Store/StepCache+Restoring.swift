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

  /// Whether the foreign files that the step may have read are unchanged.
  package func hasForeignFiles(of entry: CacheEntry, _ reader: WorkspaceReader) -> Bool {
    entry.foreign.allSatisfy { file in
      (try? reader.tree(at: file.names))?.first?.content == file.content
    }
  }

  /// - Returns: `nil` if another process changed something meanwhile.
  private func restoreOnce(
    _ entry: CacheEntry, _ reader: WorkspaceReader
  ) throws(CacheError) -> Restored? {
    var restored = Restored()
    var parts: [OutputRestoration] = []
    defer { for part in parts { part.staged?.discard() } }
    for output in entry.outputs {
      let names = FileRecord(path: output, .directory).names
      let found: (records: [FileRecord], specials: [WorkspaceError])
      do { found = try reader.treeWithSpecials(at: names) } catch { throw CacheError(error) }
      var part = try OutputRestoration(of: entry, at: output, names, found) {
        MadeBefore(entries(of: entry.step))
      }
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
