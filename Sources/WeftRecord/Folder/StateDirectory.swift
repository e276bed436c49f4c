import WeftEncoding
package import WeftEvents
package import WeftPlatform

/// The directory for recorded runs: `.weft`, with a folder for each run in `runs`.
package struct StateDirectory: Sendable {
  package let path: String
  /// The absolute path, resolved when this was opened.
  package let absolutePath: String
  let directory: PrivateDirectory
  let runs: PrivateDirectory

  /// The environment variable that sets it.
  package static let variable = "WEFT_DIR"
  /// The default name, in the working directory.
  package static let defaultName = ".weft"

  /// Opens the directory; creates it if it is missing and `makes` is true.
  package init(
    _ path: String, makes: Bool, calls: FileCalls = .system
  ) throws(RunFolderError) {
    self.path = path
    absolutePath = StateDirectory.absolute(path)
    do {
      let state = try PrivateDirectory.at(path, makes: makes, calls: calls)
      directory = state
      runs = try state.directory("runs", makes: makes)
      if makes { try StateDirectory.hideFromVersionControl(state) }
    } catch {
      throw .place(error)
    }
  }

  /// Keeps version control and other tools from treating journals as sources.
  private static func hideFromVersionControl(_ state: PrivateDirectory) throws(UnsafePathError) {
    guard !state.has(".gitignore") else { return }
    do throws(UnsafePathError) {
      try state.write(Array("*\n".utf8), to: ".gitignore", surviving: false)
    } catch {
      // A run that was started at the same moment has created it.
      if error.error != .alreadyExists { throw error }
    }
  }

  /// Returns the absolute path of a state directory, which need not exist.
  package static func absolute(_ path: String) -> String {
    guard !path.hasPrefix("/"), let current = try? FileSystem.currentDirectory() else {
      return path
    }
    return current == "/" ? "/" + path : "\(current)/\(path)"
  }

  /// Returns the absolute path of the folder of a run in a state directory; neither need exist.
  package static func folderPath(of run: RunID, in path: String) -> String {
    "\(absolute(path))/runs/\(run)"
  }

  /// Returns the absolute path of the folder of a run, which need not exist.
  package func folderPath(of run: RunID) -> String { "\(absolutePath)/runs/\(run)" }

  /// The existing runs, the oldest first; runs that began in the same second are in no particular order.
  package var ids: [RunID] {
    runs.names().map { RunID($0) }.filter(\.isWellFormed)
  }

  func folder(of run: RunID) throws(RunFolderError) -> PrivateDirectory {
    guard run.isWellFormed else { throw .unknown(run, in: path) }
    do { return try runs.directory(run.text, makes: false) } catch {
      throw error.error == .notFound ? .unknown(run, in: path) : .place(error)
    }
  }
}

extension StateDirectory {
  /// Returns the runs, the newest first. IDs contain the second in which a run began; only runs that began in the
  /// same second are compared by their journals.
  ///
  /// - Parameter limit: The maximum number of runs.
  package func newestFirst(atMost limit: Int = .max) -> [RunID] {
    var rest = ids[...]
    var runs: [RunID] = []
    while let last = rest.last, runs.count < limit {
      let alike = rest.suffix(while: { $0.second.elementsEqual(last.second) })
      rest = rest.dropLast(alike.count)
      if alike.count == 1 { runs.append(last) } else { runs += ordered(alike) }
    }
    return Array(runs.prefix(limit))
  }

  private func ordered(_ runs: ArraySlice<RunID>) -> [RunID] {
    let known = runs.map { (run: $0, began: beginning(of: $0) ?? 0) }
    return known.sorted { ($0.began, $0.run.text) > ($1.began, $1.run.text) }.map(\.run)
  }

  /// Returns nanoseconds since 1970.
  private func beginning(of run: RunID) -> Int64? {
    (try? folder(of: run).journal(of: run).ends())?.startedAt?.nanoseconds
  }
}

extension RunID {
  fileprivate var second: Substring.UTF8View { text.utf8.prefix(15) }
}

extension ArraySlice {
  /// Returns the longest suffix whose elements all satisfy the condition.
  fileprivate func suffix(while isWanted: (Element) -> Bool) -> ArraySlice {
    var start = endIndex
    while start > startIndex, isWanted(self[start - 1]) { start -= 1 }
    return self[start...]
  }
}

/// Step durations of earlier runs, in one file per workflow: `durations/1/HASH`.
///
/// They are derived from runs and never trusted: a missing, damaged, oversized or foreign file counts as empty, and a
/// failed write is ignored. Files are replaced by renaming. If two runs of a workflow end at the same time, only the
/// later one's measurements may be kept.
extension StateDirectory {
  func durations(of workflow: WorkflowKey) -> [UInt8]? {
    durationFolder(makes: false)?.read(fileName(of: workflow), limit: StateDirectory.durationBytes)
  }

  func keep(durations bytes: [UInt8], of workflow: WorkflowKey) {
    guard bytes.count <= StateDirectory.durationBytes, let folder = durationFolder(makes: true)
    else { return }
    let name = fileName(of: workflow)
    if !folder.has(name) { makeRoom(in: folder) }
    try? folder.replace(name, with: bytes)
  }

  /// Keeps the number of workflows bounded by removing those that ran longest ago.
  private func makeRoom(in folder: PrivateFolder) {
    let hourAgo = WallClock.now.nanoseconds / 1_000_000_000 - 3600
    folder.removeUnfinished(in: StateDirectory.durationPart, before: hourAgo)
    let known = folder.entries(in: StateDirectory.durationPart)
    guard known.count >= StateDirectory.workflowLimit else { return }
    let oldest = known.sorted { $0.lastUse < $1.lastUse }
    for entry in oldest.prefix(known.count - StateDirectory.workflowLimit + 1) {
      folder.remove(entry.name)
    }
  }

  private func durationFolder(makes: Bool) -> PrivateFolder? {
    (try? directory.directory("durations", makes: makes)).map(PrivateFolder.init)
  }

  /// Returns the name of a workflow's files in a state directory.
  static func hash(of workflow: WorkflowKey, in path: String) -> String {
    SHA256.text(of: SHA256.digest(of: Array(workflow.text(storedIn: path).utf8)))
  }

  private func fileName(of workflow: WorkflowKey) -> String {
    "\(StateDirectory.durationPart)/\(StateDirectory.hash(of: workflow, in: path))"
  }

  /// The version of the format.
  private static let durationPart = "1"
  /// The maximum number of workflows.
  static let workflowLimit = 200
  /// Enough for more than 400,000 steps.
  static let durationBytes = 32 << 20
}

extension StateDirectory {
  /// Returns the size of a run's files in bytes.
  package func byteCount(of run: RunID) -> Int { runs.byteCount(of: run.text) }

  /// Removes the files of a run if its standing has not changed. Holds its lock meanwhile; for other processes, the
  /// run exists completely or not at all.
  ///
  /// - Returns: False if another process holds the run, its standing has changed, or it no longer exists.
  package func remove(_ run: RunID, retention: RunRetention) throws(RunFolderError) -> Bool {
    do { return try removeOnce(run, retention: retention) } catch {
      // Another process has removed it meanwhile.
      if error.concernsMissingRun, !runs.has(run.text) { return false }
      throw error
    }
  }

  private func removeOnce(
    _ run: RunID, retention: RunRetention
  ) throws(RunFolderError) -> Bool {
    let folder: RunFolder
    do { folder = try RunFolder.open(run, in: self) } catch {
      switch error {
      case .held, .unknown: return false
      default: throw error
      }
    }
    guard try StateDirectory.idleState(of: run, in: folder.directory) == retention else {
      return false
    }
    let name = "\(StateDirectory.removedPrefix)\(run)-\(UInt64.random(in: 0 ... .max))"
    do { try runs.rename(run.text, to: name) } catch { throw .place(error) }
    removeFolder(name, lastOf: folder.directory)
    guard runs.has(name) else { return true }
    // Only under the name of the run can the user inspect the rest and retry.
    try? runs.rename(name, to: run.text)
    throw .place(.system("\(runs.path)/\(run)", .notPermitted))
  }

  /// Removes the folder of a run. The files that identify the run are removed last, and only if nothing else is left.
  private func removeFolder(_ name: String, lastOf directory: PrivateDirectory) {
    let last = [RunFolder.journalName, RunFolder.workflowName, RunFolder.lockName]
    for inner in directory.names() where !last.contains(inner) {
      try? directory.remove(inner)
      directory.removeDirectory(inner)
    }
    guard directory.names().allSatisfy(last.contains) else { return }
    // A process that looks for the lock meanwhile creates it again.
    for _ in 1...10 where runs.has(name) { runs.removeDirectory(name) }
  }

  private static let removedPrefix = ".removed-"
  /// The seconds after which an unfinished folder whose lock is free counts as left by a killed process.
  private static let abandonedSeconds: Int64 = 60

  /// Removes what killed processes left while removing a run or creating its folder.
  package func removeLeftoverFiles(now: WallTime) {
    for name in runs.names() {
      if name.hasPrefix(StateDirectory.removedPrefix)
        || name.hasPrefix(RunFolder.unfinishedPrefix) && isAbandoned(name, now)
      {
        runs.removeDirectory(name)
      }
    }
  }

  private func isAbandoned(_ name: String, _ now: WallTime) -> Bool {
    guard let folder = try? runs.directory(name, makes: false),
      let changed = folder.changedSecond,
      changed < now.nanoseconds / 1_000_000_000 - StateDirectory.abandonedSeconds
    else { return false }
    // Without a lock file, its creation had hardly begun.
    guard let lock = try? folder.file(RunFolder.lockName, .appending) else { return true }
    return (try? folder.calls.takeLock(lock)) == true
  }
}
