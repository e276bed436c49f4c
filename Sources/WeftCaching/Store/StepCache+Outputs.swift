package import WeftPlatform

/// What a step has made, into the cache and out of it.
extension StepCache {
  /// Keeps what a step has made. Nothing is kept if a part of it cannot be.
  ///
  /// A file that was there before the step, and that the step has not written to, is not known to be made by it, unless
  /// an earlier result of the step has the same. It is not kept, and the entry holds only as long as it stays as it is.
  ///
  /// - Parameters:
  ///   - entry: Without its files, which are looked at now.
  ///   - before: What was at the outputs before the step ran.
  /// - Returns: The entry with its files.
  @discardableResult
  package func store(
    _ entry: CacheEntry, since before: [String: FileStamp] = [:], from reader: WorkspaceReader
  ) throws(CacheFault) -> CacheEntry {
    var entry = entry
    do throws(WorkspaceFault) {
      for output in entry.outputs {
        let names = FileRecord(path: output, .directory).names
        let files = try reader.tree(at: names)
        if files.isEmpty { throw WorkspaceFault(.system(.notFound), at: [output]) }
        let now = before.isEmpty ? [:] : try reader.stamps(at: names)
        for file in files {
          let isUntouched = now[file.path].map { before[file.path] == $0 } ?? false
          if isUntouched { entry.foreign.append(file) } else { entry.files.append(file) }
        }
      }
    } catch {
      if error.kind == .system(.notFound) { throw .noOutput(error.path) }
      throw CacheFault(error)
    }
    if !entry.foreign.isEmpty {
      let made = MadeBefore(entries(of: entry.step))
      entry.files = (entry.files + entry.foreign.filter(made.contains)).inOrder
      entry.foreign.removeAll(where: made.contains)
    }
    let bytes = entry.files.reduce(0) { $0 + $1.size }
    // Whatever is cleaned away, an eighth is free after it.
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
  ) throws(CacheFault) {
    let name = StepCache.objectName(hash)
    if objects.has(name) {
      objects.touch(name)
      return
    }
    makeRoom(for: file.size)
    do {
      try reader.workspace.walk(at: file.names, stop: reader.stop) { found throws(WorkspaceFault) in
        try copy(try found.opened(), hash, of: file, reader.stop)
      }
    } catch {
      throw CacheFault(error)
    }
    guard objects.has(name) else { throw .workspace(WorkspaceFault(.changing, at: file.names)) }
  }

  private func copy(
    _ source: Descriptor, _ hash: String, of file: FileRecord, _ stop: StopSwitch
  ) throws(WorkspaceFault) {
    do {
      guard
        try objects.keep(source, stop: stop, named: { StepCache.objectName(SHA256.text(of: $0)) })
          != nil
      else { throw WorkspaceFault(.stopped, at: file.names) }
    } catch let fault as WorkspaceFault {
      throw fault
    } catch let place as UnsafePlace {
      throw WorkspaceFault(.system(place.error ?? .notPermitted), at: file.names)
    } catch {
      throw WorkspaceFault(.changing, at: file.names)
    }
  }
}
