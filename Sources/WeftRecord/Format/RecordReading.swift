import WeftDefinition
package import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Parses records: the members that ``RecordJSON`` writes, in the same order.
package enum RecordReading {
  /// - Parameter line: The line without its newline, with a verified checksum.
  package static func record(_ line: UnsafeRawBufferPointer) throws(RecordFormatError) -> RunRecord
  {
    var scanner = RecordScanner(line)
    try scanner.begin("{")
    try scanner.expect("n")
    let number = try scanner.int()
    guard number > 0 else { throw .unfit("a number below 1") }
    try scanner.expect("at")
    let moment = try scanner.moment()
    try scanner.expect("type")
    let kind = try scanner.kind(try scanner.string(), at: moment)
    try scanner.endObject()
    return RunRecord(number: UInt64(number), at: moment, kind)
  }
}

extension RecordScanner {
  mutating func kind(
    _ type: String, at moment: WallTime
  ) throws(RecordFormatError) -> RunRecord.Kind {
    switch type {
    case "step.queued": .event(.stepQueued(try address("step"), waitingFor: try pools()))
    case "step.started": .event(.stepStarted(try address("step"), attempt: try count("attempt")))
    case "step.asking":
      .event(.stepAsking(try address("step"), message: try text("message")))
    case "step.spawned":
      .spawned(try address("step"), attempt: try count("attempt"), try identity())
    case "step.kept": .kept(try address("step"), attempt: try count("attempt"))
    case "step.finished": try finished()
    case "step.cached": try cached()
    case "step.restored": try restored()
    case "step.skipped": .event(.stepSkipped(try address("step"), try skipReason()))
    case "step.retrying": .event(.stepRetrying(try address("step"), try retry()))
    case "step.waiting": try waiting()
    case "group.started": try groupStarted()
    case "steps.outdated": try outdated()
    case "group.listed": .listed(try address("group"), try elements())
    case "group.skipped": .groupSkipped(try address("group"), try skipReason())
    case "group.retrying": .event(.groupRetrying(try address("group"), try retry()))
    case "group.finished": .event(.groupFinished(try address("group"), try groupEnd()))
    case "run.started": .event(.runStarted(try start(at: moment)))
    case "run.warning": .event(.runWarning(try warning()))
    case "run.cancelling":
      .event(.runCancelling(try cancelReason("reason")))
    case "run.finished": .event(.runFinished(try runEnd()))
    case "run.waiting": .event(.runWaiting(try runPause()))
    case "record.opened": .opened(try opening())
    default: throw .unknownType(type)
    }
  }

  // MARK: Steps

  private mutating func pools() throws(RecordFormatError) -> [PoolRequest] {
    guard has("waitingFor") else { return [] }
    var pools: [PoolRequest] = []
    try members { scanner, name throws(RecordFormatError) in
      pools.append(PoolRequest(name, slots: try scanner.int()))
    }
    return pools
  }

  private mutating func finished() throws(RecordFormatError) -> RunRecord.Kind {
    let step = try address("step")
    var draft = StepEndDraft()
    let end = try stepEnd(&draft)
    return .finished(step, end, draft.kept)
  }

  private mutating func cached() throws(RecordFormatError) -> RunRecord.Kind {
    let step = try address("step")
    var draft = StepEndDraft()
    let end = try stepEnd(&draft)
    return .cached(step, end, draft.kept)
  }

  private mutating func restored() throws(RecordFormatError) -> RunRecord.Kind {
    let step = try address("step")
    var draft = StepEndDraft()
    return .event(.stepRestored(step, try stepEnd(&draft)))
  }

  private mutating func waiting() throws(RecordFormatError) -> RunRecord.Kind {
    let step = try address("step")
    try expect("untilNs")
    return .waiting(step, until: WallTime(nanoseconds: Int64(try int())))
  }

  mutating func identity() throws(RecordFormatError) -> ProcessIdentity {
    try expect("pid")
    // No step is process 1, and a signal to an id below that reaches many processes (kill(2)).
    guard let id = Int32(exactly: try int()), id > 1 else { throw .unfit("a process id") }
    try expect("startTicks")
    guard let ticks = UInt64(exactly: try int()) else { throw .unfit("a start of a process") }
    return ProcessIdentity(id: id, startTicks: ticks)
  }

  private mutating func outdated() throws(RecordFormatError) -> RunRecord.Kind {
    guard has("steps") else { throw .unfit("outdated steps") }
    return .outdated(try steps())
  }

  // MARK: Groups

  private mutating func groupStarted() throws(RecordFormatError) -> RunRecord.Kind {
    let group = try address("group")
    let attempt = try count("attempt")
    let elements = has("elements") ? try countOrNone() : nil
    let isRestored = has("restored") ? try bool() : false
    return .event(
      .groupStarted(
        group, GroupStart(attempt: attempt, elements: elements, isRestored: isRestored)))
  }

  private mutating func elements() throws(RecordFormatError) -> RecordedElements {
    let isSecret = has("secret") ? try bool() : false
    var listed: [RecordedElements.Element] = []
    try expect("elements")
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      try scanner.expect("key")
      let key = try scanner.string()
      // A literal `nil` would be JSON's null.
      let value: JSONValue? = scanner.has("value") ? .some(try scanner.value()) : .none
      try scanner.endObject()
      listed.append(RecordedElements.Element(key: key, value: value))
    }
    return RecordedElements(elements: listed, isSecret: isSecret)
  }

  // MARK: Common members

  /// The maximum length of an address.
  private static let addressBytes = 64 << 10

  mutating func address(_ key: StaticString) throws(RecordFormatError) -> StepAddress {
    try expect(key)
    return try address()
  }

  mutating func address() throws(RecordFormatError) -> StepAddress {
    let text = try string()
    let address = StepAddress(text)
    guard text.utf8.count <= RecordScanner.addressBytes, address.isCanonical else {
      throw .unfit("a step's name")
    }
    return address
  }

  /// The maximum number of steps, elements, attempts or resumptions in a record. Keeps sums and increments within the
  /// range of `Int`.
  static let countLimit = Int(Int32.max)
  /// The maximum number of bytes, page faults and the like.
  private static let amountLimit = 1 << 60

  /// Reads a number of at least 1.
  mutating func count(_ key: StaticString) throws(RecordFormatError) -> Int {
    try expect(key)
    let count = try countOrNone()
    guard count >= 1 else { throw .unfit("a count") }
    return count
  }

  /// Reads a number of at least 0.
  mutating func countOrNone() throws(RecordFormatError) -> Int {
    try int(in: 0...RecordScanner.countLimit, "a count")
  }

  /// Reads an amount, such as a number of bytes.
  mutating func amount() throws(RecordFormatError) -> Int {
    try int(in: 0...RecordScanner.amountLimit, "an amount")
  }

  mutating func int(
    in range: ClosedRange<Int>, _ what: String
  ) throws(RecordFormatError) -> Int {
    let number = try int()
    guard range.contains(number) else { throw .unfit(what) }
    return number
  }

  mutating func duration(_ key: StaticString) throws(RecordFormatError) -> Duration {
    try expect(key)
    return try duration()
  }

  /// Reads microseconds.
  mutating func duration() throws(RecordFormatError) -> Duration {
    .microseconds(try int(in: 0 ... .max, "a duration"))
  }

  mutating func text(_ key: StaticString) throws(RecordFormatError) -> String {
    try expect(key)
    return try string()
  }

  mutating func optionalText(_ key: StaticString) throws(RecordFormatError) -> String? {
    has(key) ? try string() : nil
  }

  mutating func named<Value: RawRepresentable<String>>(
    _ key: StaticString, _ type: Value.Type = Value.self
  ) throws(RecordFormatError) -> Value {
    try expect(key)
    let name = try string()
    guard let value = Value(rawValue: name) else { throw .unfit("\"\(name)\"") }
    return value
  }

  /// Reads RFC 3339 with milliseconds, in UTC, as ``WireClock`` writes it.
  mutating func moment() throws(RecordFormatError) -> WallTime {
    guard let moment = Timestamp(wireText: try string()) else { throw .unfit("a time") }
    return WallTime(nanoseconds: moment.nanoseconds)
  }
}
