public import WeftExecution
import WeftPlatform

/// Keeps the records of runs on disk, in the folders that the program `weft` keeps and reads: `weft runs`, `weft
/// show`, `weft approve` and `weft cancel` know of these runs too.
///
/// Each run has a folder for its owner alone, `runs/ID`, with the workflow, the journal, what steps have written,
/// and a report; the system's lock on it ends with the process.
public struct FileRunStore: RunStore {
  /// Relative to where the process stands.
  public let directory: String
  public let durability: RecordDurability

  /// - Parameters:
  ///   - directory: Made where it is missing; its last name only.
  ///   - durability: What a record survives. ``RecordDurability/power`` makes each step wait for the disk.
  public init(directory: String = ".weft", durability: RecordDurability = .process) {
    self.directory = directory
    self.durability = durability
  }

  public func begin(_ beginning: RunBeginning) throws(RunStoreFault) -> RunJournal {
    do throws(RunFolderFault) {
      let state = try StateDirectory(directory, makes: true)
      let (folder, writer) = try RunFolder.make(
        beginning.contents, in: state, durability: durability,
        startedAt: WallTime(nanoseconds: WallClock.now.nanoseconds))
      return RunJournal(.begun(folder, writer))
    } catch {
      throw RunStoreFault(error)
    }
  }

  public func take(_ run: RunID) throws(RunStoreFault) -> RunJournal {
    do throws(RunFolderFault) {
      let state = try StateDirectory(directory, makes: false)
      return RunJournal(.taken(try RunFolder.open(run, in: state), durability))
    } catch {
      throw RunStoreFault(error)
    }
  }

  /// The path from the root of the folder that a run has, or will have.
  package func folderPath(of run: RunID) -> String {
    StateDirectory.folderPath(of: run, in: directory)
  }

  /// The runs that `concurrency` keeps apart from those of this store.
  package var concurrencyPlace: ConcurrencyTurn.Place {
    get throws(RunStoreFault) {
      do { return .directory(try StateDirectory(directory, makes: true)) } catch {
        throw RunStoreFault(error)
      }
    }
  }

  public func durations(of workflow: WorkflowKey) -> [UInt8]? {
    (try? StateDirectory(directory, makes: false))?.durations(of: workflow)
  }

  public func keep(durations: [UInt8], of workflow: WorkflowKey) {
    (try? StateDirectory(directory, makes: false))?.keep(durations: durations, of: workflow)
  }
}
