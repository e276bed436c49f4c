package import WeftPlatform

/// The entry of a run in a list of runs.
public struct RunListEntry: Sendable, Hashable {
  /// The run's ID.
  public package(set) var run: RunID
  /// Its state when it was read; a run in progress goes on.
  public package(set) var state: RecordedState
  /// Whether it waits for approval no more: it was cancelled while it was suspended, and is cleaned up and ended by the
  /// engine that resumes it.
  public package(set) var isToBeCancelled = false
  /// The time at which it first began.
  public package(set) var startedAt: WallTime?
  /// The name of the user that started it, if that is recorded.
  public package(set) var user: String?
  /// The workflow's name, if it has one.
  public package(set) var workflow: String?
  /// The path of its file as given; `nil` if it had none.
  public package(set) var file: String?
  /// The inputs; only the names of secret ones.
  public package(set) var inputs: [ReportedOutput] = []
  /// The time that engines held it, up to its end or last record; `nil` while it runs.
  public package(set) var duration: Duration?
  /// The start of the current engine; `nil` if there is none.
  public package(set) var runningSince: WallTime?
  /// The numbers of steps by their outcomes, so far.
  public package(set) var counts = OutcomeCounts()
  /// The number of its steps, as far as known; `nil` if nothing is.
  public package(set) var stepCount: Int?
  /// The reason why its state is unknown, as a sentence without a full stop.
  public package(set) var damage: String?

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
    try coder.code("user", &user)
    try coder.code("workflow", &workflow)
    try coder.code("file", &file)
    try coder.codeIfAny("inputs", &inputs)
    try coder.code("durationUs", &duration)
    try coder.code("counts", &counts)
    // Only ended runs are kept, and their counts are complete.
    if Coder.isReading { stepCount = counts.done }
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
public enum RecordedState: String, Sendable, Hashable, CaseIterable {
  /// Everything succeeded or was tolerated.
  case success
  /// A failure that was not tolerated ended it.
  case failure
  /// It was cancelled, or its time limit passed.
  case cancelled
  /// Its engine has suspended it until a pending approval is answered.
  case waiting
  /// No engine holds it, and no end is recorded: the engine was killed, or the machine stopped.
  case interrupted
  /// An engine holds it.
  case running
  /// Its state cannot be determined.
  case damaged
}

/// The state of a service that has been ready, and whose end is not recorded.
package enum ReadyService: String, Sendable, Hashable {
  case ready
  /// Its engine has terminated it, because the run is suspended.
  case terminated
  /// Its engine was gone before it.
  case interrupted

  package init(in run: RecordedState) {
    self =
      switch run {
      case .running: .ready
      case .waiting, .success, .failure, .cancelled: .terminated
      case .interrupted, .damaged: .interrupted
      }
  }
}

extension RecordedState: CodedValue {
  package static var blank: RecordedState { .success }
}
