package import WeftDiagnostics
package import WeftJSON

/// The results of the steps that a pattern matches: one for each attempt; the last one repeats.
package struct StepScript: Sendable {
  /// The address of a step, or a pattern in which `*` is any text.
  package let pattern: Placed<String>
  package let results: [ScriptedResult]
}

/// The result of one attempt of a step, in place of running it.
package struct ScriptedResult: Sendable {
  /// The location of the whole result.
  package internal(set) var range = SourceRange(start: 0, end: 0)
  /// The keys that are present, with their locations.
  package internal(set) var keys: [String: SourceRange] = [:]
  /// The exit code of the program.
  package internal(set) var exit: Int?
  /// The signal that ends the program, without `SIG`.
  package internal(set) var signal: String?
  package internal(set) var stdout = ""
  package internal(set) var stderr = ""
  /// The outputs that it writes to `$WEFT_OUTPUT`.
  package internal(set) var outputs: JSONObject?
  /// The value that an action returns.
  package internal(set) var returns: JSONValue?
  /// The error class of an attempt that cannot start, or that fails otherwise than by its exit.
  package internal(set) var failure: ErrorClass?
  /// The time that the attempt takes; `nil` if it ends at once, in any order with others that do.
  package internal(set) var duration: Duration?
  /// Whether it only ends when it is stopped.
  package internal(set) var isEndless = false
  /// The time after which a service is ready; `nil` if that is the duration, and it does not end by itself then.
  package internal(set) var readyAfter: Duration?
  /// The time that it takes to end after a stop was requested.
  package internal(set) var stopDuration = Duration.zero
  /// The responses to its requests, in order; `nil` without any.
  package internal(set) var responses: [ScriptedResponse]?
  /// Whether the only response is given to every request.
  package internal(set) var repeatsResponse = false
  /// The answer of an approver.
  package internal(set) var approves: Bool?
  /// Whether the step really runs.
  package internal(set) var isReal = false
}

/// The response to one request, or the failure to get one.
package struct ScriptedResponse: Sendable {
  package internal(set) var status = 200
  package internal(set) var headers: [Named<String>] = []
  package internal(set) var body = ""
  package internal(set) var json: JSONValue?
  package internal(set) var failure: ErrorClass.NetworkPart?
  package internal(set) var duration: Duration?
  /// Whether anything is said of what the server sends.
  package internal(set) var hasContent = false
}

// MARK: Format

extension ScriptedResult: FormatObject {
  static let schema: StaticString = #"""
    {"examples": [{"exit": 1, "stderr": "no route\n", "takes": "30s"}, {"real": true},
    {"outputs": {"version": "1.2.0"}}]}
    """#

  static let format = ObjectFormat<ScriptedResult>("a scripted result") {
    FormatKey(
      "exit", ValueFormat<Int>.integer(0...255), "Exit code", "The exit code of the program.",
      schema: #"{"default": 0}"#, synonyms: "exitCode code status exit_code", at: \.exit)
    FormatKey(
      "signal", ValueFormat { $0.signalName($1, $2) }, "Signal",
      "The signal that ends the program, without SIG.",
      schema: #"{"type": "string", "examples": ["KILL", "SEGV"]}"#, at: \.signal)
    FormatKey(
      "stdout", .verbatim, "Standard output", "The text that it writes to standard output.",
      synonyms: "output out", at: \.stdout)
    FormatKey(
      "stderr", .verbatim, "Standard error", "The text that it writes to standard error.",
      synonyms: "error err", at: \.stderr)
    FormatKey(
      "outputs", ValueFormat { $0.jsonObject($1, $2) }, "Outputs",
      "The outputs that it writes to $WEFT_OUTPUT.",
      schema: #"{"type": "object", "examples": [{"version": "1.2.0"}]}"#, at: \.outputs)
    FormatKey(
      "returns", .json, "Returned value", "The value that a registered action (\"use\") returns.",
      synonyms: "result value", at: \.returns)
    FormatKey(
      "fails", ValueFormat("errorClass") { $0.errorClass($1, $2) }, "Failure",
      "The error class of an attempt that fails otherwise than by its exit, such as spawn.",
      schema: #"{"examples": ["spawn"]}"#, synonyms: "failure class", at: \.failure)
    FormatKey(
      "takes", .testDuration, "Duration",
      """
      The virtual time that the attempt takes. Without it the attempt ends at once, in any \
      order with others that do.
      """, synonyms: "duration after delay time sleep", at: \.duration)
    FormatKey(
      "never", .plainFlag, "Never ends",
      "Whether the attempt only ends when it is stopped; an approval is never answered.",
      synonyms: "hangs hang neverEnds forever", at: \.isEndless)
    FormatKey(
      "readyAfter", .testDuration, "Readiness",
      """
      The virtual time after which a service is ready. With it, takes is the time until the \
      service ends by itself; without it, a service that succeeds is ready after takes.
      """, schema: #"{"examples": ["2s"]}"#, synonyms: "ready readiness up"
    ) { $0.readyAfter = $1 }
    FormatKey(
      "stopsAfter", .testDuration, "Reaction to a stop",
      "The virtual time from a request to stop to the end; beyond the grace period it is killed.",
      schema: #"{"default": "0s"}"#, at: \.stopDuration)
    FormatKey(
      "http", ValueFormat { $0.responses($1, $2) }, "Responses",
      """
      The response to every request of the attempt, or an array of responses to successive \
      requests: redirects, pages, polls.
      """,
      schema: #"""
        {"anyOf": ["@response", {"type": "array", "items": "@response", "minItems": 1}],
        "examples": [{"status": 503, "headers": {"Retry-After": "30"}}, [{"json": {"id": 7}}]]}
        """#, synonyms: "response responses"
    ) {
      $0.responses = $1.responses
      $0.repeatsResponse = $1.repeats
    }
    FormatKey(
      "approve", .plainFlag, "Answer", "The answer to an approval step: true approves.",
      synonyms: "approved answer approval", at: \.approves)
    FormatKey(
      "real", .plainFlag, "Real", "Whether the step really runs; it takes no virtual time.",
      synonyms: "passthrough run execute", at: \.isReal)
  }

  mutating func admits(_ key: KeyRule, _ node: JSONNode, _ pass: inout DecodingPass) -> Bool {
    keys[key.name.description] = node.range
    return true
  }
}

extension ScriptedResponse: FormatObject {
  static let schema: StaticString = #"""
    {"not": {"title": "Two bodies", "required": ["body", "json"]},
    "examples": [{"status": 201, "json": {"id": 7}}, {"fails": "dns"}]}
    """#

  static let format = ObjectFormat<ScriptedResponse>("a response") {
    FormatKey(
      "status", ValueFormat<Int>.integer(200...599), "Status", "The status code.",
      schema: #"{"default": 200}"#, synonyms: "code statusCode", at: \.status)
    FormatKey(
      "headers", .namedTexts, "Headers", "The headers of the response.",
      schema: #"{"examples": [{"Retry-After": "30"}]}"#, synonyms: "header", at: \.headers)
    FormatKey(
      "body", .verbatim, "Body", "The body, as text.", synonyms: "text content data", at: \.body)
    FormatKey(
      "json", .json, "JSON body", "The body, as JSON; its type is application/json.", at: \.json)
    FormatKey(
      "fails", .word(of: ErrorClass.NetworkPart.self), "No response",
      "There is no response, because of this.", synonyms: "failure error", at: \.failure)
    FormatKey(
      "takes", .testDuration, "Duration", "The virtual time that the exchange takes.",
      synonyms: "duration after delay", at: \.duration)
  }
}

extension ValueFormat<[StepScript]> {
  static var scripts: ValueFormat { ValueFormat("scripts") { $0.scripts($1, $2) } }
}

extension DecodingPass {
  fileprivate mutating func signalName(_ node: JSONNode, _ field: Field) -> String? {
    guard let name = plainText(node, path(field)) else { return nil }
    if SignalName.all.contains(name) { return name }
    let bare = name.uppercased()
    let known = bare.hasPrefix("SIG") ? String(bare.dropFirst(3)) : bare
    report(
      .unknownWord(
        path: path(field), word: name, wanted: "a signal such as KILL or TERM",
        nearest: SignalName.all.contains(known)
          ? known : NearestName(SignalName.all.sorted()).nearest(to: known), help: nil), at: node)
    return nil
  }

  mutating func errorClass(_ node: JSONNode, _ field: Field) -> ErrorClass? {
    guard let name = plainText(node, path(field)) else { return nil }
    if let known = ErrorClass(name) { return known }
    report(.unknownErrorClass(path: path(field), name), at: node)
    return nil
  }

  fileprivate mutating func jsonObject(_ node: JSONNode, _ field: Field) -> JSONObject? {
    isObject(node, field, wanted: "an object") ? JSONValue(node).object : nil
  }

  fileprivate mutating func responses(
    _ node: JSONNode, _ field: Field
  ) -> (responses: [ScriptedResponse], repeats: Bool)? {
    guard node.kind == .array else {
      guard
        isObject(
          node, field, wanted: "a response, or an array of responses",
          help: "write { \"status\": 200, \"body\": \"…\" }")
      else { return nil }
      return ([response(node, field)], true)
    }
    let responses: [ScriptedResponse]? = elements(
      of: node, field, wanted: "an array of responses", atLeast: "at least one response"
    ) { pass, element, field in
      guard pass.isObject(element, field, wanted: "a response") else { return nil }
      return pass.response(element, field)
    }
    return responses.map { ($0, false) }
  }

  private mutating func response(_ node: JSONNode, _ field: Field) -> ScriptedResponse {
    var response = ScriptedResponse()
    readInside(field, node, into: &response)
    response.hasContent = ["status", "headers", "body", "json"].contains {
      member($0, of: node) != nil
    }
    if response.json != nil, let body = member("body", of: node)?.key {
      report(.twoBodies, at: body)
    }
    return response
  }

  // MARK: Scripts

  fileprivate mutating func scripts(_ node: JSONNode, _ field: Field) -> [StepScript]? {
    named(
      node, field, wanted: "an object of steps and their results",
      help: "write { \"build\": { \"stdout\": \"…\" }, \"deploy[*]\": { \"exit\": 1 } }"
    ) { pass, member in
      pass.results(member.value).map {
        StepScript(
          pattern: Placed(member.key.stringValue ?? "", member.key.range), results: $0)
      }
    }
  }

  private mutating func results(_ node: JSONNode) -> [ScriptedResult]? {
    guard node.kind == .array else { return result(node, .itself).map { [$0] } }
    guard !node.elements.isEmpty else {
      report(.empty(path: path(.itself), wanted: "the result of at least one attempt"), at: node)
      return nil
    }
    var results: [ScriptedResult] = []
    for (index, element) in node.elements.enumerated() {
      if let result = inside("", at: index, { $0.result(element, .itself) }) {
        results.append(result)
      }
    }
    return results
  }

  /// A result, or its exit code alone.
  private mutating func result(_ node: JSONNode, _ field: Field) -> ScriptedResult? {
    var result = ScriptedResult()
    result.range = node.range
    if node.kind == .number {
      result.exit = integer(node, field, in: 0...255)
      return result
    }
    guard
      isObject(
        node, field, wanted: "a result, an exit code, or an array of results",
        help: "write { \"exit\": 0, \"stdout\": \"…\" }")
    else { return nil }
    read(node, field, into: &result)
    let ends = ["exit", "signal", "fails", "returns", "http", "approve", "real"].filter {
      result.keys[$0] != nil
    }
    if ends.count > 1, let range = result.keys[ends[1]] {
      report(
        .severalEnds(ends[0], ends[1]),
        at: Diagnostic.Place(file: node.document.file, range: range))
    }
    return result
  }
}

extension Diagnostic {
  static func unknownErrorClass(path: String, _ name: String) -> Diagnostic {
    .unknownWord(
      path: path, word: name, wanted: "an error class", nearest: ErrorClass.nearest(to: name),
      help: ErrorClass.list)
  }

  fileprivate static func severalEnds(_ first: String, _ second: String) -> Diagnostic {
    Diagnostic(
      .severalActions, "found both \"\(first)\" and \"\(second)\", expected one of them",
      help: "an attempt ends in one way; for several attempts, write an array of results")
  }

  fileprivate static var twoBodies: Diagnostic {
    Diagnostic(.severalActions, "found both \"body\" and \"json\", expected one of them")
  }
}
