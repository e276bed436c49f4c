package import WeftExecution
package import WeftPlatform

/// A run's folder, held by this process: nobody else goes on with the run meanwhile.
///
///     workflow.json   as it was read; nested/N.json: the files that it runs, from 1
///     journal.jsonl   what has happened; journal.jsonl.torn: what was cut off its end
///     logs/           what steps wrote
///     control/        what others ask of the engine
///     report.json     when the run has ended
///     lock, reserve
///
/// The lock is the system's (fcntl(2)) and ends with the process, however that ends. There is nothing to take
/// away by hand.
package final class RunFolder: Sendable {
  package let run: RunID
  package let directory: PrivateDirectory
  /// The path from the root.
  package let path: String
  private let lock: Descriptor

  package static let journalName = "journal.jsonl"
  package static let tornName = "journal.jsonl.torn"
  package static let workflowName = "workflow.json"
  /// How the name of a folder begins that is still being made.
  static let unfinishedPrefix = ".new-"
  static let logsName = "logs"
  static let lockName = "lock"
  static let reserveName = "reserve"
  /// What is kept free for the last records on a disk that is full.
  static let reserveBytes = 16 << 10

  private init(_ run: RunID, _ directory: PrivateDirectory, path: String, lock: Descriptor) {
    self.run = run
    self.directory = directory
    self.path = path
    self.lock = lock
  }

  /// What messages call the journal.
  package var journalPath: String { "\(directory.path)/\(RunFolder.journalName)" }

  // MARK: A new run

  /// What a run was made of.
  package struct Contents: Sendable {
    /// The bytes of the workflow file; `nil` for a workflow built in Swift.
    package var workflow: [UInt8]?
    /// Of the files that it runs, in the order of ``RecordOpening/nested``.
    package var nested: [[UInt8]]
    package var opening: RecordOpening

    package init(workflow: [UInt8]?, nested: [[UInt8]] = [], opening: RecordOpening) {
      self.workflow = workflow
      self.nested = nested
      self.opening = opening
    }
  }

  /// Makes the folder of a new run, with all that is in it before the run begins: it is there whole, or not at
  /// all.
  ///
  /// - Returns: The folder, and what appends to its journal; the first record is there.
  package static func make(
    _ contents: Contents, in state: StateDirectory, durability: RecordDurability,
    startedAt start: WallTime
  ) throws(RunFolderFault) -> (RunFolder, JournalWriter) {
    let run = contents.opening.run
    guard !state.runs.has(run.text) else { throw .taken(run) }
    let name = "\(unfinishedPrefix)\(run.text)-\(String(UInt64.random(in: 0 ... .max), radix: 36))"
    do throws(UnsafePlace) {
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
  ) throws(UnsafePlace) -> Made {
    let survives = durability == .power
    let lock = try directory.file(lockName, .making)
    // Nobody else knows of it.
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

  // MARK: A run that there is

  /// Takes a run's lock, so that nobody else goes on with it.
  package static func open(
    _ run: RunID, in state: StateDirectory
  ) throws(RunFolderFault) -> RunFolder {
    let directory = try state.folder(of: run)
    do throws(UnsafePlace) {
      let lock = try directory.file(lockName, .makingOrAppending)
      if try take(lock, in: directory) {
        return RunFolder(run, directory, path: state.folderPath(of: run), lock: lock)
      }
    } catch {
      throw .place(error)
    }
    throw .held(run, by: holder(in: directory))
  }

  /// - Returns: False if another process has it.
  private static func take(
    _ lock: Descriptor, in directory: PrivateDirectory
  ) throws(UnsafePlace) -> Bool {
    do throws(SystemError) {
      guard try directory.calls.takeLock(lock) else { return false }
      let holder = LockHolder(process: ThisProcess.id, since: "\(WallClock.now)")
      try directory.calls.replace(lock, with: holder.bytes)
      return true
    } catch {
      throw .system("\(directory.path)/\(lockName)", error)
    }
  }

  /// Others may go on with the run from now on.
  ///
  /// Closing the file would not do: a program that is just being started has it open, too, until it is that program.
  package func letGo() { directory.calls.releaseLock(lock) }

  deinit { letGo() }

  /// Who says that he holds a run.
  private static func holder(in directory: PrivateDirectory) -> LockHolder? {
    (try? directory.bytes(of: lockName, limit: 256)).flatMap { LockHolder($0) }
  }
}
