public import WeftEvents
import WeftExecution
import WeftPlatform

/// Keeps runs on disk, in the folders of the program `weft`: `weft runs`, `weft show`, `weft approve` and
/// `weft cancel` work with these runs, too.
///
/// Each run has a private folder `runs/ID` with the workflow, the journal, the logs and a report. The system's lock
/// on it ends with the process.
public struct FileRunStore: RunStore {
  /// Relative to the working directory.
  public let directory: String
  public let durability: RecordDurability

  /// - Parameters:
  ///   - directory: Created if missing, but not its parents.
  ///   - durability: The failures that journals survive. ``RecordDurability/power`` makes each step wait for the
  ///     disk.
  public init(directory: String = ".weft", durability: RecordDurability = .process) {
    self.directory = directory
    self.durability = durability
  }

  public func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal {
    do throws(RunFolderError) {
      let state = try StateDirectory(directory, makes: true)
      let (folder, writer) = try RunFolder.make(
        beginning.contents, in: state, durability: durability, startedAt: .now)
      return RunJournal(.begun(folder, writer))
    } catch {
      throw RunStoreError(error)
    }
  }

  public func take(_ run: RunID) throws(RunStoreError) -> RunJournal {
    do throws(RunFolderError) {
      let state = try StateDirectory(directory, makes: false)
      return RunJournal(.taken(try RunFolder.open(run, in: state), durability))
    } catch {
      throw RunStoreError(error)
    }
  }

  /// Returns the absolute path of the folder of a run, which need not exist.
  package func folderPath(of run: RunID) -> String {
    StateDirectory.folderPath(of: run, in: directory)
  }

  /// The runs that exclude those of this store by `concurrency` keys.
  package var concurrencyPlace: ConcurrencyTurn.Place {
    get throws(RunStoreError) {
      do { return .directory(try StateDirectory(directory, makes: true)) } catch {
        throw RunStoreError(error)
      }
    }
  }

  public func durations(of workflow: WorkflowKey) -> [UInt8]? {
    (try? StateDirectory(directory, makes: false))?.durations(of: workflow)
  }

  public func keep(durations: [UInt8], of workflow: WorkflowKey) {
    (try? StateDirectory(directory, makes: false))?.keep(durations: durations, of: workflow)
  }

  public func state(of workflow: WorkflowKey) throws(RunStoreError) -> [UInt8]? {
    do throws(RunFolderError) {
      return try StateDirectory(directory, makes: false).state(of: workflow)
    } catch {
      if case .place(let place) = error, place.error == .notFound { return nil }
      throw RunStoreError(error)
    }
  }

  public func keep(state: [UInt8], of workflow: WorkflowKey) throws(RunStoreError) {
    do throws(RunFolderError) {
      try StateDirectory(directory, makes: true).keep(state: state, of: workflow)
    } catch {
      throw RunStoreError(error)
    }
  }

  /// Returns the path of the file with a workflow's state, which need not exist.
  package func statePath(of workflow: WorkflowKey) -> String {
    StateDirectory.statePath(of: workflow, in: directory)
  }
}

/// The failures that a run's journal survives.
public enum RecordDurability: String, Sendable, Hashable, CaseIterable {
  /// The end of the engine for any reason: written records are in the system's hands. They reach the disk within a
  /// second, and at the end of the run.
  case process
  /// Power loss, too: nothing that depends on a record starts, and no success is reported, before the record is on
  /// disk.
  case power
}
