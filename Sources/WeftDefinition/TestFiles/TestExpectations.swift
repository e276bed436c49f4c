import WeftDiagnostics
package import WeftJSON

/// Everything that a case says about its run; what it does not mention may be anything.
package struct TestExpectations: Sendable {
  /// The result of a run, as a case names it.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case success, failure, cancelled
    /// Suspended until an approval is answered.
    case waiting
  }

  package internal(set) var outcome: Placed<Outcome>?
  package internal(set) var exitCode: Placed<Int>?
  package internal(set) var duration: Placed<DurationBounds>?
  /// The step whose failure is the cause of the run's.
  package internal(set) var firstFailure: Placed<String>?
  /// Some of the outputs.
  package internal(set) var outputs: [Named<JSONValue>] = []
  /// Some of the state that the run keeps.
  package internal(set) var state: [Named<JSONValue>] = []
  package internal(set) var steps: [StepExpectation] = []
  package internal(set) var neverStarts: [Placed<String>] = []
  /// Chains of steps, each of which ends before the next one starts.
  package internal(set) var before: [[Placed<String>]] = []
  package internal(set) var notBefore: [Named<Duration>] = []
  package internal(set) var atMostAtOnce: [Named<Int>] = []
}

/// A range of durations; equal bounds for an exact one.
package struct DurationBounds: Sendable, Hashable {
  package internal(set) var atLeast: Duration?
  package internal(set) var atMost: Duration?

  package func contains(_ duration: Duration) -> Bool {
    (atLeast.map { $0 <= duration } ?? true) && (atMost.map { duration <= $0 } ?? true)
  }
}

// MARK: Format

extension TestExpectations: FormatObject {
  static let schema: StaticString = #"""
    {"minProperties": 1, "examples": [{"outcome": "success", "neverStarts": ["rollback"]},
    {"exitCode": 1, "steps": {"deploy": {"attempts": 3}, "notify": "skipped"}}]}
    """#

  static let format = ObjectFormat<TestExpectations>("\"expect\"") {
    FormatKey(
      "outcome", ValueFormat<Outcome>.word(of: Outcome.self).placed, "Outcome",
      "The result of the run. waiting: suspended until an approval is answered.",
      schema: #"{"examples": ["success"]}"#, synonyms: "result status conclusion", at: \.outcome)
    FormatKey(
      "exitCode", ValueFormat<Int>.integer(0...255).placed, "Exit code",
      "The exit code of weft run, or of weft resume if the run is resumed.",
      synonyms: "exit code status", at: \.exitCode)
    FormatKey(
      "duration", ValueFormat<DurationBounds>.bounds.placed, "Duration",
      "The virtual time that the run takes: exactly this, or within these bounds.",
      synonyms: "takes time totalTime", at: \.duration)
    FormatKey(
      "firstFailure", ValueFormat<String>.verbatim.placed, "First failure",
      "The step or group whose failure is the cause of the run's.",
      synonyms: "cause failedStep failed", at: \.firstFailure)
    FormatKey(
      "outputs", .namedValues, "Outputs",
      "Outputs of the run; those that are not named may be anything.",
      schema: #"{"type": "object", "examples": [{"url": "https://example.com/7"}]}"#, at: \.outputs)
    FormatKey(
      "state", .namedValues, "State",
      "State that the run keeps; what is not named may be anything. A run that fails keeps none.",
      schema: #"{"type": "object", "examples": [{"last": "v1.3.0"}]}"#, at: \.state)
    FormatKey(
      "steps", ValueFormat { $0.stepExpectations($1, $2) }, "Steps",
      "Steps by address or pattern, and the outcome of each, or more about it.",
      schema: #"""
        {"type": "object", "additionalProperties": {"anyOf": ["@stepOutcome",
        "@stepExpectation"]}, "examples": [{"build": "success", "deploy[*]": {"attempts": 2}}]}
        """#, synonyms: "jobs step", at: \.steps)
    FormatKey(
      "neverStarts", .patterns, "Never starts", "Steps, by address or pattern, that do not start.",
      synonyms: "notStarted never skipped", at: \.neverStarts)
    FormatKey(
      "before", ValueFormat { $0.chains($1, $2) }, "Order",
      "Chains of steps: each ends before the next one starts.",
      schema: #"""
        {"type": "array", "items": {"type": "array", "items": "@pattern", "minItems": 2},
        "examples": [[["build", "test", "deploy"]]]}
        """#, synonyms: "order after", at: \.before)
    FormatKey(
      "notBefore", ValueFormat { $0.namedDurations($1, $2) }, "Earliest start",
      "Steps, and the virtual time before which they do not start.",
      schema: #"{"type": "object", "additionalProperties": "@time"}"#, synonyms: "earliest"
    ) { $0.notBefore = $1 }
    FormatKey(
      "atMostAtOnce", ValueFormat { $0.namedCounts($1, $2) }, "At once",
      "Steps, and the maximum number of them that run at once.",
      schema: #"""
        {"type": "object", "additionalProperties": {"type": "integer", "minimum": 1,
        "maximum": 1000000}, "examples": [{"upload[*]": 4}]}
        """#, synonyms: "maxParallel concurrency", at: \.atMostAtOnce)
  }
}

struct DurationBoundsDraft: FormatObject {
  var bounds = DurationBounds()

  static let schema: StaticString = #"{"minProperties": 1, "examples": [{"atMost": "1h"}]}"#

  static let format = ObjectFormat<DurationBoundsDraft>("bounds of a duration") {
    FormatKey(
      "atLeast", .testDuration, "Lower bound", "The minimum.", synonyms: "min minimum from"
    ) { $0.bounds.atLeast = $1 }
    FormatKey(
      "atMost", .testDuration, "Upper bound", "The maximum.", synonyms: "max maximum to"
    ) { $0.bounds.atMost = $1 }
  }
}

extension ValueFormat<DurationBounds> {
  static var bounds: ValueFormat { ValueFormat("bounds") { $0.durationBounds($1, $2) } }
}

extension DecodingPass {
  fileprivate mutating func durationBounds(_ node: JSONNode, _ field: Field) -> DurationBounds? {
    guard node.kind == .object else {
      return duration(node, field, allowsZero: true).map { DurationBounds(atLeast: $0, atMost: $0) }
    }
    var draft = DurationBoundsDraft()
    readInside(field, node, into: &draft)
    if let least = draft.bounds.atLeast, let most = draft.bounds.atMost, least > most {
      report(.emptyBounds(path: path(field), least, most), at: node)
      return nil
    }
    return draft.bounds
  }

  fileprivate mutating func chains(_ node: JSONNode, _ field: Field) -> [[Placed<String>]]? {
    elements(of: node, field, wanted: "an array of chains") { pass, element, field in
      guard
        pass.isArray(
          element, field, wanted: "an array of at least two steps",
          help: "write [[\"build\", \"test\"]]"),
        let chain = pass.inside(
          field.key, at: field.index ?? 0, { $0.placedTexts(element, .itself) })
      else { return nil }
      if chain.count < 2 {
        pass.report(
          .tooShortChain(path: pass.path(field), count: element.elements.count), at: element)
      }
      return chain
    }
  }

  fileprivate mutating func namedDurations(_ node: JSONNode, _ field: Field) -> [Named<Duration>]? {
    named(node, field, wanted: "an object of steps and durations") { pass, member in
      pass.duration(member.value, .itself, allowsZero: true).map { member.named($0) }
    }
  }

  fileprivate mutating func namedCounts(_ node: JSONNode, _ field: Field) -> [Named<Int>]? {
    named(node, field, wanted: "an object of steps and numbers") { pass, member in
      if member.value.numberValue?.asInt == 0 {
        pass.report(.noneAtOnce(member.key.stringValue ?? ""), at: member.value)
        return nil
      }
      return pass.integer(member.value, .itself, in: 1...1_000_000).map { member.named($0) }
    }
  }
}

extension Diagnostic {
  fileprivate static func emptyBounds(
    path: String, _ least: Duration, _ most: Duration
  ) -> Diagnostic {
    Diagnostic(
      .emptyRange,
      "\(path) is from \(DurationText.text(of: least)) to \(DurationText.text(of: most)), which "
        + "no duration can be")
  }

  fileprivate static func tooShortChain(path: String, count: Int) -> Diagnostic {
    Diagnostic(
      .empty, "\(path) has \(Count(count, "step")), expected at least two",
      help: "a chain says that each step ends before the next one starts")
  }

  fileprivate static func noneAtOnce(_ pattern: String) -> Diagnostic {
    Diagnostic(
      .numberOutOfRange, "\(quoted(pattern)) is expected to run 0 times at once",
      help: "for steps that do not run, write \"neverStarts\": [\(quoted(pattern))]")
  }
}
