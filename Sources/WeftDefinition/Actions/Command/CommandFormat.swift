import WeftDiagnostics
import WeftJSON

/// The script or program of a command, its input, its success codes and its end.
extension DecodingPass {
  mutating func invocation(_ node: JSONNode, _ field: Field) -> Command.Invocation? {
    switch node.kind {
    case .string: return script(node, field).map(Command.Invocation.script)
    case .array:
      return arguments(node, field, allowsExpressions: true).map(Command.Invocation.program)
    default:
      reportType(
        of: node, field, wanted: "a script, or an array of a program and its arguments")
      return nil
    }
  }

  mutating func script(_ node: JSONNode, _ field: Field) -> String? {
    filledText(node, field, at: .script, wanted: "a script")
  }

  mutating func successCodes(_ node: JSONNode, _ field: Field) -> [Int]? {
    let codes = elements(
      of: node, field, wanted: "an array of exit codes",
      help: node.kind == .number ? "write [\(shortened(node.sourceText))]" : "write [0, 1]",
      atLeast: "at least one exit code"
    ) { $0.integer($1, $2, in: ValueRule.exitCodes) }
    return codes?.isEmpty == true ? nil : codes
  }
}

// MARK: Standard input

struct StandardInputDraft: FormatObject {
  var file: StandardInput?
  var log: StandardInput?
  /// The names of the keys found.
  var found: Set<String> = []

  static let schema: StaticString = #"{"oneOf": [{"required": ["file"]}, {"required": ["log"]}]}"#

  static let format = ObjectFormat<StandardInputDraft>("\"stdin\"") {
    FormatKey(
      "file", "Path",
      "Relative to the working directory of the step.", schema: #""@filledText""#, synonyms: "path"
    ) { pass, member, field, draft in
      draft.found.insert("file")
      draft.file = pass.filledText(
        member.value, field, at: .inputFile, wanted: "the path of a file"
      ).map(StandardInput.file)
    }
    FormatKey(
      "log", "Id of a step",
      "The whole output of this step, both streams; the step waits for it.",
      schema: #""@stepName""#
    ) { pass, member, field, draft in
      draft.found.insert("log")
      let name = pass.filledText(member.value, field, wanted: "the id of a step")
      draft.log = name.map { .log(Need($0, place: member.value.range)) }
    }
  }
}

extension DecodingPass {
  mutating func standardInput(_ node: JSONNode, _ field: Field) -> StandardInput? {
    if node.kind == .string { return text(node, field, at: .input).map(StandardInput.text) }
    guard isObject(node, field, wanted: "a string, { \"file\": … } or { \"log\": … }") else {
      return nil
    }
    var draft = StandardInputDraft()
    let reading = read(node, field, into: &draft)
    guard draft.found.count != 1 else { return draft.file ?? draft.log }
    if !reading.hasUnknownKey {
      report(
        .wrongType(
          path: path(field),
          found: draft.found.isEmpty ? "an empty object" : "both a file and a log",
          wanted: "{ \"file\": … } or { \"log\": … }", help: nil),
        at: node)
    }
    return nil
  }
}

// MARK: Stopping

struct StopDraft: FormatObject {
  var signal: String?
  @Computable var grace: Duration? = nil
  var isEmpty = true

  static let schema: StaticString =
    #"{"anyOf": [{"required": ["signal"]}, {"required": ["grace"]}]}"#

  static let format = ObjectFormat<StopDraft>("\"stop\"") {
    FormatKey(
      "signal", ValueFormat { $0.stopSignal($1, $2) }, "Signal",
      "The first signal, by its name without SIG.",
      schema: #"{"$ref": "stopSignal", "default": "TERM"}"#, synonyms: "name"
    ) { $0.signal = $1 }
    FormatKey(
      "grace", .duration(as: .grace), "Grace period",
      "The time between the signal and KILL; 0s sends KILL at once.",
      schema: #"{"default": "10s", "examples": ["30s", "0s"]}"#,
      synonyms: "timeout period gracePeriodSeconds", at: \.$grace)
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    isEmpty = false
    return true
  }
}

extension DecodingPass {
  mutating func stopRequest(_ node: JSONNode, _ field: Field) -> StopRequest? {
    guard
      isObject(
        node, field, wanted: "an object with \"signal\", \"grace\" or both",
        help: node.stringValue.map { "write { \"signal\": \(quoted($0)) }" }
          ?? "write { \"grace\": \"10s\" }")
    else { return nil }
    var draft = StopDraft()
    if !read(node, field, into: &draft).hasUnknownKey, draft.isEmpty {
      report(.empty(path: path(field), wanted: "\"signal\", \"grace\" or both"), at: node)
    }
    var stop = StopRequest(signal: draft.signal)
    stop.$grace = draft.$grace
    return stop
  }

  fileprivate mutating func stopSignal(_ node: JSONNode, _ field: Field) -> String? {
    guard node.kind == .string else {
      reportType(of: node, field, wanted: "the name of a signal", help: SignalName.spelling)
      return nil
    }
    guard let word = text(node, field) else { return nil }
    if SignalName.ofStopping.contains(word) { return word }
    report(
      .unknownWord(
        path: path(field), word: word, wanted: "a signal that asks a program to end",
        nearest: SignalName.nearestOfStopping(to: word), help: SignalName.remedy(for: word)),
      at: node
    )
    return nil
  }
}

extension SignalName {
  /// The canonical spelling of the name: upper case, without `SIG`.
  private static func canonical(_ word: String) -> String {
    let name = word.uppercased()
    return name.hasPrefix("SIG") ? String(name.dropFirst(3)) : name
  }

  fileprivate static func nearestOfStopping(to word: String) -> String? {
    let name = canonical(word)
    if ofStopping.contains(name) { return name }
    return uncatchable.contains(name) || !isWord(name) ? nil : names.nearest(to: name)
  }

  fileprivate static func remedy(for word: String) -> String {
    switch canonical(word) {
    case "KILL", "9": "programs cannot catch KILL; to send it at once, write { \"grace\": \"0s\" }"
    case "STOP", "CONT", "TSTP", "TTIN", "TTOU":
      "this signal pauses or continues a program, and does not end it; omit the key for TERM"
    default: spelling
    }
  }

  fileprivate static let spelling =
    "use the names that \"kill -l\" prints, such as \"TERM\", \"INT\", "
    + "\"HUP\", \"QUIT\" and \"USR1\""

  private static func isWord(_ name: String) -> Bool { Int(name) == nil }

  private static let uncatchable: Set<String> = ["KILL", "STOP", "CONT", "TSTP", "TTIN", "TTOU"]
  private static let names = NearestName(ofStopping)
}
