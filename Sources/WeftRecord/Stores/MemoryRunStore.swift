import Synchronization
public import WeftEvents

/// Keeps runs in memory as long as the store exists: for tests, and for programs that resume runs only within their
/// own lifetime.
public final class MemoryRunStore: RunStore {
  private struct Entry {
    var bytes: [UInt8] = []
    var isHeld = true
  }

  private let entries = Mutex<[RunID: Entry]>([:])
  private let durations = Mutex<[WorkflowKey: [UInt8]]>([:])
  private let state = Mutex<[WorkflowKey: [UInt8]]>([:])

  public init() {}

  /// The runs, the oldest first.
  public var runs: [RunID] { entries.withLock { $0.keys.sorted { $0.text < $1.text } } }

  /// Returns the journal of a run as `journal.jsonl` would contain it: one JSON object per line. Empty if the run
  /// does not exist.
  public func record(of run: RunID) -> [UInt8] { entries.withLock { $0[run]?.bytes ?? [] } }

  /// Forgets a run, unless an engine holds it.
  public func forget(_ run: RunID) {
    entries.withLock { entries in
      if entries[run]?.isHeld == false { entries[run] = nil }
    }
  }

  public func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal {
    let isNew = entries.withLock { entries in
      guard entries[beginning.run] == nil else { return false }
      entries[beginning.run] = Entry()
      return true
    }
    guard isNew else { throw RunStoreError(.taken(beginning.run)) }
    return journal(of: beginning.run)
  }

  public func take(_ run: RunID) throws(RunStoreError) -> RunJournal {
    let fault = entries.withLock { entries -> RunFolderError? in
      guard let entry = entries[run] else { return .unknown(run, in: "memory") }
      if entry.isHeld { return .held(run, by: nil) }
      entries[run]?.isHeld = true
      return nil
    }
    if let fault { throw RunStoreError(fault) }
    return journal(of: run)
  }

  public func durations(of workflow: WorkflowKey) -> [UInt8]? {
    durations.withLock { $0[workflow] }
  }

  public func keep(durations bytes: [UInt8], of workflow: WorkflowKey) {
    durations.withLock { $0[workflow] = bytes }
  }

  public func state(of workflow: WorkflowKey) throws(RunStoreError) -> [UInt8]? {
    state.withLock { $0[workflow] }
  }

  public func keep(state bytes: [UInt8], of workflow: WorkflowKey) throws(RunStoreError) {
    state.withLock { $0[workflow] = bytes }
  }

  private func journal(of run: RunID) -> RunJournal {
    RunJournal(
      read: { () throws(RunStoreError) in self.record(of: run) },
      append: { line throws(RunStoreError) in
        self.entries.withLock { $0[run]?.bytes += line }
      },
      close: { self.entries.withLock { $0[run]?.isHeld = false } })
  }
}
