package import WeftEvents
package import WeftPlatform

/// The folder of a run, held by this process so that no other engine resumes the run.
///
///     workflow.json   as it was read; nested/N.json: the files that it runs, from 1
///     journal.jsonl   the events; journal.jsonl.torn: bytes cut off its end
///     logs/           the output of steps
///     control/        requests for the engine
///     report.json     once the run has ended
///     lock, reserve
///
/// The lock is the system's (fcntl(2)) and ends with the process, however that ends. No stale lock ever needs
/// removing.
package final class RunFolder: Sendable {
  package let run: RunID
  package let directory: PrivateDirectory
  /// The absolute path.
  package let path: String
  private let lock: Descriptor

  package static let journalName = "journal.jsonl"
  package static let tornName = "journal.jsonl.torn"
  package static let workflowName = "workflow.json"
  /// The prefix of the name of a folder that is being created.
  static let unfinishedPrefix = ".new-"
  static let logsName = "logs"
  static let lockName = "lock"
  static let reserveName = "reserve"
  /// The disk space reserved for the last records on a full disk.
  static let reserveBytes = 16 << 10

  private init(_ run: RunID, _ directory: PrivateDirectory, path: String, lock: Descriptor) {
    self.run = run
    self.directory = directory
    self.path = path
    self.lock = lock
  }

  /// The path of the journal in messages.
  package var journalPath: String { "\(directory.path)/\(RunFolder.journalName)" }

  // MARK: A new run

  /// The definition of a new run.
  package struct Contents: Sendable {
    /// The bytes of the workflow file; `nil` for a workflow built in Swift.
    package var workflow: [UInt8]?
    /// The bytes of nested workflow files, in the order of ``RecordOpening/nested``.
    package var nested: [[UInt8]]
    package var opening: RecordOpening

    package init(workflow: [UInt8]?, nested: [[UInt8]] = [], opening: RecordOpening) {
      self.workflow = workflow
      self.nested = nested
      self.opening = opening
    }
  }

  /// Creates the folder of a new run with all its initial files: it exists completely or not at all.
  ///
  /// - Returns: The folder, and the writer of its journal, which already contains the opening record.
  package static func make(
    _ contents: Contents, in state: StateDirectory, durability: RecordDurability,
    startedAt start: WallTime
  ) throws(RunFolderError) -> (RunFolder, JournalWriter) {
    let run = contents.opening.run
    guard !state.runs.has(run.text) else { throw .taken(run) }
    let name = "\(unfinishedPrefix)\(run.text)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    do throws(UnsafePathError) {
      let directory = try state.runs.directory(name, makes: true)
      let made = try fill(directory, with: contents, durability, startedAt: start)
      try state.runs.rename(name, to: run.text)
      if durability == .power { try state.runs.synchronize() }
      let folder = RunFolder(
        run, directory.called("\(state.runs.path)/\(run.text)"), path: state.folderPath(of: run),
        lock: made.lock)
      let writer = JournalWriter(
        made.journal, after: 1, at: folder.journalPath, reserve: made.reserve,
        durability: durability, startedAt: start, version: contents.opening.version)
      return (folder, writer)
    } catch {
      state.runs.removeDirectory(name)
      throw .place(error)
    }
  }

  private struct Made {
    let lock: Descriptor
    let reserve: DiskReserve
    let journal: AppendedFile
  }

  private static func fill(
    _ directory: PrivateDirectory, with contents: Contents, _ durability: RecordDurability,
    startedAt start: WallTime
  ) throws(UnsafePathError) -> Made {
    let survives = durability == .power
    let lock = try directory.file(lockName, .making)
    // The folder is not known to other processes yet.
    _ = try take(lock, in: directory)
    for name in [logsName, "control"] { _ = try directory.directory(name, makes: true) }
    if let bytes = contents.workflow {
      try directory.write(bytes, to: workflowName, surviving: survives)
    }
    if !contents.nested.isEmpty {
      let nested = try directory.directory("nested", makes: true)
      for (index, bytes) in contents.nested.enumerated() {
        try nested.write(bytes, to: "\(index + 1).json", surviving: survives)
      }
      if survives { try nested.synchronize() }
    }
    let reserve = try DiskReserve(reserveBytes, named: reserveName, in: directory)
    var json = RecordJSON(version: contents.opening.version, startedAt: start)
    let line = json.withLine(of: .opened(contents.opening), 1, after: .zero) { Array($0) }
    try directory.write(line, to: journalName, surviving: survives)
    if survives { try directory.synchronize() }
    let journal = AppendedFile(
      try directory.file(journalName, .appending), length: line.count, calls: directory.calls)
    return Made(lock: lock, reserve: reserve, journal: journal)
  }

  // MARK: An existing run

  /// Takes a run's lock, so that no other engine resumes it.
  package static func open(
    _ run: RunID, in state: StateDirectory
  ) throws(RunFolderError) -> RunFolder {
    let directory = try state.folder(of: run)
    do throws(UnsafePathError) {
      let lock = try directory.file(lockName, .makingOrAppending)
      if try take(lock, in: directory) {
        return RunFolder(run, directory, path: state.folderPath(of: run), lock: lock)
      }
    } catch {
      throw .place(error)
    }
    throw .held(run, by: holder(in: directory))
  }

  /// - Returns: False if another process holds it.
  private static func take(
    _ lock: Descriptor, in directory: PrivateDirectory
  ) throws(UnsafePathError) -> Bool {
    do throws(SystemError) {
      guard try directory.calls.takeLock(lock) else { return false }
      let holder = LockHolder(process: ThisProcess.id, since: "\(WallClock.now)")
      try directory.calls.replace(lock, with: holder.bytes)
      return true
    } catch {
      throw .system("\(directory.path)/\(lockName)", error)
    }
  }

  /// Releases the run for other engines.
  ///
  /// Closing the file would not suffice: a child that is being spawned has it open, too, until it has executed its
  /// program.
  package func releaseHold() { directory.calls.releaseLock(lock) }

  deinit { releaseHold() }

  /// Returns the process that claims to hold a run.
  private static func holder(in directory: PrivateDirectory) -> LockHolder? {
    (try? directory.bytes(of: lockName, limit: 256)).flatMap { LockHolder($0) }
  }
}
