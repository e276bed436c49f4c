package import WeftPlatform

/// Storing the outputs of steps.
extension StepCache {
  /// Stores the result of a step, completely or not at all.
  ///
  /// A file that existed before the step and was not written by it counts as foreign, unless an earlier result of the
  /// step contains the same file. It is not stored, and the entry is only valid while the file is unchanged.
  ///
  /// - Parameters:
  ///   - entry: The entry without its files, which are read now.
  ///   - before: The stamps of the files in the outputs before the step ran.
  /// - Returns: The entry with its files.
  @discardableResult
  package func store(
    _ entry: CacheEntry, since before: [String: FileStamp] = [:], from reader: WorkspaceReader
  ) throws(CacheError) -> CacheEntry {
    var entry = entry
    do throws(WorkspaceError) {
      for output in entry.outputs {
        let names = FileRecord(path: output, .directory).names
        let files = try reader.tree(at: names)
        if files.isEmpty { throw WorkspaceError(.system(.notFound), at: [output]) }
        let now = before.isEmpty ? [:] : try reader.stamps(at: names)
        for file in files {
          let isUntouched = now[file.path].map { before[file.path] == $0 } ?? false
          if isUntouched { entry.foreign.append(file) } else { entry.files.append(file) }
        }
      }
    } catch {
      if error.kind == .system(.notFound) { throw .noOutput(error.path) }
      throw CacheError(error)
    }
    if !entry.foreign.isEmpty {
      let made = MadeBefore(entries(of: entry.step))
      entry.files = (entry.files + entry.foreign.filter(made.contains)).inOrder
      entry.foreign.removeAll(where: made.contains)
    }
    let bytes = entry.files.reduce(0) { $0 + $1.size }
    // After eviction, only an eighth is guaranteed to be free.
    guard bytes <= limit - limit / 8 else { throw .tooLarge(bytes: bytes, limit: limit) }
    for file in entry.files {
      guard case .file(let hash, _) = file.content else { continue }
      try keep(file, hash, from: reader)
    }
    try write(entry)
    return entry
  }

  private func keep(
    _ file: FileRecord, _ hash: String, from reader: WorkspaceReader
  ) throws(CacheError) {
    let name = StepCache.objectName(hash)
    if objects.has(name) {
      objects.touch(name)
      return
    }
    makeRoom(for: file.size)
    do {
      try reader.workspace.walk(at: file.names, stop: reader.stop) { found throws(WorkspaceError) in
        try copy(try found.opened(), hash, of: file, reader.stop)
      }
    } catch {
      throw CacheError(error)
    }
    guard objects.has(name) else { throw .workspace(WorkspaceError(.changing, at: file.names)) }
  }

  private func copy(
    _ source: Descriptor, _ hash: String, of file: FileRecord, _ stop: StopSwitch
  ) throws(WorkspaceError) {
    do {
      guard
        try objects.keep(source, stop: stop, named: { StepCache.objectName(SHA256.text(of: $0)) })
          != nil
      else { throw WorkspaceError(.stopped, at: file.names) }
    } catch let fault as WorkspaceError {
      throw fault
    } catch let place as UnsafePlaceError {
      throw WorkspaceError(.system(place.error ?? .notPermitted), at: file.names)
    } catch {
      throw WorkspaceError(.changing, at: file.names)
    }
  }
}
