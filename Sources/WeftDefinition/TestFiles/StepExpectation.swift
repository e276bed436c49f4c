import WeftDiagnostics
package import WeftJSON

/// Everything that a case says about the steps that a pattern matches.
package struct StepExpectation: Sendable {
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case success, failure, cancelled, skipped
    /// Failed, and that counts as a success.
    case tolerated
    /// Neither ran nor was skipped by itself: something that contains it never started.
    case absent
  }

  package let pattern: Placed<String>
  package internal(set) var outcome: Placed<Outcome>?
  /// The reason of a skip or a cancellation, or an error class of a failure.
  package internal(set) var reason: Placed<String>?
  package internal(set) var attempts: Placed<Int>?
  package internal(set) var exit: Placed<Int>?
  /// The script, or the program and its arguments, with values in place of expressions.
  package internal(set) var run: Placed<RunText>?
  package internal(set) var cwd: Placed<String>?
  package internal(set) var stdin: Placed<String>?
  /// Some of the variables; `nil` for one that is not set.
  package internal(set) var environment: [Named<String?>] = []
  /// Some of the outputs.
  package internal(set) var outputs: [Named<JSONValue>] = []
  /// All requests, in the order in which they were sent.
  package internal(set) var requests: Placed<[RequestExpectation]>?
  package internal(set) var startsAt: Placed<DurationBounds>?
  package internal(set) var duration: Placed<DurationBounds>?

  package enum RunText: Sendable, Hashable {
    case script(String)
    case arguments([String])
  }
}

/// One request; what is not mentioned may be anything.
package struct RequestExpectation: Sendable {
  package internal(set) var method: Placed<String>?
  package internal(set) var url: Placed<String>?
  /// Some of the headers; `nil` for one that is not sent.
  package internal(set) var headers: [Named<String?>] = []
  package internal(set) var body: Placed<String>?
  package internal(set) var json: Placed<JSONValue>?
}

extension StepExpectation {
  /// The names of reasons besides error classes: those of skips and of cancellations, and classes that workflows
  /// cannot name.
  package static let reasons = [
    "condition", "dependencyFailed", "heldBack", "notSelected", "cancelled", "requested", "signal",
    "runTimeout", "groupTimeout", "failure", "raceWon", "joined", "recordLost", "inDoubt", "exit:0",
  ]
}

// MARK: Format

extension StepExpectation: FormatObject {
  static let schema: StaticString = #"""
    {"minProperties": 1, "examples": [{"outcome": "failure", "reason": "timeout"},
    {"run": "./deploy eu", "env": {"STAGE": "live"}}]}
    """#

  static let format = ObjectFormat<StepExpectation>("the expectation of a step") {
    FormatKey(
      "outcome", ValueFormat<Outcome>.word(of: Outcome.self).placed, "Outcome",
      """
      The result of the step. tolerated: it failed, and that counts as a success. absent: \
      something that contains it never started.
      """, schema: #"{"examples": ["success"]}"#, synonyms: "result status conclusion"
    ) { $0.outcome = $1 }
    FormatKey(
      "reason", ValueFormat { $0.reason($1, $2) }.placed, "Reason",
      "The reason of a skip or of a cancellation, or an error class of the failure.",
      schema: #"{"anyOf": [{"enum": "$reasons"}, "@errorClass"], "examples": ["condition"]}"#,
      synonyms: "because class error", at: \.reason)
    FormatKey(
      "attempts", ValueFormat<Int>.integer(1...100_001).placed, "Attempts",
      "The number of attempts.", synonyms: "tries", at: \.attempts)
    FormatKey(
      "exit", ValueFormat<Int>.integer(0...255).placed, "Exit code",
      "The exit code of the last attempt.", synonyms: "exitCode code", at: \.exit)
    FormatKey(
      "run", ValueFormat { $0.runText($1, $2) }.placed, "Command",
      """
      The script, or the program and its arguments, of the last attempt, with values in \
      place of expressions.
      """,
      schema: #"""
        {"anyOf": ["@anyText", {"type": "array", "items": {"type": "string"}, "minItems": 1}],
        "examples": [["git", "tag", "v1.2.0"]]}
        """#, synonyms: "command cmd script argv", at: \.run)
    FormatKey(
      "cwd", ValueFormat<String>.verbatim.placed, "Working directory",
      "The working directory of the last attempt.", synonyms: "directory workingDirectory"
    ) { $0.cwd = $1 }
    FormatKey(
      "stdin", ValueFormat<String>.verbatim.placed, "Standard input",
      "The text on the standard input of the last attempt.", synonyms: "input", at: \.stdin)
    FormatKey(
      "env", .namedTextsOrNull, "Environment",
      "Variables of the last attempt; null for one that is not set.",
      synonyms: "environment variables"
    ) { $0.environment = $1 }
    FormatKey(
      "outputs", .namedValues, "Outputs",
      "Outputs of the step; those that are not named may be anything.",
      schema: #"{"type": "object"}"#, at: \.outputs)
    FormatKey(
      "requests", ValueFormat { $0.requestExpectations($1, $2) }.placed, "Requests",
      "All requests of all attempts, in the order in which they were sent.",
      schema: #"""
        {"type": "array", "items": "@request", "examples": [[{"method": "POST",
        "url": "https://example.com/items", "json": {"name": "a"}}]]}
        """#, synonyms: "http request", at: \.requests)
    FormatKey(
      "startsAt", ValueFormat<DurationBounds>.bounds.placed, "Start",
      "The virtual time from the start of the run to the first attempt.",
      synonyms: "start startedAt"
    ) { $0.startsAt = $1 }
    FormatKey(
      "duration", ValueFormat<DurationBounds>.bounds.placed, "Duration",
      "The virtual time from the start of the last attempt to its end.", synonyms: "takes time"
    ) { $0.duration = $1 }
  }
}

extension RequestExpectation: FormatObject {
  static let schema: StaticString = #"{"examples": [{"method": "GET"}]}"#

  static let format = ObjectFormat<RequestExpectation>("a request") {
    FormatKey(
      "method", ValueFormat<String>.verbatim.placed, "Method", "The method.", at: \.method)
    FormatKey(
      "url", ValueFormat<String>.verbatim.placed, "URL", "The URL, without credentials.",
      synonyms: "uri path", at: \.url)
    FormatKey(
      "headers", .namedTextsOrNull, "Headers",
      "Headers of the request; null for one that is not sent.", synonyms: "header", at: \.headers)
    FormatKey(
      "body", ValueFormat<String>.verbatim.placed, "Body", "The body, as text.",
      synonyms: "text data", at: \.body)
    FormatKey(
      "json", ValueFormat<JSONValue>.json.placed, "JSON body",
      "The body, as JSON; the order of members does not count.", at: \.json)
  }
}

extension DecodingPass {
  fileprivate mutating func runText(
    _ node: JSONNode, _ field: Field
  ) -> StepExpectation.RunText? {
    if node.kind == .string { return .script(node.stringValue ?? "") }
    guard node.kind == .array else {
      reportType(of: node, field, wanted: "a script, or an array of a program and its arguments")
      return nil
    }
    return placedTexts(node, field).map { .arguments($0.map(\.value)) }
  }

  fileprivate mutating func reason(_ node: JSONNode, _ field: Field) -> String? {
    guard let name = plainText(node, path(field)) else { return nil }
    if StepExpectation.reasons.contains(name) || ErrorClass(name) != nil { return name }
    report(
      .unknownWord(
        path: path(field), word: name, wanted: "a reason or an error class",
        nearest: NearestName(StepExpectation.reasons).nearest(to: name)
          ?? ErrorClass.nearest(to: name),
        help: "the reasons are \(StepExpectation.reasons.joined(separator: ", "))"), at: node)
    return nil
  }

  mutating func stepExpectations(
    _ node: JSONNode, _ field: Field
  ) -> [StepExpectation]? {
    named(node, field, wanted: "an object of steps and their outcomes") { pass, member in
      var expected = StepExpectation(
        pattern: Placed(member.key.stringValue ?? "", member.key.range))
      if member.value.kind == .string {
        guard let outcome: StepExpectation.Outcome = pass.chosen(member.value, .itself) else {
          return nil
        }
        expected.outcome = Placed(outcome, member.value.range)
        return expected
      }
      guard
        pass.isObject(
          member.value, .itself, wanted: "an outcome, or an object",
          help: "write \"success\", or { \"attempts\": 2 }")
      else { return nil }
      pass.read(member.value, .itself, into: &expected)
      return expected
    }
  }

  fileprivate mutating func requestExpectations(
    _ node: JSONNode, _ field: Field
  ) -> [RequestExpectation]? {
    elements(of: node, field, wanted: "an array of requests") { pass, element, field in
      guard pass.isObject(element, field, wanted: "a request") else { return nil }
      var request = RequestExpectation()
      pass.readInside(field, element, into: &request)
      return request
    }
  }
}
