import WeftJSON

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
