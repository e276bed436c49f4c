package import WeftDefinition
import WeftDiagnostics
package import WeftEvents
package import WeftExecution
import WeftJSON
package import WeftPlanning
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
  static let nestedFolder = "nested"
  /// The name of the copy of a file by its position in ``RecordOpening/nested``.
  static func nestedName(_ index: Int) -> String { "\(index + 1).json" }
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
      let nested = try directory.directory(nestedFolder, makes: true)
      for (index, bytes) in contents.nested.enumerated() {
        try nested.write(bytes, to: nestedName(index), surviving: survives)
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

extension StateDirectory {
  /// Whether an engine holds the run.
  package func isHeld(_ run: RunID) -> Bool {
    (try? RunFolder.isHeld(try folder(of: run))) ?? false
  }
}

extension RunFolder {
  /// Whether an engine, or a process that removes the run, holds its lock. Does not take the lock.
  static func isHeld(_ folder: PrivateDirectory) throws(RunFolderError) -> Bool {
    do throws(UnsafePathError) {
      let lock = try folder.file(lockName, .reading)
      do throws(SystemError) { return try folder.calls.isLocked(lock) } catch {
        throw .system("\(folder.path)/\(lockName)", error)
      }
    } catch {
      if error.error == .notFound { return false }
      throw .place(error)
    }
  }
}

extension RunFolder {
  /// The log folder; `nil` if it is not available.
  package var logs: LogFolder? {
    (try? directory.directory(RunFolder.logsName, makes: true)).map(LogFolder.init)
  }
}

extension RunFolder.Contents {
  /// Collects the contents of a new run folder for a plan.
  ///
  /// - Parameters:
  ///   - excluded: The steps skipped by the caller.
  ///   - rerun: The steps to rerun although a previous engine completed them.
  ///   - secrets: The values that must not be written.
  package init(
    of plan: Plan, _ run: RunID, _ inputs: InputValues, excluding excluded: [Int] = [],
    rerunning rerun: RerunSelection = RerunSelection(), hiding secrets: RunSecrets = RunSecrets()
  ) {
    secrets.add(secretsIn: inputs)
    let source = plan.workflow.source.value
    let nested = plan.namedFiles
    var opening = RecordOpening(
      run: run, workflow: plan.workflow.name, file: source?.path,
      hash: source.map { RecordedFile.hash(of: $0.bytes) },
      nested: nested.map { RecordedFile(path: $0.path, hash: RecordedFile.hash(of: $0.bytes)) },
      directory: try? FileSystem.currentDirectory(), user: ThisProcess.userName,
      inputs: inputs.entries.map { entry in
        ReportedOutput(name: entry.name.text, value: entry.isSecret ? .none : .some(entry.value))
      },
      arguments: inputs.arguments,
      state: inputs.state.map { ReportedOutput(name: $0.name.text, value: $0.value) },
      excluded: excluded.map { plan.steps[$0].address }, rerun: rerun.addresses(in: plan),
      cookie: EngineCookie())
    opening.runner = plan.chosenRunner
    opening.numbers = plan.numbers
    self.init(
      workflow: source?.bytes, nested: nested.map(\.bytes),
      opening: opening.masked(by: secrets.mask))
  }
}

extension RunFolder {
  package static let reportName = "report.json"

  /// Whether there is a complete report.
  package var hasReport: Bool {
    guard let bytes = try? directory.bytes(of: RunFolder.reportName, limit: 1 << 30),
      bytes.last == UInt8(ascii: "\n")
    else { return false }
    let (root, diagnostics) = JSONReader.read(
      SourceFile(path: "", bytes: bytes), limits: JSONLimits(bytes: 1 << 30, problems: 1),
      beside: nil)
    return root?.kind == .object && !diagnostics.contains(where: \.isError)
  }

  /// Rebuilds the report of the last engine from the journal; `nil` if the run has not ended.
  ///
  /// - Parameter plan: The plan of the run.
  package func recordedReport(of plan: Plan) throws(RunFolderError) -> RunReport? {
    var run = RunState(reporting: plan)
    let contents = try contents { run.apply($0) }
    if let damage = contents.damage { throw .damaged(damage) }
    return run.report.flatMap { $0.end == nil ? nil : $0 }
  }

  /// Writes the report of a run whose engine ended before it could.
  ///
  /// - Parameter plan: Called only if the report is missing or damaged.
  /// - Returns: Whether it was.
  @discardableResult
  package func writeMissingReport(
    of plan: () throws(RunFolderError) -> Plan
  ) throws(RunFolderError) -> Bool {
    guard !hasReport else { return false }
    if let report = try recordedReport(of: try plan()) { try write(report) }
    return true
  }

  /// Writes the report of the ended run, in the form of the event `run.snapshot`; replaces that of a previous engine.
  package func write(_ report: RunReport) throws(RunFolderError) {
    let snapshot = RunEvent(
      sequence: 1, elapsed: report.elapsed, kind: .snapshot(report))
    let name = ".new-\(RunFolder.reportName)"
    do throws(UnsafePathError) {
      try directory.remove(name)
      try directory.write(to: name) {
        EventJSON.pass(snapshot, version: WeftVersion.current, to: $0)
      }
      try directory.rename(name, to: RunFolder.reportName)
    } catch {
      throw .place(error)
    }
  }
}

/// Reading and resuming a recorded run.
extension RunFolder {
  /// Reads a run's journal regardless of its lock. An engine may append meanwhile, so a torn end may be a record in
  /// progress.
  package static func contents(
    of run: RunID, in state: StateDirectory, limits: JournalLimits = JournalLimits(),
    visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> JournalContents {
    try state.folder(of: run).journal(of: run, limits: limits).contents(visiting: visit)
  }

  /// Reads the journal of the held run.
  package func contents(
    limits: JournalLimits = JournalLimits(), visiting visit: (RunRecord) -> Void = { _ in }
  ) throws(RunFolderError) -> JournalContents {
    try directory.journal(of: run, limits: limits).contents(visiting: visit)
  }

  /// Returns the workflow file as it was read; `nil` if there was none.
  package func workflow() throws(RunFolderError) -> [UInt8]? {
    try directory.workflowFile(RunFolder.workflowName)
  }

  /// Returns the workflow file and the files that it names, as an engine of the run read them.
  package func texts(of opening: RecordOpening) -> RecordedTexts {
    RecordedTexts(of: opening, in: directory)
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
      if let bytes = contents.workflow, (try? workflow()) != bytes {
        try RunFolder.replace(RunFolder.workflowName, by: bytes, in: directory)
      }
      guard !contents.nested.isEmpty else { return }
      let nested = try directory.directory(RunFolder.nestedFolder, makes: true)
      for (index, bytes) in contents.nested.enumerated() {
        try RunFolder.replace(RunFolder.nestedName(index), by: bytes, in: nested)
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
