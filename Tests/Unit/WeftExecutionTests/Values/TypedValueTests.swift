import Testing
import WeftDefinition
import WeftJSON

@testable import WeftEvents
@testable import WeftExecution

/// A text that is exactly one expression keeps the value's type; in a longer text, the value is converted to text.
@Suite struct TypedValueTests {
  private static let inputs = #"""
    "inputs": { "text": { "type": "string" }, "number": { "type": "number" }, "flag": { "type": "boolean" },
      "list": { "type": "array" }, "nothing": { "type": "null", "default": null }, "object": { "type": "object", "default": {} } }
    """#

  private static func arguments(
    _ arguments: String, inputs: KeyValuePairs<String, JSONValue> = [:]
  ) throws -> [String]? {
    let given = Dictionary(uniqueKeysWithValues: inputs.map { ($0.key, $0.value) })
    let json = #"{ \#(Self.inputs), "steps": [{ "id": "s", "run": \#(arguments) }] }"#
    let run = try ValueRun(
      json,
      inputs: [
        "text": given["text"] ?? "", "number": given["number"] ?? 0, "flag": given["flag"] ?? false,
        "list": given["list"] ?? [],
      ])
    return run.arguments(of: "s")
  }

  @Test(
    "numbers and truths are written as JSON writes them",
    arguments: [
      (3 as JSONValue, "3"), (-0.5, "-0.5"), (1e21, "1e+21"), (12_345_678_901, "12345678901"),
    ])
  func numbersAreWritten(value: JSONValue, text: String) throws {
    let run = try Self.arguments(
      #"["echo", "${{ inputs.number }}", "n=${{ inputs.number }}", "${{ inputs.flag }}"]"#,
      inputs: ["number": value, "flag": true])
    #expect(run == ["echo", text, "n=\(text)", "true"])
  }

  @Test func anArrayBecomesAsManyArgumentsAsItHas() throws {
    let arguments = #"["echo", "a", "${{ inputs.list }}", "z", "${{ inputs.list }}"]"#
    #expect(
      try Self.arguments(arguments, inputs: ["list": ["x y", "", 3, true, "*"]])
        == ["echo", "a", "x y", "", "3", "true", "*", "z", "x y", "", "3", "true", "*"])
    #expect(try Self.arguments(arguments, inputs: ["list": []]) == ["echo", "a", "z"])
  }

  @Test func anArrayMayBeTheWholeCommandLine() throws {
    #expect(
      try Self.arguments(#"["${{ inputs.list }}", "end"]"#, inputs: ["list": ["printf", "%s"]])
        == ["printf", "%s", "end"])
  }

  @Test(
    "without the name of a program nothing is started",
    arguments: [[] as JSONValue, [""]])
  func noProgram(list: JSONValue) throws {
    let run = try ValueRun(
      #"{ "inputs": { "list": {} }, "steps": [{ "id": "s", "run": ["${{ inputs.list }}"] }] }"#,
      inputs: ["list": list])
    #expect(run.failure(of: "s")?.classes == [.expression])
    #expect(run.started["s"] == nil)
  }

  @Test func nullRemovesAVariableAndOtherValuesAreWritten() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "none": { "default": null }, "n": { "default": 2.5 }, "b": { "default": false } },
        "env": { "GONE": "here" },
        "steps": [{ "id": "s", "run": "true",
          "env": { "GONE": "${{ inputs.none }}", "N": "${{ inputs.n }}", "B": "${{ inputs.b }}", "E": "${{ '' }}" } }] }
      """#)
    let environment = try #require(run.started["s"]?.environment)
    #expect(environment == ["GONE": nil, "N": "2.5", "B": "false", "E": ""])
  }

  @Test func nullAsStandardInputIsNone() throws {
    let run = try ValueRun(
      #"""
      { "inputs": { "none": { "default": null } },
        "steps": [{ "id": "s", "run": "cat", "stdin": "${{ inputs.none }}" },
                  { "id": "t", "run": "cat", "stdin": "${{ 12 }}\n" },
                  { "id": "u", "run": "cat", "stdin": { "file": "in/${{ 1 }}" } }] }
      """#)
    #expect(run.started["s"]?.command?.stdin == nil)
    #expect(run.started["t"]?.command?.stdin == .text("12\n"))
    #expect(run.started["u"]?.command?.stdin == .file("in/1"))
  }

  /// Values that cannot be part of a text: the step, and the expected message.
  static let unwritable: [(step: String, says: String)] = [
    (
      #""run": ["echo", "${{ inputs.none }}"]"#,
      #"run[1] cannot be computed: "inputs.none" is null"#
    ),
    (
      #""run": ["echo", "a ${{ inputs.none }}"]"#,
      #"run[1] cannot be computed: "inputs.none" is null"#
    ),
    (#""run": "echo ${{ inputs.none }}""#, #"run cannot be computed: "inputs.none" is null"#),
    (
      #""run": "true", "cwd": "${{ inputs.none }}""#,
      #"cwd cannot be computed: "inputs.none" is null"#
    ),
    (#""run": "true", "env": { "X": "a${{ inputs.none }}" }"#, "env.X cannot be computed"),
    (#""run": "true", "stdin": "a${{ inputs.none }}""#, "stdin cannot be computed"),
    (#""run": "true", "stdin": { "file": "${{ inputs.none }}" }"#, "stdin.file cannot be computed"),
    (#""run": "true", "timeout": "${{ inputs.none }}""#, "timeout cannot be computed"),
    (#""run": ["echo", "a ${{ inputs.list }}"]"#, "run[1] cannot be computed"),
    (#""run": ["echo", "${{ inputs.object }}"]"#, "run[1] cannot be computed"),
    (#""run": ["echo", "${{ inputs.nested }}"]"#, "run[1] cannot be computed"),
    (#""run": ["echo", "${{ inputs.object.x.y }}!"]"#, #""inputs.object.x.y" is null"#),
  ]

  @Test("what cannot be written fails the step and says which part", arguments: unwritable)
  func unwritableFails(step: String, says: String) throws {
    let head = #"""
      { "inputs": { "none": { "default": null }, "list": { "default": [1] }, "object": { "default": {} }, "nested": { "default": [[1]] } },
      "steps": [
      """#
    let run = try ValueRun("\(head)\n{ \"id\": \"s\", \(step) }] }")
    let failure = try #require(run.failure(of: "s"))
    #expect(failure.classes == [.expression])
    #expect(failure.message.contains(says), "\(failure.message)")
    #expect(failure.message.contains("(workflow.json:3:"), "\(failure.message)")
    #expect(run.started["s"] == nil)
    #expect(run.end(of: "s")?.attempts == 1)
    #expect(run.outcome == .failure)
  }

  @Test func theCureForNullWorks() throws {
    let run = try ValueRun(
      #"{ "inputs": { "none": { "default": null } }, "steps": [{ "id": "s", "run": ["echo", "a${{ inputs.none || '' }}b"] }] }"#
    )
    #expect(run.arguments(of: "s") == ["echo", "ab"])
  }
}
