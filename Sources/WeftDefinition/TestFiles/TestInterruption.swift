package import WeftDiagnostics
import WeftJSON

/// An interference with a run from outside.
package struct TestInterruption: Sendable {
  package enum Act: String, Sendable, Hashable, CaseIterable {
    /// As the first ^C, or `weft cancel`.
    case cancel
    /// As the second ^C: without a grace period.
    case kill
    /// The engine is gone from one moment to the next, as after a power failure.
    case crash
    /// From now on the journal cannot be written.
    case fullDisk
  }

  package enum Moment: Sendable {
    case time(Duration)
    case start(of: Placed<String>)
    case end(of: Placed<String>)
    /// When the journal has this many records; `nil` for a run of the case at each of them.
    case record(Int?)
  }

  package internal(set) var act = Placed(Act.cancel, SourceRange(start: 0, end: 0))
  package internal(set) var moment = Moment.time(.zero)
  package internal(set) var range = SourceRange(start: 0, end: 0)
}

/// One engine that resumes a run, and the rules for it.
package struct TestResumption: Sendable {
  package enum Interrupted: String, Sendable, Hashable, CaseIterable {
    case fail, rerun, skip
  }

  package internal(set) var interrupted = Interrupted.fail
  package internal(set) var rerun: [Placed<String>] = []
  /// The results under this engine and those after it; the earlier ones apply to other steps.
  package internal(set) var steps: [StepScript] = []
  package internal(set) var interruptions: [TestInterruption] = []
  /// The time between the end of the engine before it and its start.
  package internal(set) var pause = Duration.zero
  package internal(set) var range = SourceRange(start: 0, end: 0)
}

// MARK: Format

extension TestInterruption: FormatObject {
  static let schema: StaticString = #"""
    {"oneOf": [{"required": ["at"]}, {"required": ["onStart"]}, {"required": ["onEnd"]},
    {"required": ["atRecord"]}], "examples": [{"onStart": "deploy", "do": "crash"}]}
    """#

  static let format = ObjectFormat<TestInterruption>("an interruption") {
    FormatKey(
      "do", ValueFormat<Act>.word(of: Act.self).placed, "Act",
      """
      cancel: as the first ^C. kill: as the second. crash: the engine is gone, as after a \
      power failure. fullDisk: from now on, nothing starts.
      """, synonyms: "act action kind", required: "{ \"at\": \"10s\", \"do\": \"cancel\" }"
    ) { $0.act = $1 }
    FormatKey(
      "at", .testDuration, "Time", "The virtual time since the start of the engine.",
      synonyms: "time after when"
    ) { $0.moment = .time($1) }
    FormatKey(
      "onStart", ValueFormat<String>.verbatim.placed, "Start of a step",
      "The address of a step: when its first attempt starts.", synonyms: "started start"
    ) { $0.moment = .start(of: $1) }
    FormatKey(
      "onEnd", ValueFormat<String>.verbatim.placed, "End of a step",
      "The address of a step: when it has ended.", synonyms: "ended end"
    ) { $0.moment = .end(of: $1) }
    FormatKey(
      "atRecord", ValueFormat { $0.recordNumber($1, $2) }, "Record",
      """
      When the journal has this many records, and no more. each: the case is run once for every \
      record, and interrupted there.
      """,
      schema: #"""
        {"anyOf": [{"type": "integer", "minimum": 1, "maximum": 1000000}, {"const": "each"}],
        "examples": ["each"]}
        """#, synonyms: "record afterRecord records"
    ) { $0.moment = .record($1) }
  }
}

extension TestResumption: FormatObject {
  static let schema: StaticString = #"{"examples": [{"interrupted": "rerun"}]}"#

  static let format = ObjectFormat<TestResumption>("\"resume\"") {
    FormatKey(
      "interrupted", .word(of: Interrupted.self), "Interrupted steps",
      """
      The effect on steps that ran when the engine crashed, and are not idempotent: fail, \
      or as --rerun-interrupted and --skip-interrupted.
      """, schema: #"{"default": "fail"}"#, at: \.interrupted)
    FormatKey(
      "rerun", .patterns, "Rerun", "Steps that run again whatever the journal says, as --rerun.",
      at: \.rerun)
    FormatKey(
      "steps", .scripts, "Results of steps",
      "Results under this engine and those after it; the others stay as they are.", at: \.steps)
    FormatKey(
      "interrupt", ValueFormat { $0.interruptions($1, $2) }, "Interruptions",
      "Interferences with this engine, as for the first one.",
      schema: #"{"anyOf": ["@interruption", {"type": "array", "items": "@interruption"}]}"#,
      synonyms: "interruptions interrupts cancel kill crash", at: \.interruptions)
    FormatKey(
      "after", .testDuration, "Pause",
      "The time between the end of the engine before it and its start.",
      schema: #"{"default": "0s", "examples": ["8h"]}"#, synonyms: "pause delay wait", at: \.pause)
  }
}

extension DecodingPass {
  mutating func interruptions(
    _ node: JSONNode, _ field: Field
  ) -> [TestInterruption]? {
    if node.kind == .object { return [interruption(node, field)] }
    return elements(
      of: node, field, wanted: "an interruption, or an array of them",
      help: "write { \"at\": \"10s\", \"do\": \"cancel\" }"
    ) { pass, element, field in
      guard pass.isObject(element, field, wanted: "an interruption") else { return nil }
      return pass.interruption(element, field)
    }
  }

  private mutating func interruption(_ node: JSONNode, _ field: Field) -> TestInterruption {
    var interruption = TestInterruption()
    interruption.range = node.range
    let reading = readInside(field, node, into: &interruption)
    let moments = ["at", "onStart", "onEnd", "atRecord"].compactMap { member($0, of: node) }
    if moments.isEmpty, !reading.hasUnknownKey { report(.noMoment, at: node) }
    if moments.count > 1 { report(.twoMoments, at: moments[1].key) }
    return interruption
  }

  /// A number, or `nil` for each.
  fileprivate mutating func recordNumber(_ node: JSONNode, _ field: Field) -> Int?? {
    if node.stringValue == "each" { return .some(nil) }
    guard node.kind == .number else {
      reportType(of: node, field, wanted: "the number of a record, or \"each\"")
      return nil
    }
    return integer(node, field, in: 1...1_000_000).map { .some($0) }
  }

  /// `true`, `false`, the rules, or an array with the rules for each engine after the first.
  mutating func resumptions(_ node: JSONNode, _ field: Field) -> [TestResumption]? {
    switch node.boolValue {
    case false?: return []
    case true?: return [resumption(node, field)]
    case nil: break
    }
    if node.kind == .object { return [resumption(node, field)] }
    return elements(
      of: node, field, wanted: "true, false, an object or an array",
      atLeast: "at least one resumption"
    ) { pass, element, field in
      let isTrue = element.boolValue == true
      guard isTrue || pass.isObject(element, field, wanted: "true, or an object") else {
        return nil
      }
      return pass.resumption(element, field)
    }
  }

  private mutating func resumption(_ node: JSONNode, _ field: Field) -> TestResumption {
    var resumption = TestResumption()
    resumption.range = node.range
    if node.kind == .object { readInside(field, node, into: &resumption) }
    return resumption
  }
}

extension Diagnostic {
  fileprivate static var noMoment: Diagnostic {
    Diagnostic(
      .missingKey, "the interruption has no moment, which is required",
      help: "write \"at\": \"10s\", \"onStart\": \"STEP\", \"onEnd\": \"STEP\" or \"atRecord\": 7")
  }

  fileprivate static var twoMoments: Diagnostic {
    Diagnostic(
      .severalActions, "the interruption has several moments, expected one of them",
      help: "write an array of interruptions")
  }
}
