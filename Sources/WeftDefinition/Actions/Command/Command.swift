package import WeftDiagnostics
package import WeftJSON

/// A program or a script, its standard input, its success codes and its options.
public struct Command: Sendable, Hashable {
  public enum Invocation: Sendable, Hashable {
    /// Text for the step's shell.
    case script(String)
    /// A file with text for the step's shell.
    indirect case file(ScriptFile)
    /// A program and its arguments, passed as they are; never empty.
    case program([String])
  }

  public var invocation: Invocation
  /// `nil` for `/dev/null`.
  public var stdin: StandardInput?
  /// Exit codes that count as success, 0 to 255.
  public var successCodes: [Int]
  /// Boxed because few commands have options, and there may be very many commands.
  @usableFromInline var boxedOptions: Boxed<Options>?

  public init(
    _ invocation: Invocation, stdin: StandardInput? = nil, successCodes: [Int] = [0],
    options: Options = Options()
  ) {
    self.invocation = invocation
    self.stdin = stdin
    self.successCodes = successCodes
    self.options = options
  }

  /// Whether anything of ``options`` is set.
  @inlinable package var hasOptions: Bool { boxedOptions != nil }

  /// Settings that most commands leave at their defaults.
  public var options: Options {
    get { boxedOptions?.value ?? Options() }
    set { boxedOptions = newValue == Options() ? nil : .holding(newValue) }
  }
}

/// The source of a command's standard input.
public enum StandardInput: Sendable, Hashable {
  case text(String)
  /// A file, relative to the step's working directory.
  case file(String)
  /// The log of another step, with both streams; it adds a dependency on that step.
  case log(Need)
}

extension Command {
  /// Settings that control how a command is watched and terminated, and where its output goes.
  public struct Options: Sendable, Hashable {
    /// The request to end it; `nil` for that of the run.
    public var stop: StopRequest?
    /// The treatment of processes of the command that are alive after its program has ended by itself.
    public var leftovers: LeftoverPolicy
    /// The longest time without output on either stream, from the start or from the last output on.
    @Computable public var stallTimeout: Duration?
    /// Whether both output streams share one pipe: their order is then exact, and all counts as standard output.
    @Computable public var mergesOutput: Bool
    /// The amount of output that the log holds. Further output is neither kept nor reported, only counted.
    @Computable public var logLimit: ByteCount
    /// Whether it has the terminal to itself: it reads from it, and its output goes there instead of into a log.
    @Computable public var usesTerminal: Bool
    /// Whether it gets a GNU make jobserver whose tokens are the free slots of the run.
    @Computable public var usesJobserver: Bool
    /// The conditions under which an earlier result replaces running it; `nil` if none does.
    public var caching: Caching?
    /// Whether and when other steps can use it while it runs; `nil` for a command that ends by itself.
    public var service: Service?
    /// The resources that one attempt needs; `nil` if nothing is requested.
    public var resources: Resources?

    public init(
      stop: StopRequest? = nil, leftovers: LeftoverPolicy = .end, stallTimeout: Duration? = nil,
      mergesOutput: Bool = false, logLimit: ByteCount = WorkflowLimits.logLimit,
      usesTerminal: Bool = false, usesJobserver: Bool = false, caching: Caching? = nil,
      service: Service? = nil, resources: Resources? = nil
    ) {
      self.stop = stop
      self.leftovers = leftovers
      self.stallTimeout = stallTimeout
      self.mergesOutput = mergesOutput
      self.logLimit = logLimit
      self.usesTerminal = usesTerminal
      self.usesJobserver = usesJobserver
      self.caching = caching
      self.service = service
      self.resources = resources
    }
  }

  /// The key because of which it only runs on this machine; `nil` if it may run anywhere.
  package var reasonToStayHere: String? {
    guard hasOptions else { return nil }
    if options.service != nil { return "\"service\"" }
    if options.$usesTerminal != .literal(false) { return "\"tty\"" }
    if options.$usesJobserver != .literal(false) { return "\"jobserver\"" }
    return options.leftovers == .keep ? "\"leftovers\"" : nil
  }

  /// The request to end it; `nil` for that of the run.
  public var stop: StopRequest? {
    get { options.stop }
    set { options.stop = newValue }
  }

  /// The treatment of processes of the command that are alive after its program has ended by itself.
  public var leftovers: LeftoverPolicy {
    get { options.leftovers }
    set { options.leftovers = newValue }
  }

  /// The longest time without output on either stream, from the start or from the last output on.
  public var stallTimeout: Duration? {
    get { options.stallTimeout }
    set { options.stallTimeout = newValue }
  }

  /// Whether both output streams share one pipe.
  public var mergesOutput: Bool {
    get { hasOptions && options.mergesOutput }
    set { options.mergesOutput = newValue }
  }

  /// The amount of output that the log holds.
  public var logLimit: ByteCount {
    get { hasOptions ? options.logLimit : WorkflowLimits.logLimit }
    set { options.logLimit = newValue }
  }

  /// Whether it has the terminal to itself.
  public var usesTerminal: Bool {
    get { hasOptions && options.usesTerminal }
    set { options.usesTerminal = newValue }
  }

  /// Whether it gets a GNU make jobserver.
  public var usesJobserver: Bool {
    get { hasOptions && options.usesJobserver }
    set { options.usesJobserver = newValue }
  }
}

/// A request to end a command before it is killed; a `nil` property has the value for the whole run.
public struct StopRequest: Sendable, Hashable {
  /// The first signal for its processes, named without `SIG`: one of ``SignalName/ofStopping``.
  public let signal: String?
  /// The time from that signal to KILL; zero sends KILL at once.
  @Computable public var grace: Duration?

  /// - Precondition: `signal` is one of ``SignalName/ofStopping``.
  public init(signal: String? = nil, grace: Duration? = nil) {
    if let signal {
      precondition(
        SignalName.ofStopping.contains(signal), "\(signal) does not ask a program to end")
    }
    self.signal = signal
    self.grace = grace
  }
}

/// The treatment of processes that outlive the program that started them.
public enum LeftoverPolicy: String, Sendable, Hashable, CaseIterable {
  /// They are terminated and reported.
  case end
  /// They are left running after a success, even when the run ends.
  case keep
}

extension Command: ActionModel {
  static let rules = ActionRules(
    "run", "runs a command", result: .step,
    remedies: ["with": "pass it to the program as an argument, or in \"env\""])

  package func check(_ values: inout BuiltValues) {
    switch invocation {
    case .script(let script):
      if script.isEmpty { values.note("run", .empty(path: "run", wanted: "a script")) }
      values.checkText(script, "run")
    case .file(let file):
      values.checkPath(file.path, "script.file")
      if file.text == nil, !file.isRejected {
        values.note("script", .scriptNotRead(path: file.path))
      }
      if file.text?.isEmpty == true {
        values.note("script", .empty(path: "script", wanted: "a script"))
      }
      values.checkText(file.text ?? "", "script")
    case .program(let arguments): values.checkProgram(arguments, "run")
    }
    if case .file(let path)? = stdin { values.checkPath(path, "stdin.file") }
    if successCodes.isEmpty {
      values.note("successCodes", .empty(path: "successCodes", wanted: "at least one exit code"))
    }
    for (index, code) in successCodes.enumerated() {
      values.checkNumber("successCodes[\(index)]", code, in: ValueRule.exitCodes)
    }
    guard hasOptions else { return }
    values.checkKeys(of: StopDraft(grace: stop?.grace), in: "stop")
    if let resources { values.checkKeys(of: resources, in: "resources") }
    if let version = caching?.version, case .program(let arguments) = version {
      values.checkProgram(arguments, "cache.version")
    }
    guard let service else { return }
    if let problem = Service.problem(with: service.ready, path: "service.ready") {
      values.note("service.ready", problem)
    }
    if case .run(.program(let arguments)) = service.ready {
      values.checkProgram(arguments, "service.ready.run")
    }
  }

  package func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    switch invocation {
    case .script(let text): visit(.script, text, nil)
    case .file(let file): visit(.script, file.text ?? "", nil)
    case .program(let arguments):
      for (index, argument) in arguments.enumerated() { visit(.argument(index), argument, nil) }
    }
    switch stdin {
    case .text(let text): visit(.input, text, nil)
    case .file(let path): visit(.inputFile, path, nil)
    case .log, nil: break
    }
    if let text = service?.text { visit(.probe, text, nil) }
    guard let caching else { return }
    for (index, text) in caching.inputs.enumerated() { visit(.cacheInput(index), text, nil) }
    for (index, text) in caching.outputs.enumerated() { visit(.cacheOutput(index), text, nil) }
    caching.key.map { visit(.cacheKey, $0, nil) }
  }

  package var repetition: Repetition {
    caching == nil && service == nil ? .unknown : .harmless
  }
  package var keepsResults: Bool { caching != nil }

  package func obstacle(toReading field: StepField) -> ResultObstacle? {
    usesTerminal && field != .exitCode && field != .signal ? .usesTerminal : nil
  }

  /// A script's first line, the path of a script file, or the words of a command line, quoted as a shell would need
  /// it.
  package func summary(
    _ outputs: [OutputDeclaration], atMost columns: Int, ellipsis: String
  ) -> String {
    switch invocation {
    case .script(let script): script.firstLine(ellipsis)
    case .file(let file): file.path
    case .program(let words): Command.commandLine(words, columns)
    }
  }

  package var remarks: [String] { inputRemarks + codeRemarks + optionRemarks }

  private var inputRemarks: [String] {
    switch stdin {
    case nil: []
    case .text: ["reads text"]
    case .file(let path): ["reads \(path)"]
    case .log(let step): ["reads the log of \(step.name)"]
    }
  }

  private var codeRemarks: [String] {
    successCodes == [0]
      ? [] : ["succeeds with " + shortList(successCodes.map(String.init))]
  }

  private var optionRemarks: [String] {
    guard hasOptions else { return [] }
    let options = options
    return [
      options.service?.remark,
      options.resources?.remark,
      options.usesTerminal ? "uses the terminal" : nil,
      options.usesJobserver ? "uses the jobserver" : nil,
      options.stop.map(stopping),
      options.stallTimeout.map { "stall timeout \(DurationText.text(of: $0))" },
      options.leftovers == .keep ? "keeps leftovers" : nil,
      options.mergesOutput ? "merges output" : nil,
      options.logLimit == WorkflowLimits.logLimit ? nil : "log up to \(options.logLimit)",
    ].compactMap(\.self)
  }

  private func stopping(_ stop: StopRequest) -> String {
    switch (stop.signal, stop.grace) {
    case (_, Duration.zero): "stopped by KILL at once"
    case (let signal, nil): "stopped by \(signal ?? "TERM")"
    case (let signal, let grace?):
      "stopped by \(signal ?? "TERM"), by KILL after \(DurationText.text(of: grace))"
    }
  }

  /// Writes its members, except for the command line and the settings, which depend on the enclosing groups.
  package func write(to writer: inout JSONWriter) {
    if let input = stdin {
      writer.object("stdin") {
        switch input {
        case .text(let text): $0.member("text", text)
        case .file(let path): $0.member("file", path)
        case .log(let step): $0.member("log", step.name)
        }
      }
    }
    if successCodes != [0] {
      writer.key("successCodes")
      writer.beginArray()
      for code in successCodes { writer.int(code) }
      writer.endArray()
    }
    options.write(to: &writer)
  }

  /// As many words as can be shown.
  private static func commandLine(_ words: [String], _ columns: Int) -> String {
    var line = ""
    for word in words where line.utf8.count <= 4 * columns {
      if !line.isEmpty { line += " " }
      append(word, to: &line)
    }
    return line
  }

  private static func append(_ word: String, to line: inout String) {
    var word = word
    let (isPlain, hasQuote) = word.withUTF8 { bytes in
      (
        !bytes.isEmpty && bytes.allSatisfy(Command.isPlain),
        bytes.contains(UInt8(ascii: "'"))
      )
    }
    if isPlain {
      line += word
    } else if hasQuote {
      let pieces = word.split(separator: "'", omittingEmptySubsequences: false)
      line += "'" + pieces.joined(separator: "'\\''") + "'"
    } else {
      line += "'"
      line += word
      line += "'"
    }
  }

  /// Whether a POSIX shell takes the byte literally anywhere in a command.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    case UInt8(ascii: "_"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "/"),
      UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "+"), UInt8(ascii: "="),
      UInt8(ascii: "@"), UInt8(ascii: "%"):
      true
    default: false
    }
  }
}

extension Command.Options {
  fileprivate func write(to writer: inout JSONWriter) {
    if let stop = stop {
      writer.object("stop") {
        $0.member("signal", stop.signal)
        $0.member("grace", stop.grace.map { DurationText.text(of: $0) })
      }
    }
    if leftovers != .end { writer.member("leftovers", leftovers.rawValue) }
    writer.member("stallTimeout", stallTimeout.map { DurationText.text(of: $0) })
    if mergesOutput { writer.member("mergeOutput", true) }
    if logLimit != WorkflowLimits.logLimit {
      writer.member("logLimit", logLimit.description)
    }
    if usesTerminal { writer.member("tty", true) }
    if usesJobserver { writer.member("jobserver", true) }
    service?.write(to: &writer)
    resources?.write(to: &writer)
  }
}

extension String {
  /// The first nonblank line, with an ellipsis if there are others.
  func firstLine(_ ellipsis: String) -> String {
    guard utf8.contains(where: { $0 == 0x0A || $0 == 0x0D }) else { return self }
    let lines = split(whereSeparator: \.isNewline).lazy.filter { line in
      line.contains { !$0.isWhitespace }
    }
    guard var line = lines.first?.drop(while: \.isWhitespace) else { return "" }
    while line.last?.isWhitespace == true { line.removeLast() }
    return lines.dropFirst().isEmpty ? String(line) : line + " " + ellipsis
  }
}

extension Diagnostic {
  /// The file was not read, so the script is unknown.
  fileprivate static func scriptNotRead(path: String) -> Diagnostic {
    Diagnostic(
      .unreadScript, "the script \(quoted(path)) has not been read",
      help: "read the workflow with Workflow(contentsOf:), or give the script a \"text\"")
  }
}

extension FormatKey<StepDraft> {
  static var run: FormatKey {
    FormatKey(
      "run", "Command",
      """
      A script for the shell, or a program with its arguments, which is started without a \
      shell.
      """,
      schema: #"""
        {"anyOf": ["@script", "@arguments"], "examples": ["make all", ["make", "-j4",
        "all"]]}
        """#, synonyms: "command cmd exec", traits: [.action, .graphText, .graphList]
    ) { pass, member, field, draft in
      let isFirst = draft.begin(.run, member.key, &pass)
      let invocation = pass.invocation(member.value, field)
      if isFirst { draft.invocation = invocation }
    }
  }
}

extension Step {
  /// A step that runs a script in its shell.
  public init(
    _ id: StepID = .unnamed, run script: String, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id, Command(.script(script)), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that runs the script of a file in its shell.
  ///
  /// - Parameter script: The file, with its text: only a workflow that is read from a file reads others.
  public init(
    _ id: StepID = .unnamed, script: ScriptFile, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id, Command(.file(script)), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that runs a program directly, without a shell.
  ///
  /// - Parameter arguments: The program and its arguments.
  public init(
    _ id: StepID = .unnamed, run arguments: [String], needs: [Need]? = nil,
    timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id, Command(.program(arguments)), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that runs a command.
  public init(
    _ id: StepID = .unnamed, _ command: Command, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(command), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }
}
