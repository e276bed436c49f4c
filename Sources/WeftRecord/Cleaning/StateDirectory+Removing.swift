package import WeftExecution
import WeftPlatform

extension StateDirectory {
  /// How many bytes the files of a run have.
  package func byteCount(of run: RunID) -> Int { runs.byteCount(of: run.text) }

  /// Takes a run's record away, if it still stands as it did: its lock is held meanwhile, and it is there whole
  /// or not at all for everybody else.
  ///
  /// - Returns: False if another process has the run, or it stands otherwise by now, or is gone.
  package func remove(_ run: RunID, standing: RunStanding) throws(RunFolderFault) -> Bool {
    do { return try removeOnce(run, standing: standing) } catch {
      // Another process has removed it meanwhile.
      if error.isAboutNothing, !runs.has(run.text) { return false }
      throw error
    }
  }

  private func removeOnce(
    _ run: RunID, standing: RunStanding
  ) throws(RunFolderFault) -> Bool {
    let folder: RunFolder
    do { folder = try RunFolder.open(run, in: self) } catch {
      switch error {
      case .held, .unknown: return false
      default: throw error
      }
    }
    guard try StateDirectory.restingState(of: run, in: folder.directory) == standing else {
      return false
    }
    let name = "\(StateDirectory.removedPrefix)\(run)-\(UInt64.random(in: 0 ... .max))"
    do { try runs.rename(run.text, to: name) } catch { throw .place(error) }
    removeFolder(name, lastOf: folder.directory)
    guard runs.has(name) else { return true }
    // The user can look at what is left, and try again, only under the name of the run.
    try? runs.rename(name, to: run.text)
    throw .place(.system("\(runs.path)/\(run)", .notPermitted))
  }

  /// Removes the folder of a run; what says which run it was comes last, and only if nothing else is left.
  private func removeFolder(_ name: String, lastOf directory: PrivateDirectory) {
    let last = [RunFolder.journalName, RunFolder.workflowName, RunFolder.lockName]
    for inner in directory.names() where !last.contains(inner) {
      try? directory.remove(inner)
      directory.removeDirectory(inner)
    }
    guard directory.names().allSatisfy(last.contains) else { return }
    // A process that looks for the lock meanwhile makes it again.
    for _ in 1...10 where runs.has(name) { runs.removeDirectory(name) }
  }

  private static let removedPrefix = ".removed-"
  /// Seconds after which a folder that was being made, and whose lock is free, has been left by a process that was killed.
  private static let abandonedSeconds: Int64 = 60

  /// Removes what processes have left that were killed while they removed a run, or made the folder of one.
  package func removeRemnants(now: WallTime) {
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
    // Without a lock it was not even begun.
    guard let lock = try? folder.file(RunFolder.lockName, .appending) else { return true }
    return (try? folder.calls.takeLock(lock)) == true
  }
}
