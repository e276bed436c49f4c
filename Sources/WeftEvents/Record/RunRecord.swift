package import WeftDefinition
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// One record of a run's journal, written before the engine acts on it. The records are all events except output, and
/// what another engine needs in order to resume the run.
package struct RunRecord: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// An engine started the run, or resumed it. Always the first record of an engine.
    indirect case opened(RecordOpening)
    /// An event, as subscribers get it. The end of a step has the values that expressions read of it, so that both are
    /// recorded together or not at all.
    case event(RunEvent.Kind, keeping: RecordedValues = RecordedValues())
    /// The program of the attempt was spawned.
    case spawned(StepAddress, attempt: Int, ProcessIdentity)
    /// The program of the attempt ended, and its leftover processes are allowed to stay.
    case kept(StepAddress, attempt: Int)
    /// The elements of a loop, as its expressions evaluated to them.
    indirect case listed(StepAddress, RecordedElements)
    /// A group that an earlier engine started is skipped by this one; subscribers learn that from its members.
    case groupSkipped(StepAddress, SkipReason)
    /// The records of these steps no longer count: the run ended, and a group around them was skipped as a whole, or
    /// tried again without reaching them.
    indirect case outdated([StepAddress])
    /// The step waits until that moment, under any engine.
    case waiting(StepAddress, until: WallTime)
  }

  /// Counts from 1, without gaps, across all engines of the run.
  package var number: UInt64
  /// The wall clock at the engine's start, advanced by a monotonic clock; in whole milliseconds once it was read
  /// back.
  package var at: WallTime
  package var kind: Kind

  package init(number: UInt64, at: WallTime, _ kind: Kind) {
    self.number = number
    self.at = at
    self.kind = kind
  }
}

extension RunRecord.Kind {
  /// Whether the action that the record announces must not start before it is written.
  package var announcesAct: Bool {
    switch self {
    case .opened, .listed, .waiting: true
    case .event(let event, _): event.traits.announcesAct
    case .spawned, .kept, .groupSkipped, .outdated: false
    }
  }

  /// Whether its consequences must not be visible before the record is durable.
  package var isDecisive: Bool {
    switch self {
    case .opened, .listed, .waiting: true
    case .event(let event, _): event.traits.isDecisive
    case .spawned, .kept, .groupSkipped, .outdated: false
    }
  }

  /// The step that the record is about.
  package var step: StepAddress? {
    switch self {
    case .spawned(let step, _, _), .kept(let step, _), .waiting(let step, _): step
    case .event(let event, _): event.step
    case .opened, .listed, .groupSkipped, .outdated: nil
    }
  }

  /// The record's `type`.
  package var type: String {
    switch self {
    case .opened: "record.opened"
    case .event(let event, _): event.traits.type
    case .spawned: "step.spawned"
    case .kept: "step.kept"
    case .listed: "group.listed"
    case .groupSkipped: "group.skipped"
    case .outdated: "steps.outdated"
    case .waiting: "step.waiting"
    }
  }

  /// Whether readers know records of this type.
  package static func isReadable(_ type: String) -> Bool { blanks[type] != nil }

  /// One record of each type that a journal may have, which a reader replaces.
  fileprivate static let blanks: [String: RunRecord.Kind] = {
    let events = RunEvent.Kind.blanks.filter { event in
      if case .stepRestored = event { true } else { event.traits.isJournaled }
    }
    let others: [RunRecord.Kind] = [
      .opened(.blank), .spawned(.blank, attempt: 1, ProcessIdentity(id: 0, startTicks: 0)),
      .kept(.blank, attempt: 1), .listed(.blank, .blank), .groupSkipped(.blank, .blank),
      .outdated([]), .waiting(.blank, until: .blank),
    ]
    return Dictionary(
      uniqueKeysWithValues: (events.map { RunRecord.Kind.event($0) } + others).map { ($0.type, $0) }
    )
  }()
}

extension RunRecord.Kind: Payload {
  package static var blank: RunRecord.Kind { .event(.blank) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    switch self {
    case .opened(var opening):
      try opening.code(&coder)
      if Coder.isReading { self = .opened(opening) }
    case .event(var event, var values):
      try event.code(&coder)
      switch event {
      case .stepFinished, .stepCached, .stepReady:
        if coder.member("kept", isPresent: !values.isEmpty) { try values.codeValue(&coder) }
      default: break
      }
      if Coder.isReading { self = .event(event, keeping: values) }
    case .spawned(var step, var attempt, var process):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      // No step is process 1, and a signal to an id below that reaches many processes (kill(2)).
      try coder.identity(&process, from: 2)
      if Coder.isReading { self = .spawned(step, attempt: attempt, process) }
    case .kept(var step, var attempt):
      try coder.code("step", &step)
      try coder.count("attempt", &attempt)
      if Coder.isReading { self = .kept(step, attempt: attempt) }
    case .listed(var group, var elements):
      if try coder.code("group", &group, &elements) { self = .listed(group, elements) }
    case .groupSkipped(var group, var reason):
      if try coder.code("group", &group, &reason) { self = .groupSkipped(group, reason) }
    case .outdated(var steps):
      try coder.code("steps", &steps)
      if Coder.isReading { self = .outdated(steps) }
    case .waiting(var step, let moment):
      var nanoseconds = Int(moment.nanoseconds)
      try coder.code("step", &step)
      try coder.code("untilNs", &nanoseconds)
      if Coder.isReading {
        self = .waiting(step, until: WallTime(nanoseconds: Int64(nanoseconds)))
      }
    }
  }
}

extension RunRecord {
  /// Parses the line of a journal.
  ///
  /// - Parameter line: The line without its newline, with a verified checksum.
  package init(line: UnsafeRawBufferPointer) throws(RecordFormatError) {
    var scanner = RecordScanner(line)
    var (number, moment, type) = (0, WallTime.blank, "")
    try scanner.beginObject()
    try scanner.code("n", &number)
    guard number > 0 else { throw .unfit("a number below 1") }
    try scanner.code("at", &moment)
    scanner.moment = moment
    try scanner.code("type", &type)
    guard var kind = RunRecord.Kind.blanks[type] else { throw .unknownType(type) }
    try kind.code(&scanner)
    try scanner.endObject()
    self.init(number: UInt64(number), at: moment, kind)
  }
}

/// The first record of an engine: the engine, and the run that it starts or resumes.
package struct RecordOpening: Sendable, Hashable {
  /// The version of the journal format. It grows when a reader of the old format would misunderstand the new one.
  ///
  /// Since 2, `[`, `]` and `\` in the keys of elements, and white space at their ends, are escaped in addresses, and
  /// there are records of skipped groups and of steps to rerun.
  package static let currentFormat = 2

  package var run: RunID
  /// The number of times the run was resumed; 0 for its first engine.
  package var resumption: Int
  /// The format of the engine's records.
  package var format = RecordOpening.currentFormat
  /// The version of the Weft that writes them.
  package var version: String
  package var workflow: String?
  /// The path of the workflow file as given; `nil` for a workflow built in Swift.
  package var file: String?
  /// SHA-256 of the file's bytes, in hexadecimal digits; `nil` for a workflow built in Swift.
  package var hash: String?
  /// The nested workflow files, at any depth, then script files.
  package var nested: [RecordedFile]
  /// The numbers of the workflow's steps without an id.
  package var numbers = StepNumbers()
  /// The directory that relative paths are relative to.
  package var directory: String?
  /// The name of the user that started the engine; `nil` in records of a Weft that did not record it.
  package var user: String?
  /// The given inputs and the defaults; for secret inputs, only the names.
  package var inputs: [ReportedOutput]
  /// The value of `run.args`; empty if it is withheld.
  package var arguments: [String]
  /// The state of the workflow when the run began.
  package var state: [ReportedOutput]
  /// Whether the value of `run.args` contains a secret, and is not recorded.
  package var withholdsArguments = false
  /// The runner that the caller chose for the commands of the run; `nil` if the workflow decides.
  package var runner: String?
  /// The effect of a failure and the time limit that the caller chose; `nil` if the workflow decides.
  package var onFailure: FailureResponse?
  package var timeout: Duration?
  /// The steps that the caller excluded from the run.
  package var excluded: [StepAddress]
  /// The steps to rerun though they are recorded as done, by this engine and all later ones: steps of the plan, for
  /// all elements of a loop, and steps of single elements.
  package var rerun: [StepAddress]
  /// The process of the engine.
  package var engine: ProcessIdentity
  /// Identifies the boot of the machine to which process ids and start ticks refer.
  package var bootID: String
  /// Identifies the programs that the engine spawns; `nil` in records of a Weft without cookies.
  package var cookie: EngineCookie?
  /// The span of the run under the engine; `nil` if it is not traced.
  package var trace: TraceContext?

  package init(
    run: RunID, resumption: Int = 0, version: String = WeftVersion.current, workflow: String? = nil,
    file: String? = nil, hash: String? = nil, nested: [RecordedFile] = [], directory: String? = nil,
    user: String? = nil, inputs: [ReportedOutput] = [], arguments: [String] = [],
    state: [ReportedOutput] = [], excluded: [StepAddress] = [], rerun: [StepAddress] = [],
    engine: ProcessIdentity = ThisProcess.identity,
    bootID: String = Machine.bootID, cookie: EngineCookie? = nil
  ) {
    self.run = run
    self.resumption = resumption
    self.version = version
    self.workflow = workflow
    self.file = file
    self.hash = hash
    self.nested = nested
    self.directory = directory
    self.user = user
    self.inputs = inputs
    self.arguments = arguments
    self.state = state
    self.excluded = excluded
    self.rerun = rerun
    self.engine = engine
    self.bootID = bootID
    self.cookie = cookie
  }
}

extension RecordOpening: Payload {
  package static var blank: RecordOpening {
    RecordOpening(
      run: .blank, version: "", engine: ProcessIdentity(id: 0, startTicks: 0), bootID: "")
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var (format, cookieText) = (RecordOpening.currentFormat, cookie?.text)
    var traceText = trace?.parent
    try coder.code("format", &format)
    try coder.code("weft", &version)
    if Coder.isReading, format > RecordOpening.currentFormat {
      throw coder.failure(.newerFormat(format, version: version))
    }
    try coder.code("run", &run)
    if Coder.isReading, !run.isWellFormed { throw coder.unfit("a run's id") }
    try coder.count("resumption", &resumption, from: 0)
    try coder.code("workflow", &workflow)
    try coder.code("file", &file)
    try coder.code("sha256", &hash)
    try coder.codeIfAny("nested", &nested)
    try coder.codeIfAny("numbers", &numbers.recorded)
    try coder.code("directory", &directory)
    try coder.code("user", &user)
    try coder.codeIfAny("inputs", &inputs)
    try coder.codeIfAny("arguments", &arguments)
    try coder.codeIfAny("state", &state)
    try coder.flag("withholdsArguments", &withholdsArguments)
    try coder.code("runner", &runner)
    try coder.code("onFailure", &onFailure)
    try coder.code("timeout", &timeout)
    try coder.codeIfAny("leftOut", &excluded)
    try coder.codeIfAny("rerun", &rerun)
    // An engine may be process 1 in a container.
    try coder.identity(&engine, from: 1)
    try coder.code("bootId", &bootID)
    try coder.code("cookie", &cookieText)
    try coder.code("trace", &traceText)
    guard Coder.isReading else { return }
    self.format = format
    trace = try traceText.map { text throws(Coder.Failure) in
      guard let known = TraceContext(parent: text) else { throw coder.unfit("a traceparent") }
      return known
    }
    guard let text = cookieText else { return }
    guard let known = EngineCookie(text) else { throw coder.unfit("an engine's cookie") }
    cookie = known
  }
}

/// The numbers of the steps of one list.
private struct RecordedNumbers: Payload {
  /// The address of the list.
  var list = ""
  /// Those of steps with an id are 0.
  var numbers: [Int] = []

  static var blank: RecordedNumbers { RecordedNumbers() }

  mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("of", &list)
    try coder.code("numbers", &numbers)
  }
}

extension StepNumbers {
  fileprivate var recorded: [RecordedNumbers] {
    get {
      lists.sorted { $0.key < $1.key }.map { RecordedNumbers(list: $0.key, numbers: $0.value) }
    }
    set {
      lists = Dictionary(newValue.map { ($0.list, $0.numbers) }, uniquingKeysWith: { $1 })
    }
  }
}

extension RecordOpening {
  /// The inputs, and the state as `state.NAME`.
  package var valuesRead: [ReportedOutput] {
    inputs + state.map { ReportedOutput(name: "state.\($0.name)", value: $0.value) }
  }
}

extension [InputDeclaration] {
  /// Returns the declarations for a resumed run. An input that was given and is not recorded, because its value
  /// contained a secret, must be given again: its declaration loses the default.
  package func demanding(_ recorded: [ReportedOutput]) -> [InputDeclaration] {
    map { declaration in
      let isWithheld = recorded.contains { $0.name == declaration.name.text && $0.value == nil }
      guard isWithheld, !declaration.isSecret else { return declaration }
      var demanded = declaration
      demanded.defaultValue = nil
      return demanded
    }
  }
}

/// A file that a run has read.
package struct RecordedFile: Sendable, Hashable {
  package var path: String
  /// SHA-256 of its bytes, in hexadecimal digits.
  package var hash: String

  package init(path: String, hash: String) {
    self.path = path
    self.hash = hash
  }
}

extension RecordedFile: Payload {
  package static var blank: RecordedFile { RecordedFile(path: "", hash: "") }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("file", &path)
    try coder.code("sha256", &hash)
  }
}

/// The elements of a loop.
package struct RecordedElements: Sendable, Hashable {
  package struct Element: Sendable, Hashable {
    package var key: String
    /// `nil` if it is secret.
    package var value: JSONValue?

    package init(key: String, value: JSONValue?) {
      self.key = key
      self.value = value
    }
  }

  package var elements: [Element]
  package var isSecret: Bool
  /// The number of steps that the plan has for an element; `nil` if an older version of the program wrote the record.
  package var stepCount: Int?

  package init(elements: [Element], isSecret: Bool = false, stepCount: Int? = nil) {
    self.elements = elements
    self.isSecret = isSecret
    self.stepCount = stepCount
  }
}

extension RecordedElements: Payload {
  package static var blank: RecordedElements { RecordedElements(elements: []) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.flag("secret", &isSecret)
    try coder.number("steps", &stepCount, in: RecordLimits.counts, "a count")
    try coder.code("elements", &elements)
  }
}

extension RecordedElements.Element: Payload {
  package static var blank: RecordedElements.Element {
    RecordedElements.Element(key: "", value: .none)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("key", &key)
    try coder.code("value", &value)
  }
}

/// The values of a step that expressions read, besides its end and its outputs, and the files that it left for other
/// steps. Values that no expression reads are not kept.
package struct RecordedValues: Sendable, Hashable {
  private struct Contents: Sendable, Hashable {
    var stdout: RecordedText?
    var stderr: RecordedText?
    var returned: RecordedValue?
    var answer: RecordedResponse?
    var files: [RecordedOutputFile] = []
  }

  // Most steps have none.
  private var boxed: Boxed<Contents>?

  private var contents: Contents {
    get { boxed?.value ?? Contents() }
    set { boxed = newValue == Contents() ? nil : .holding(newValue) }
  }

  package init(
    stdout: RecordedText? = nil, stderr: RecordedText? = nil, returned: RecordedValue? = nil,
    answer: RecordedResponse? = nil, files: [RecordedOutputFile] = []
  ) {
    let isEmpty =
      stdout == nil && stderr == nil && returned == nil && answer == nil && files.isEmpty
    boxed =
      isEmpty
      ? nil
      : .holding(
        Contents(
          stdout: stdout, stderr: stderr, returned: returned, answer: answer, files: files))
  }

  package var stdout: RecordedText? {
    get { boxed?.value.stdout }
    set { contents.stdout = newValue }
  }

  package var stderr: RecordedText? {
    get { boxed?.value.stderr }
    set { contents.stderr = newValue }
  }

  /// The value that an action returned.
  package var returned: RecordedValue? {
    get { boxed?.value.returned }
    set { contents.returned = newValue }
  }

  /// The response to a request.
  package var answer: RecordedResponse? {
    get { boxed?.value.answer }
    set { contents.answer = newValue }
  }

  /// The files that the step wrote, as far as it declares them.
  package var files: [RecordedOutputFile] {
    get { boxed?.value.files ?? [] }
    set { contents.files = newValue }
  }

  package var isEmpty: Bool { boxed == nil }

  /// Whether a value is secret, and therefore missing.
  package var lacksSecrets: Bool {
    stdout == .secret || stderr == .secret || returned == .secret || answer?.lacksSecrets == true
  }
}

extension RecordedValues: Payload {
  package static var blank: RecordedValues { RecordedValues() }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var contents = contents
    try coder.code("stdout", &contents.stdout)
    try coder.code("stderr", &contents.stderr)
    try coder.code("returned", &contents.returned)
    try coder.code("answer", &contents.answer)
    try coder.codeIfAny("files", &contents.files)
    if Coder.isReading { self.contents = contents }
  }
}

/// The parts of a response that expressions read, besides the status and whether it came from a cache, which are part
/// of the step's end.
package struct RecordedResponse: Sendable, Hashable {
  package var headers: RecordedValue
  /// `nil` if no expression reads it, or it was saved to a file. At most ``WorkflowLimits/valueBytes``.
  package var body: RecordedText?
  /// Whether the body is read as JSON.
  package var isJSON: Bool
  /// The JSON text of the items collected from all pages; `nil` and limited like `body`.
  package var collected: RecordedText?

  package init(
    headers: RecordedValue, body: RecordedText? = nil, isJSON: Bool = false,
    collected: RecordedText? = nil
  ) {
    self.headers = headers
    self.body = body
    self.isJSON = isJSON
    self.collected = collected
  }

  fileprivate var lacksSecrets: Bool {
    headers == .secret || body == .secret || collected == .secret
  }
}

extension RecordedResponse: Payload {
  package static var blank: RecordedResponse { RecordedResponse(headers: .secret) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try headers.code("headers", &coder)
    try coder.code("body", &body)
    try coder.flag("isJSON", &isJSON)
    try coder.code("collected", &collected)
  }
}

/// The output of a step as an expression reads it.
package enum RecordedText: Sendable, Hashable {
  /// Without the last newline.
  case text(String)
  /// It contains a secret, and is not recorded.
  case secret
  /// It has no value: an expression that reads it fails.
  case tooLong
  case notUTF8
}

extension RecordedText: Payload {
  package static var blank: RecordedText { .tooLong }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var text: String? = if case .text(let text) = self { text } else { nil }
    try coder.code("text", &text)
    if let text {
      self = .text(text)
      return
    }
    if try coder.secret(self == .secret) {
      self = .secret
      return
    }
    var lack = self == .notUTF8 ? Lack.notUTF8 : .tooLong
    try coder.code("lacks", &lack)
    self = lack == .notUTF8 ? .notUTF8 : .tooLong
  }

  private enum Lack: String, CodedValue {
    case tooLong = "too-long"
    case notUTF8 = "not-utf-8"

    static var blank: Lack { .tooLong }
  }
}

package enum RecordedValue: Sendable, Hashable {
  case value(JSONValue)
  case secret
}

extension RecordedValue: Payload {
  package static var blank: RecordedValue { .secret }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try code("value", &coder)
  }

  /// Codes the value as a member, or that it is secret.
  fileprivate mutating func code<Coder: EventCoder>(
    _ key: StaticString, _ coder: inout Coder
  ) throws(Coder.Failure) {
    var value: JSONValue? = if case .value(let value) = self { .some(value) } else { .none }
    try coder.code(key, &value)
    if let value {
      self = .value(value)
    } else {
      self = .secret
      _ = try coder.secret(true)
    }
  }
}

extension EventCoder {
  /// Codes that a value is missing because it is secret.
  fileprivate mutating func secret(_ isSecret: Bool) throws(Failure) -> Bool {
    guard member("secret", isPresent: isSecret) else { return false }
    var isSecret = true
    try code(&isSecret)
    return true
  }
}

/// A file that a step wrote, or a directory with its contents, as it was when the step ended.
///
/// The journal records it with the end of the step. On resume, it is compared with the disk.
package struct RecordedOutputFile: Sendable, Hashable {
  /// The evidence by which a change of the file is detected.
  package enum Mark: Sendable, Hashable {
    /// SHA-256 in hexadecimal digits: of a file's bytes; for a directory, that of the files in it.
    case digest(String)
    /// The size, and the time of the last modification in nanoseconds since 1970.
    case stamp(bytes: Int, modified: Int)
  }

  /// With a digest, the path relative to the run's directory; with a stamp, the path as this process opened it.
  package var path: String
  package var mark: Mark

  package init(path: String, _ mark: Mark) {
    self.path = path
    self.mark = mark
  }
}

extension RecordedOutputFile: Payload {
  package static var blank: RecordedOutputFile {
    RecordedOutputFile(path: "", .stamp(bytes: 0, modified: 0))
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    var digest: String? = if case .digest(let digest) = mark { digest } else { nil }
    try coder.code("path", &path)
    try coder.code("sha256", &digest)
    if let digest {
      mark = .digest(digest)
      return
    }
    var (bytes, modified) =
      if case .stamp(let bytes, let modified) = mark { (bytes, modified) } else { (0, 0) }
    try coder.code("bytes", &bytes)
    try coder.code("modifiedNs", &modified)
    mark = .stamp(bytes: bytes, modified: modified)
  }
}

extension FailureResponse: CodedValue {
  package static var blank: FailureResponse { .stop }
}
