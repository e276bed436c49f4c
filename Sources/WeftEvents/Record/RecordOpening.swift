package import WeftDefinition
package import WeftPlanning
package import WeftPlatform

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
    guard Coder.isReading else { return }
    let given = numbers.filter { $0 != 0 }
    guard Set(given).count == given.count, given.allSatisfy(RecordLimits.counts.contains),
      given.allSatisfy({ $0 > 0 })
    else { throw coder.unfit("the numbers of steps") }
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

extension FailureResponse: CodedValue {
  package static var blank: FailureResponse { .stop }
}
