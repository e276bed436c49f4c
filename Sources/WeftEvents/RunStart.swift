import WeftPlatform

/// The start of a run.
public struct RunStart: Sendable, Hashable {
  public package(set) var run: RunID
  /// The workflow's name; `nil` if it has none.
  public package(set) var workflow: String?
  /// The path of the workflow file as it was given; `nil` for a workflow built in Swift.
  public package(set) var file: String?
  public package(set) var startedAt: WallTime
  public package(set) var stepCount: Int
  public package(set) var groupCount: Int
  /// The maximum number of attempts that run at once.
  public package(set) var maxParallel: Int
  /// The process that runs the engine.
  public package(set) var engineProcess: Int32
  /// The containment of the steps' processes; `nil` if the steps start none.
  public package(set) var containment: ContainmentLevel?
  /// The number of times that the run was resumed; 0 for a new run.
  public package(set) var resumption: Int

  package init(
    run: RunID, workflow: String?, file: String?, startedAt: WallTime, stepCount: Int,
    groupCount: Int, maxParallel: Int, engineProcess: Int32, containment: ContainmentLevel?,
    resumption: Int
  ) {
    self.run = run
    self.workflow = workflow
    self.file = file
    self.startedAt = startedAt
    self.stepCount = stepCount
    self.groupCount = groupCount
    self.maxParallel = maxParallel
    self.engineProcess = engineProcess
    self.containment = containment
    self.resumption = resumption
  }
}

extension RunStart: Payload {
  package static var blank: RunStart {
    RunStart(
      run: RunID(""), workflow: nil, file: nil, startedAt: .blank, stepCount: 0, groupCount: 0,
      maxParallel: 1, engineProcess: 0, containment: nil, resumption: 0)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (format, version) = (EventJSON.format, coder.version)
    var (process, level) = (Int(engineProcess), containment?.rawValue)
    try coder.code("format", &format)
    try coder.code("weft", &version)
    try coder.code("run", &run)
    try coder.code("workflow", &workflow)
    try coder.code("file", &file)
    try coder.count("steps", &stepCount, from: 0)
    try coder.count("groups", &groupCount, from: 0)
    try coder.count("maxParallel", &maxParallel)
    try coder.code("containment", &level)
    try coder.code("pid", &process)
    try coder.countIfAny("resumption", &resumption)
    guard Coder.isReading else { return }
    startedAt = coder.moment
    containment = level.flatMap { ContainmentLevel(rawValue: $0) }
    engineProcess = Int32(clamping: process)
  }
}

/// A point in time by the wall clock, which may jump: for display, never for measuring.
public struct WallTime: Sendable, Hashable {
  /// Since 1970-01-01T00:00:00Z.
  public let nanoseconds: Int64

  public init(nanoseconds: Int64) {
    self.nanoseconds = nanoseconds
  }

  /// The time after a duration; saturates at the first and last representable time.
  public func advanced(by duration: Duration) -> WallTime {
    WallTime(nanoseconds: Timestamp(nanoseconds: nanoseconds).advanced(by: duration).nanoseconds)
  }

  /// The time that has passed since another point; negative if that is later.
  package func since(_ other: WallTime) -> Duration {
    .nanoseconds(nanoseconds) - .nanoseconds(other.nanoseconds)
  }
}

extension WallTime {
  package static var now: WallTime { WallTime(nanoseconds: WallClock.now.nanoseconds) }
}

/// The identity of a run: its start time (UTC) and six random hexadecimal digits, so that ids sort by time:
/// `20261120-233012-4f2a9c`.
public struct RunID: Sendable, Hashable, CustomStringConvertible {
  public let text: String

  package init(_ text: String) {
    self.text = text
  }

  public var description: String { text }
}

extension RunID {
  /// - Parameter text: The ``text`` of an ID; the result is `nil` if it is malformed.
  public init?(validating text: String) {
    self.init(text)
    guard isWellFormed else { return nil }
  }

  /// Whether it has the form `20261120-233012-4f2a9c`, which cannot lead out of a directory.
  package var isWellFormed: Bool { RunName.isWellFormed(text) }

  /// Whether the text can be the beginning of an ID, with at least its day: fewer digits may be the name of a step.
  package static func mayBegin(_ text: String) -> Bool {
    text.utf8.count >= 8 && RunName.isBeginning(text)
  }

  /// The time at which the run began, to the second; `nil` if the ID is malformed.
  package var startedAt: WallTime? {
    guard isWellFormed else { return nil }
    let digits = text.filter { $0 != "-" }
    let part = { (from: Int, count: Int) in digits.dropFirst(from).prefix(count) }
    let day = "\(part(0, 4))-\(part(4, 2))-\(part(6, 2))"
    let time = "\(part(8, 2)):\(part(10, 2)):\(part(12, 2))"
    return WallTime(wireText: "\(day)T\(time).000Z")
  }
}

extension RunID: CodedValue {
  package static var blank: RunID { RunID("") }

  package mutating func codeValue<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var text = text
    try coder.code(&text)
    if Coder.isReading { self = RunID(text) }
  }
}

/// Output events that one subscriber missed because it did not keep up.
public struct OutputGap: Sendable, Hashable {
  /// The first and last sequence numbers of the dropped events. Events of other kinds between them are still
  /// delivered.
  public var sequences: ClosedRange<UInt64>
  /// The number of dropped events.
  public var count: Int
  /// The bytes of output in them.
  public var bytes: Int

  package init(sequences: ClosedRange<UInt64>, count: Int, bytes: Int) {
    self.sequences = sequences
    self.count = count
    self.bytes = bytes
  }
}

extension OutputGap: Payload {
  package static var blank: OutputGap { OutputGap(sequences: 0...0, count: 0, bytes: 0) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var first = Int(sequences.lowerBound)
    var last = Int(sequences.upperBound)
    try coder.count("dropped", &count, from: 0)
    try coder.code("first", &first)
    try coder.code("last", &last)
    try coder.amount("bytes", &bytes)
    guard Coder.isReading else { return }
    guard first >= 0, last >= first else { throw coder.unfit("a range of events") }
    sequences = UInt64(first)...UInt64(last)
  }
}

/// A method for finding all processes that a step has started when they are to be terminated.
///
/// The engine uses the first level that is available. The Reliability article lists what each finds and misses.
public enum ContainmentLevel: String, Sendable, Hashable, CaseIterable {
  /// Each attempt is in a control group (Linux, cgroup v2) of its own. Nothing escapes.
  case cgroup
  /// The engine's process adopts orphans (`PR_SET_CHILD_SUBREAPER`). Nothing outlives the run, but the step
  /// that started an orphan may be unknown.
  case subreaper
  /// Processes are found by session, parentage, and an environment variable. One that changes all three
  /// escapes.
  case groupAndCookie = "group+cookie"
}

/// The version of Weft.
public enum WeftVersion {
  /// Follows semver.org.
  public static let current = "0.1.0"
}
