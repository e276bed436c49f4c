import Synchronization
public import WeftExecution

/// Keeps the records of runs as long as the store itself is there, and nothing on disk: for tests, and for
/// programs that go on with runs without outliving them.
public final class MemoryRunStore: RunStore {
  private struct Entry {
    var bytes: [UInt8] = []
    var isHeld = true
  }

  private let entries = Mutex<[RunID: Entry]>([:])
  private let durations = Mutex<[WorkflowKey: [UInt8]]>([:])

  public init() {}

  /// The runs that there are, the oldest first.
  public var runs: [RunID] { entries.withLock { $0.keys.sorted { $0.text < $1.text } } }

  /// The record of a run as `journal.jsonl` would hold it: one JSON object a line. Empty if there is no such run.
  public func record(of run: RunID) -> [UInt8] { entries.withLock { $0[run]?.bytes ?? [] } }

  /// Forgets a run; nothing of one that an engine has.
  public func forget(_ run: RunID) {
    entries.withLock { entries in
      if entries[run]?.isHeld == false { entries[run] = nil }
    }
  }

  public func begin(_ beginning: RunBeginning) throws(RunStoreFault) -> RunJournal {
    let isNew = entries.withLock { entries in
      guard entries[beginning.run] == nil else { return false }
      entries[beginning.run] = Entry()
      return true
    }
    guard isNew else { throw RunStoreFault(.taken(beginning.run)) }
    return journal(of: beginning.run)
  }

  public func take(_ run: RunID) throws(RunStoreFault) -> RunJournal {
    let fault = entries.withLock { entries -> RunFolderFault? in
      guard let entry = entries[run] else { return .unknown(run, in: "memory") }
      if entry.isHeld { return .held(run, by: nil) }
      entries[run]?.isHeld = true
      return nil
    }
    if let fault { throw RunStoreFault(fault) }
    return journal(of: run)
  }

  public func durations(of workflow: WorkflowKey) -> [UInt8]? {
    durations.withLock { $0[workflow] }
  }

  public func keep(durations bytes: [UInt8], of workflow: WorkflowKey) {
    durations.withLock { $0[workflow] = bytes }
  }

  private func journal(of run: RunID) -> RunJournal {
    RunJournal(
      read: { () throws(RunStoreFault) in self.record(of: run) },
      append: { line throws(RunStoreFault) in
        self.entries.withLock { $0[run]?.bytes += line }
      },
      close: { self.entries.withLock { $0[run]?.isHeld = false } })
  }
}
