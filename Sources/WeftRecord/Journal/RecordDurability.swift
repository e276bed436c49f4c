/// The failures that a run's journal survives.
public enum RecordDurability: String, Sendable, Hashable, CaseIterable {
  /// The end of the engine for any reason: written records are in the system's hands. They reach the disk within a
  /// second, and at the end of the run.
  case process
  /// Power loss, too: nothing that depends on a record starts, and no success is reported, before the record is on
  /// disk.
  case power
}
