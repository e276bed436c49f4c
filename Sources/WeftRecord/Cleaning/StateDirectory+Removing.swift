package import WeftEvents
import WeftPlatform

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
