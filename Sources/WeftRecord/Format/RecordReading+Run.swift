import WeftDefinition
public import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform

/// Records of the start and end of runs, and of the end of groups.
extension RecordScanner {
  mutating func opening() throws(RecordFormatError) -> RecordOpening {
    try expect("format")
    let format = try int()
    try expect("weft")
    let version = try string()
    guard format <= RecordJSON.format else { throw .newerFormat(format, version: version) }
    let run = RunID(try text("run"))
    guard run.isWellFormed else { throw .unfit("a run's id") }
    try expect("resumption")
    var opening = RecordOpening(
      run: run, resumption: try countOrNone(), version: version,
      engine: ProcessIdentity(id: 0, startTicks: 0), bootID: "")
    opening.format = format
    opening.workflow = try optionalText("workflow")
    opening.file = try optionalText("file")
    opening.hash = try optionalText("sha256")
    if has("nested") { opening.nested = try nestedFiles() }
    opening.directory = try optionalText("directory")
    if has("inputs") { opening.inputs = try inputs() }
    if has("leftOut") { opening.leftOut = try steps() }
    if has("rerun") { opening.rerun = try steps() }
    opening.engine = try engine()
    opening.bootID = try text("bootId")
    if let text = try optionalText("cookie") {
      guard let cookie = EngineCookie(text) else { throw .unfit("an engine's cookie") }
      opening.cookie = cookie
    }
    return opening
  }

  mutating func steps() throws(RecordFormatError) -> [StepAddress] {
    var steps: [StepAddress] = []
    try elements { scanner throws(RecordFormatError) in steps.append(try scanner.address()) }
    return steps
  }

  /// Reads the identity of an engine, which may be process 1 in a container.
  private mutating func engine() throws(RecordFormatError) -> ProcessIdentity {
    try expect("pid")
    guard let id = Int32(exactly: try int()), id >= 1 else { throw .unfit("a process id") }
    try expect("startTicks")
    guard let ticks = UInt64(exactly: try int()) else { throw .unfit("a start of a process") }
    return ProcessIdentity(id: id, startTicks: ticks)
  }

  private mutating func nestedFiles() throws(RecordFormatError) -> [RecordedFile] {
    var files: [RecordedFile] = []
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      files.append(RecordedFile(path: try scanner.text("file"), hash: try scanner.text("sha256")))
      try scanner.endObject()
    }
    return files
  }

  private mutating func inputs() throws(RecordFormatError) -> [HandedOn] {
    var inputs: [HandedOn] = []
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      let name = try scanner.text("name")
      inputs.append(
        HandedOn(name: name, value: scanner.has("value") ? .some(try scanner.value()) : .none))
      try scanner.endObject()
    }
    return inputs
  }

  mutating func start(at moment: WallTime) throws(RecordFormatError) -> RunStart {
    try expect("format")
    _ = try int()
    _ = try text("weft")
    let run = RunID(try text("run"))
    let (workflow, file) = (try optionalText("workflow"), try optionalText("file"))
    try expect("steps")
    let steps = try countOrNone()
    try expect("groups")
    let groups = try countOrNone()
    let parallel = try count("maxParallel")
    let containment: WeftExecution.ContainmentLevel? =
      has("containment") ? WeftExecution.ContainmentLevel(rawValue: try string()) : nil
    try expect("pid")
    let process = Int32(clamping: try int())
    let resumption = has("resumption") ? try countOrNone() : 0
    return RunStart(
      run: run, workflow: workflow, file: file, startedAt: moment, stepCount: steps,
      groupCount: groups, maxParallel: parallel, engineProcess: process, containment: containment,
      resumption: resumption)
  }

  mutating func warning() throws(RecordFormatError) -> RunWarning {
    RunWarning(
      kind: try named("code"), message: try text("message"), help: try optionalText("help"))
  }

  mutating func groupEnd() throws(RecordFormatError) -> GroupEnd {
    GroupEnd(
      outcome: try named("outcome"), conclusion: try named("conclusion"),
      failure: has("failure") ? try failure() : nil, cause: has("cause") ? try address() : nil,
      attempts: try count("attempts"), winner: has("winner") ? try address() : nil,
      notStarted: has("notStarted") ? try elementsNotStarted() : nil,
      duration: try duration("durationUs"), outputs: try outputs())
  }

  private mutating func elementsNotStarted() throws(RecordFormatError) -> ElementsNotStarted {
    try begin("{")
    try expect("elements")
    let elements = try countOrNone()
    try expect("steps")
    let notStarted = ElementsNotStarted(
      elements: elements, steps: try countOrNone(), outcome: try named("outcome"))
    try endObject()
    return notStarted
  }

  mutating func runEnd() throws(RecordFormatError) -> RunEnd {
    let outcome: Outcome = try named("outcome")
    let first = has("firstFailure") ? try address() : nil
    let cancellation = has("cancellation") ? try cancelReason() : nil
    let failure = has("failure") ? try failure() : nil
    return RunEnd(
      outcome: outcome, firstFailure: first, cancellation: cancellation,
      duration: try duration("durationUs"), counts: try counts(), failure: failure,
      outputs: try outputs(), leftovers: has("leftovers") ? try processes() : [],
      unkillable: has("unkillable") ? try processes() : [])
  }

  mutating func runPause() throws(RecordFormatError) -> RunPause {
    try expect("requests")
    var requests: [ApprovalRequest] = []
    try elements { scanner throws(RecordFormatError) in
      try scanner.begin("{")
      requests.append(
        ApprovalRequest(step: try scanner.address("step"), message: try scanner.text("message")))
      try scanner.endObject()
    }
    return RunPause(
      requests: requests, duration: try duration("durationUs"), counts: try counts(),
      leftovers: has("leftovers") ? try processes() : [],
      unkillable: has("unkillable") ? try processes() : [])
  }

  private mutating func counts() throws(RecordFormatError) -> OutcomeCounts {
    try expect("counts")
    try begin("{")
    var numbers: [5 of Int] = [0, 0, 0, 0, 0]
    let keys: [5 of StaticString] = ["succeeded", "failed", "tolerated", "cancelled", "skipped"]
    for index in keys.indices {
      try expect(keys[index])
      numbers[index] = try countOrNone()
    }
    let restored = has("restored") ? try countOrNone() : 0
    let cached = has("cached") ? try countOrNone() : 0
    try endObject()
    return OutcomeCounts(
      succeeded: numbers[0], failed: numbers[1], tolerated: numbers[2], cancelled: numbers[3],
      skipped: numbers[4], restored: restored, cached: cached)
  }
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
    return Timestamp(wireText: "\(day)T\(time).000Z").map {
      WallTime(nanoseconds: $0.nanoseconds)
    }
  }
}

extension Timestamp {
  /// Parses `2026-11-20T23:36:05.123Z`; `nil` for anything else.
  init?(wireText text: String) {
    let bytes = Array(text.utf8)
    let shape = Array("dddd-dd-ddTdd:dd:dd.dddZ".utf8)
    guard bytes.count == shape.count else { return nil }
    for (byte, wanted) in zip(bytes, shape) {
      let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      guard wanted == UInt8(ascii: "d") ? isDigit : byte == wanted else { return nil }
    }
    let number = { (range: Range<Int>) in
      bytes[range].reduce(Int64(0)) { $0 * 10 + Int64($1 - UInt8(ascii: "0")) }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    // The range of nanoseconds since 1970.
    guard (1970...2261).contains(year), (1...12).contains(month), (1...31).contains(day) else {
      return nil
    }
    let days = Timestamp.days(year: year, month: month, day: day)
    let seconds = days * 86_400 + number(11..<13) * 3600 + number(14..<16) * 60 + number(17..<19)
    self.init(nanoseconds: seconds * 1_000_000_000 + number(20..<23) * 1_000_000)
  }

  /// Returns the days since 1970 (Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `days_from_civil`).
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
