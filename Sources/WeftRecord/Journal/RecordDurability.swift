/// What a run's record survives.
public enum RecordDurability: String, Sendable, Hashable, CaseIterable {
  /// The end of the engine, whatever ends it: what has been written is the system's to keep. It is on the disk
  /// within a second, and at the end of the run.
  case process
  /// The loss of power too: nothing that depends on a record begins, and no success is told, before the record
  /// is on the disk.
  case power
}
