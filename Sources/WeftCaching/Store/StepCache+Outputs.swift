import WeftPlatform

/// What a step has made, into the cache and out of it.
extension StepCache {
  /// Keeps what a step has made. Nothing is kept if a part of it cannot be.
  ///
  /// - Parameter entry: Without its files, which are looked at now.
  /// - Returns: The entry with its files.
  @discardableResult
  package func store(
    _ entry: CacheEntry, from reader: WorkspaceReader
  ) throws(CacheFault) -> CacheEntry {
    var entry = entry
    do throws(WorkspaceFault) {
      for output in entry.outputs {
        let files = try reader.tree(at: FileRecord(path: output, .directory).names)
        if files.isEmpty { throw WorkspaceFault(.system(.notFound), at: [output]) }
        entry.files += files
      }
    } catch {
      if error.kind == .system(.notFound) { throw .noOutput(error.path) }
      throw CacheFault(error)
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

  /// Puts back what a step has made, where it is missing or another: each output comes whole, in place of what is
  /// there, after all of them have been made beside their places.
  ///
  /// - Returns: How many outputs were put back.
  package func restore(
    _ entry: CacheEntry, to reader: WorkspaceReader
  ) throws(CacheFault) -> Int {
    var staged: [StagedFiles] = []
    defer { for files in staged { files.discard() } }
    do throws(WorkspaceFault) {
      for output in entry.outputs {
        let files = entry.files(at: output)
        if try isThere(files, at: output, reader) { continue }
        let names = FileRecord(path: output, .directory).names
        reader.workspace.removeStaged(
          beside: names, before: now() / 1_000_000_000 - StepCache.staleSeconds)
        staged.append(try StagedFiles(names, in: reader.workspace))
        for file in files {
          try stage(file, below: names.count, in: staged[staged.count - 1], reader)
        }
      }
      for files in staged { try files.publish() }
    } catch {
      throw CacheFault(error)
    }
    return staged.count
  }

  private func isThere(
    _ files: [FileRecord], at output: String, _ reader: WorkspaceReader
  ) throws(WorkspaceFault) -> Bool {
    do { return try reader.tree(at: FileRecord(path: output, .directory).names) == files } catch {
      // What cannot be looked at is not what was kept, but for one that is to be stopped.
      if error.kind == .stopped { throw error }
      return false
    }
  }

  private func stage(
    _ file: FileRecord, below depth: Int, in staged: StagedFiles, _ reader: WorkspaceReader
  ) throws(WorkspaceFault) {
    let inner = file.names[depth...]
    switch file.content {
    case .directory: try staged.makeDirectory(at: inner)
    case .link(let target, _): try staged.makeLink(at: inner, to: target)
    case .file(let hash, let isExecutable):
      let copy = try staged.makeFile(at: inner, isExecutable: isExecutable)
      try fill(copy, with: hash, for: file, reader.stop)
    case .text, .long, .secret, .unset: break
    }
  }

  private func fill(
    _ copy: Descriptor, with hash: String, for file: FileRecord, _ stop: StopSwitch
  ) throws(WorkspaceFault) {
    let name = StepCache.objectName(hash)
    guard let object = objects.open(name) else {
      throw WorkspaceFault(.lost(hash), at: file.names)
    }
    let digest: SHA256.Digest?
    do throws(SystemError) {
      digest = try object.digest(stop: stop) { (piece) throws(SystemError) in
        do throws(WriteFailure) { try copy.writeAll(piece) } catch { throw error.systemError }
      }
    } catch {
      throw WorkspaceFault(.system(error), at: file.names)
    }
    guard let digest else { throw WorkspaceFault(.stopped, at: file.names) }
    guard SHA256.text(of: digest) == hash else {
      objects.remove(name)
      throw WorkspaceFault(.lost(hash), at: file.names)
    }
    objects.touch(name)
  }
}

extension CacheFault {
  init(_ fault: WorkspaceFault) {
    switch fault.kind {
    case .lost(let hash): self = .lost(hash)
    case .stopped: self = .stopped
    default: self = .workspace(fault)
    }
  }
}

extension WriteFailure {
  fileprivate var systemError: SystemError {
    switch self {
    case .brokenPipe: .brokenPipe
    case .noSpace(let error), .other(let error): error
    }
  }
}
