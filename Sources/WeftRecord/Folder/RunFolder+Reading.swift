package import WeftEvents
import WeftExecution
import WeftPlatform

/// Reading and resuming a recorded run.
extension RunFolder {
  /// Reads a run's journal regardless of its lock. An engine may append meanwhile, so a torn end may be a record in
  /// progress.
  package static func contents(
    of run: RunID, in state: StateDirectory, limits: JournalLimits = JournalLimits(),
    visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> JournalContents {
    try contents(of: try state.folder(of: run), run: run, limits: limits, visiting: visit)
  }

  /// Reads the journal of the held run.
  package func contents(
    limits: JournalLimits = JournalLimits(), visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> JournalContents {
    try RunFolder.contents(of: directory, run: run, limits: limits, visiting: visit)
  }

  private static func contents(
    of directory: PrivateDirectory, run: RunID, limits: JournalLimits,
    visiting visit: (RunRecord) -> Void
  ) throws(RunFolderError) -> JournalContents {
    do throws(UnsafePathError) {
      let file = try directory.file(journalName, .reading)
      let reader = JournalReader(
        file, of: run, named: "\(directory.path)/\(journalName)", limits: limits)
      return reader.contents(visiting: visit)
    } catch {
      throw .place(error)
    }
  }

  /// Returns the workflow file as it was read; `nil` if there was none.
  package func workflow() throws(RunFolderError) -> [UInt8]? {
    try RunFolder.document(RunFolder.workflowName, in: directory)
  }

  /// Returns a nested workflow file as it was read. `index` is its position in ``RecordOpening/nested``.
  package func nested(_ index: Int) throws(RunFolderError) -> [UInt8]? {
    do throws(UnsafePathError) {
      return try directory.directory("nested", makes: false).bytes(
        of: "\(index + 1).json", limit: FileReading.workflowLimit)
    } catch {
      if error.error == .notFound { return nil }
      throw .place(error)
    }
  }

  fileprivate static func document(
    _ name: String, in directory: PrivateDirectory
  ) throws(RunFolderError) -> [UInt8]? {
    do { return try directory.bytes(of: name, limit: FileReading.workflowLimit) } catch {
      if error.error == .notFound { return nil }
      throw .place(error)
    }
  }

  // MARK: Resuming

  /// Resumes the journal after its last complete record. Bytes after that are saved to a separate file first.
  ///
  /// - Parameters:
  ///   - contents: The journal as read under this lock.
  ///   - opening: The opening record of this engine; it is appended first.
  ///   - salvaging: Resumes even a damaged journal, from the records before the damage.
  /// - Returns: The writer, after it has written the opening record.
  package func append(
    after contents: JournalContents, _ opening: RecordOpening, durability: RecordDurability,
    startedAt start: WallTime, salvaging: Bool = false
  ) throws(RunFolderError) -> JournalWriter {
    if let damage = contents.damage, !salvaging || damage.hasOtherFormat { throw .damaged(damage) }
    let writer: JournalWriter
    do throws(UnsafePathError) {
      let file = try directory.file(RunFolder.journalName, .appending)
      try setAside(contents, of: file)
      let reserve = try DiskReserve(
        RunFolder.reserveBytes, named: RunFolder.reserveName, in: directory)
      writer = JournalWriter(
        AppendedFile(file, length: contents.wholeBytes, calls: directory.calls),
        after: contents.run.number, at: journalPath, reserve: reserve, durability: durability,
        startedAt: start, version: opening.version)
    } catch {
      throw .place(error)
    }
    do { try writer.record(.opened(opening), elapsed: .zero) } catch { throw .record(error) }
    control?.discard { !$0.isDue(after: contents.run) }
    // The report describes an end that is no longer the run's.
    do { try directory.remove(RunFolder.reportName) } catch { throw .place(error) }
    return writer
  }

  /// Replaces the workflow files of the run by those it is resumed with, if they differ.
  package func replaceFiles(by contents: Contents) throws(RunFolderError) {
    do throws(UnsafePathError) {
      if let bytes = contents.workflow, workflowBytes() != bytes {
        try RunFolder.replace(RunFolder.workflowName, by: bytes, in: directory)
      }
      guard !contents.nested.isEmpty else { return }
      let nested = try directory.directory("nested", makes: true)
      for (index, bytes) in contents.nested.enumerated() {
        try RunFolder.replace("\(index + 1).json", by: bytes, in: nested)
      }
    } catch {
      throw .place(error)
    }
  }

  /// Replaces a file atomically.
  private static func replace(
    _ name: String, by bytes: [UInt8], in directory: PrivateDirectory
  ) throws(UnsafePathError) {
    let temporary = ".new-\(name)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    try directory.write(bytes, to: temporary, surviving: true)
    try directory.rename(temporary, to: name)
  }

  private func workflowBytes() -> [UInt8]? {
    try? directory.bytes(of: RunFolder.workflowName, limit: FileReading.workflowLimit)
  }

  /// Saves the bytes after the last complete record to a separate file before cutting them off.
  private func setAside(_ contents: JournalContents, of file: Descriptor) throws(UnsafePathError) {
    let end: Int
    do { end = try file.byteCount() } catch { throw .system(journalPath, error) }
    guard end > contents.wholeBytes else { return }
    let torn = try directory.file(RunFolder.tornName, .makingOrAppending)
    do throws(SystemError) {
      try directory.calls.copy(file, from: contents.wholeBytes, to: torn)
      try directory.calls.cut(file, to: contents.wholeBytes)
    } catch {
      throw .system(journalPath, error)
    }
  }
}

extension StateDirectory {
  /// Returns the workflow file of a run as it was read, regardless of its lock; `nil` if there was none.
  package func workflow(of run: RunID) throws(RunFolderError) -> [UInt8]? {
    try RunFolder.document(RunFolder.workflowName, in: try folder(of: run))
  }
}
