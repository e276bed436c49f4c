package import WeftPlatform

/// The entry of a run in a list of runs.
package struct RunListEntry: Sendable, Hashable {
  package var run: RunID
  package var state: RecordedState
  /// The time at which it first began.
  package var startedAt: WallTime?
  /// The workflow's name, if it has one.
  package var workflow: String?
  /// The path of its file as given; `nil` if it had none.
  package var file: String?
  /// The inputs; only the names of secret ones.
  package var inputs: [ReportedOutput] = []
  /// The time that engines held it, up to its end or last record; `nil` while it runs.
  package var duration: Duration?
  /// The start of the current engine; `nil` if there is none.
  package var runningSince: WallTime?
  package var counts = OutcomeCounts()
  /// The number of its steps, as far as known; `nil` if the run has ended, since its counts are complete.
  package var stepCount: Int?
  /// The reason why its state is unknown, as a sentence without a full stop.
  package var damage: String?

  package init(_ run: RunID, _ state: RecordedState) {
    self.run = run
    self.state = state
  }

  package static func damaged(_ run: RunID, because reason: String) -> RunListEntry {
    var glance = RunListEntry(run, .damaged)
    glance.damage = reason
    return glance
  }
}

extension RunListEntry: Payload {
  package static var blank: RunListEntry { RunListEntry(RunID(""), .success) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("run", &run)
    try coder.code("state", &state)
    try coder.code("startedAt", &startedAt)
    try coder.code("workflow", &workflow)
    try coder.code("file", &file)
    try coder.codeIfAny("inputs", &inputs)
    try coder.code("durationUs", &duration)
    try coder.code("counts", &counts)
  }
}

/// The entry of an ended run as it is kept for later lists, with the properties of the journal that it was read from.
package struct KeptRunEntry: Payload {
  package var entry: RunListEntry
  private var size: Int
  private var changed: Int
  private var inode: Int

  package init(_ entry: RunListEntry, _ stamp: FileStamp) {
    self.entry = entry
    size = Int(stamp.size)
    changed = Int(stamp.changed)
    inode = Int(truncatingIfNeeded: stamp.inode)
  }

  package static let blank = KeptRunEntry(
    RunListEntry(RunID(""), .success),
    FileStamp(
      kind: .file(isExecutable: false), device: 0, inode: 0, size: 0, modified: 0, changed: 0))

  /// Parses a line; `nil` if it is not an entry.
  package init?(line: UnsafeRawBufferPointer) {
    var scanner = RecordScanner(line)
    self = .blank
    guard (try? codeValue(&scanner)) != nil else { return nil }
  }

  package func isOf(_ stamp: FileStamp) -> Bool {
    size == stamp.size && changed == stamp.changed && inode == Int(truncatingIfNeeded: stamp.inode)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("size", &size)
    try coder.code("changed", &changed)
    try coder.code("inode", &inode)
    try entry.code(&coder)
  }
}

extension RecordedState {
  package init(_ outcome: Outcome) {
    switch outcome {
    case .success: self = .success
    case .failure: self = .failure
    case .cancelled, .skipped: self = .cancelled
    }
  }
}

/// The state of a recorded run.
package enum RecordedState: String, CodedValue, CaseIterable {
  case success
  case failure
  case cancelled
  /// Its engine has suspended it until a pending approval is answered.
  case waiting
  /// No engine holds it, and no end is recorded: the engine was killed, or the machine stopped.
  case interrupted
  /// An engine holds it.
  case running
  /// Its state cannot be determined.
  case damaged

  package static var blank: RecordedState { .success }
}
