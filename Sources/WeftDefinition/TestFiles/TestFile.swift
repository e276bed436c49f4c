package import WeftDiagnostics
package import WeftJSON

/// A test file: a workflow, and cases that say what a run of it must do when its steps end in given ways.
///
/// ``TestFileDecoder`` reads it. Nothing here knows the workflow: whether its steps exist, and whether a case holds, is
/// for others to say, with the locations that are kept.
package struct TestFile: Sendable {
  package let source: SourceFile
  /// The path of the workflow, relative to the folder of the test file.
  package internal(set) var workflow: Placed<String>?
  /// The settings that all cases share.
  package internal(set) var settings = TestSettings()
  package internal(set) var cases: [TestCase] = []

  /// The location of a part of the file.
  package func place(_ range: SourceRange) -> Diagnostic.Place {
    Diagnostic.Place(file: source, range: range)
  }
}

/// A value of a test file and its location.
package struct Placed<Value: Sendable>: Sendable {
  package let value: Value
  package let range: SourceRange

  package init(_ value: Value, _ range: SourceRange) {
    self.value = value
    self.range = range
  }
}

/// A member of an object whose names the file chooses: its name, the location of that, and its value.
package struct Named<Value: Sendable>: Sendable {
  package let name: String
  package let range: SourceRange
  package let value: Value
}

/// The surroundings of a run, and the results of its steps.
package struct TestSettings: Sendable {
  package internal(set) var inputs: [JSONMember] = []
  package internal(set) var secrets: [Named<String>] = []
  /// The environment of the engine; nothing is inherited.
  package internal(set) var environment: [Named<String>] = []
  package internal(set) var steps: [StepScript] = []
}

/// A part of a test file that has ``TestSettings``.
protocol HasTestSettings: FormatObject {
  var settings: TestSettings { get set }
}

/// One case: a run in given surroundings, and what it must do.
package struct TestCase: Sendable {
  package internal(set) var name = Placed("", SourceRange(start: 0, end: 0))
  package internal(set) var settings = TestSettings()
  /// The wall clock at the start of the run.
  package internal(set) var startsAt: WallMoment?
  package internal(set) var maxParallel: Int?
  package internal(set) var onFailure: FailureResponse?
  package internal(set) var timeout: Duration?
  package internal(set) var only: [Placed<String>] = []
  package internal(set) var skip: [Placed<String>] = []
  package internal(set) var from: [Placed<String>] = []
  /// The value of `run.args`.
  package internal(set) var arguments: [Placed<String>] = []
  /// The values kept by earlier runs; all others are the defaults.
  package internal(set) var state: [Named<JSONValue>] = []
  package internal(set) var interruptions: [TestInterruption] = []
  /// The engines that resume the run, one after another, each when the one before it has ended.
  package internal(set) var resumptions: [TestResumption] = []
  /// The number of completion orders to try.
  package internal(set) var orders = 1
  package internal(set) var expected = TestExpectations()

  /// The most orders of one case.
  package static let mostOrders = 100_000
}

/// The JSON Schema of test files, printed from the tables of the format like ``WorkflowSchema``.
package enum TestFileSchema {
  /// The text of `schemas/test.schema.json`.
  package static var text: String {
    var schema: JSONObject = [
      "$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "urn:weft:test.schema",
      "title": "Weft tests", "description": "Cases of a workflow, and what each must do.",
    ]
    schema.merge(WorkflowSchema.object(TestFile.self))
    schema["$defs"] = .object(definitions(usedBy: .object(schema)))
    var writer = JSONWriter(.pretty)
    writer.value(WorkflowSchema.resolved(.object(schema)))
    return writer.text + "\n"
  }

  /// The definitions of test files, and those of workflow files that they use.
  private static func definitions(usedBy root: JSONValue) -> JSONObject {
    var all = WorkflowSchema.definitions
    all.merge(WorkflowSchema.parsed(sharedDefinitions))
    all["case"] = .object(WorkflowSchema.object(TestCase.self))
    all["result"] = .object(withExitCode(WorkflowSchema.object(ScriptedResult.self)))
    all["response"] = .object(WorkflowSchema.object(ScriptedResponse.self))
    all["interruption"] = .object(WorkflowSchema.object(TestInterruption.self))
    all["resumption"] = .object(WorkflowSchema.object(TestResumption.self))
    all["expectations"] = .object(WorkflowSchema.object(TestExpectations.self))
    var step = WorkflowSchema.object(StepExpectation.self)
    step["properties"] = step["properties"].map(withReasons)
    all["stepExpectation"] = .object(step)
    all["stepOutcome"] = [
      "enum": .array(StepExpectation.Outcome.allCases.map { .string($0.rawValue) })
    ]
    all["request"] = .object(WorkflowSchema.object(RequestExpectation.self))
    var bounds = WorkflowSchema.object(DurationBoundsDraft.self)
    bounds["title"] = "Bounds"
    all["bounds"] = ["anyOf": ["@time", .object(bounds)]]
    var used: [String] = []
    var open = references(in: root)
    while let name = open.popLast() {
      guard !used.contains(name), let definition = all[name] else { continue }
      used.append(name)
      open += references(in: definition)
    }
    return JSONObject(all.members.filter { used.contains($0.key) }.map { ($0.key, $0.value) })
  }

  private static func withExitCode(_ result: JSONObject) -> JSONObject {
    var object = result
    let examples = object["examples"]
    object["examples"] = nil
    var schema: JSONObject = [
      "title": "Result", "description": "The result of an attempt, or its exit code alone.",
      "anyOf": [["type": "integer", "minimum": 0, "maximum": 255], .object(object)],
    ]
    schema["examples"] = examples
    return schema
  }

  /// Fills in the list of reasons, which the table only mentions.
  private static func withReasons(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string("$reasons"): .array(StepExpectation.reasons.map(JSONValue.string))
    case .array(let elements): .array(elements.map(withReasons))
    case .object(let object):
      .object(JSONObject(object.members.map { ($0.key, withReasons($0.value)) }))
    default: value
    }
  }

  private static func references(in value: JSONValue) -> [String] {
    switch value {
    case .string(let text) where text.hasPrefix("@"): [String(text.dropFirst())]
    case .array(let elements): elements.flatMap(references)
    case .object(let object):
      object.members.flatMap { member -> [String] in
        if member.key == "$ref", case .string(let name) = member.value { return [name] }
        return references(in: member.value)
      }
    default: []
    }
  }

  private static let sharedDefinitions: StaticString = #"""
    {
    "anyText": {"type": "string"},
    "pattern": {"title": "Address or pattern",
    "description": "The address of a step, or a pattern in which * is any text.",
    "type": "string", "minLength": 1, "examples": ["deploy[*]"]},
    "patterns": {"type": "array", "items": "@pattern", "examples": [["deploy", "notify.*"]]},
    "scripts": {"type": "object", "additionalProperties": {"anyOf": ["@result",
    {"type": "array", "items": "@result", "minItems": 1}]},
    "examples": [{"build": {"stdout": "ok"}, "deploy[*]": [{"exit": 1}, {}], "lint": 0}]},
    "texts": {"type": "object", "additionalProperties": {"type": "string"}},
    "textsOrNull": {"type": "object", "additionalProperties": {"type": ["string", "null"]}},
    "time": {"anyOf": ["@duration", "@nothing"]}
    }
    """#
}
