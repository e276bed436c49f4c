import WeftDefinition
public import WeftEvents
public import WeftExecution
import WeftPlanning
package import WeftPlatform
public import WeftRecord

/// The recorded runs of a directory, whichever process runs them. All of this blocks while it reads files.
extension FileRunStore {
  /// Lists the runs, the newest first.
  ///
  /// An unreadable run is listed as ``RecordedState/damaged``; a missing directory has no runs.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of runs.
  ///   - isWanted: Whether a run is listed; called with the newest first, until there are enough.
  /// - Throws: If the directory is not safe to read: others may write to it.
  public func list(
    atMost limit: Int = .max, where isWanted: (RunListEntry) -> Bool = { _ in true }
  ) throws(RunStoreError) -> [RunListEntry] {
    try state()?.list(atMost: limit, where: isWanted) ?? []
  }

  /// Reads a recorded run, whether or not an engine holds it.
  ///
  /// - Throws: If there is no such run, or nothing of its journal can be read. A run whose journal is damaged after
  ///   its first record has ``RecordedRun/damage`` instead.
  public func recorded(_ run: RunID) throws(RunStoreError) -> RecordedRun {
    do throws(RunFolderError) {
      let state = try StateDirectory(directory, makes: false)
      return RecordedRun(try state.detail(of: run), in: state)
    } catch {
      throw RunStoreError(error)
    }
  }

  /// Follows a run of this or another process: its events as they are recorded.
  ///
  /// - Throws: If there is no such run.
  public func follow(_ run: RunID) throws(RunStoreError) -> FollowedEvents {
    do throws(RunFolderError) {
      let state = try StateDirectory(directory, makes: false)
      // A mistaken ID is reported here rather than as a run without events.
      _ = try FollowedRun(run, in: state, readsOutput: false)
      return FollowedEvents(run, in: state)
    } catch {
      throw RunStoreError(error)
    }
  }

  /// - Returns: `nil` if the directory does not exist.
  func state() throws(RunStoreError) -> StateDirectory? {
    do { return try StateDirectory(directory, makes: false) } catch {
      if case .place(let fault) = error, fault.error == .notFound { return nil }
      throw RunStoreError(error)
    }
  }
}

// MARK: Removing

/// The effects of ``FileRunStore/clean(_:isDryRun:)``.
public struct CleaningResult: Sendable {
  /// The runs that were removed, or would be; the oldest first.
  public package(set) var removed: [CleaningPolicy.Candidate] = []
  /// The runs that stay only because they could still be resumed.
  public package(set) var resumable: [CleaningPolicy.Candidate] = []
  /// The runs that could not be removed.
  public package(set) var failures: [(run: RunID, error: RunStoreError)] = []
  /// The reasons why folders that may not be runs were left alone.
  public package(set) var unknown: [String] = []
}

extension FileRunStore {
  /// Removes old runs, and what killed processes left behind while they created or removed one.
  ///
  /// A run that an engine holds is never removed, and none whose processes an engine has left behind.
  ///
  /// - Parameter isDryRun: Whether nothing is removed, and the result says only what would be.
  /// - Throws: If the directory is not safe to read. A missing directory has nothing to remove.
  public func clean(
    _ policy: CleaningPolicy, isDryRun: Bool = false
  ) throws(RunStoreError) -> CleaningResult {
    guard let state = try state() else { return CleaningResult() }
    let now = WallTime.now
    if !isDryRun {
      state.removeLeftoverFiles(now: now)
      state.removeUnusedKeys(now: now)
    }
    let all = state.newestFirst().compactMap { run in
      state.retention(of: run).map {
        CleaningPolicy.Candidate(run, $0, bytes: state.byteCount(of: run))
      }
    }
    let decision = policy.decision(on: all, now: now)
    var result = CleaningResult()
    result.resumable = decision.resumable
    // Without their journals, processes of runs could not be found any more.
    let search = decision.removed.contains { $0.retention == .unfinished } ? RunSearch() : nil
    for candidate in decision.removed {
      if candidate.retention == .unfinished, let search,
        let error = state.refusal(toRemove: candidate.run, search)
      {
        result.failures.append((candidate.run, error))
        continue
      }
      do throws(RunFolderError) {
        if !isDryRun {
          guard try state.remove(candidate.run, retention: candidate.retention) else { continue }
          if candidate.retention == .unfinished { TemporaryRemains.remove(of: candidate.run) }
        }
        result.removed.append(candidate)
      } catch {
        result.failures.append((candidate.run, RunStoreError(error)))
      }
    }
    result.unknown = all.compactMap { candidate in
      if case .unknown(let reason) = candidate.retention { reason } else { nil }
    }
    return result
  }

  /// Terminates the processes that a killed engine left behind: TERM, then KILL after a grace period. Blocks until
  /// each is dead or cannot be killed.
  ///
  /// - Throws: If there is no such run, its engine is alive, or its journal cannot be read.
  public func reap(_ run: RunID) throws(RunStoreError) -> RunOrphans {
    defer { RunSearch.clear() }
    do throws(RunFolderError) {
      return RunOrphans(try StateDirectory(directory, makes: false).reap(run))
    } catch {
      throw RunStoreError(error)
    }
  }
}

extension StateDirectory {
  /// The error for a run whose killed engines have left processes behind that are alive; `nil` if there are none.
  fileprivate func refusal(toRemove run: RunID, _ search: RunSearch) -> RunStoreError? {
    guard search.names(run.text), let recorded = try? RunFolder.contents(of: run, in: self).run
    else { return nil }
    let living = OrphanedProcesses(of: run, recorded: recorded).processes(in: search)
    if living.isEmpty { return nil }
    let named = living.prefix(3).map { "\($0.id) (\($0.command))" }.joined(separator: ", ")
    return RunStoreError(
      message: "processes of it are still running: \(named)",
      help: "\"weft reap \(run)\" ends them")
  }

  /// Terminates the processes that the killed engines of a run left behind.
  package func reap(_ run: RunID) throws(RunFolderError) -> OrphansEnd {
    let folder = try RunFolder.open(run, in: self)
    // Damage does not matter: the readable records name the engines whose processes can be identified.
    let orphans = OrphanedProcesses(of: run, recorded: try folder.contents().run)
    // No engine resumes the run meanwhile.
    return withExtendedLifetime(folder) {
      let end = orphans.end()
      if end.orphans.isEmpty { TemporaryRemains.remove(of: run) }
      return end
    }
  }
}

extension RunOrphans {
  fileprivate init(_ end: OrphansEnd) {
    self.init(
      leftovers: end.ended.map { LeftoverProcess(process: $0.id, command: $0.command) },
      unkillable: end.orphans.map { LeftoverProcess(process: $0.id, command: $0.command) })
  }
}
