import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// Values that would do harm if a shell read them as script text.
@Suite struct InjectionTests {
  static let values = [
    #""; touch canary #"#, "'; touch canary #", "$(touch canary)", "`touch canary`",
    "; touch canary",
    "\ntouch canary\n", "a b  c", "*", "~", "$HOME", "\\", "-n", "", "é😀", "\u{1}\u{1f}\u{7f}",
    "a[$(touch canary)]", "&& touch canary", "<(touch canary)", "!!", "'\"'\"'", "%s%n",
  ]

  /// Prints each of its arguments in brackets.
  private static let shown = #"printf '<%s>' "#

  @Test("S01: an input in a script reaches the program byte for byte", arguments: values)
  func inputsInScripts(value: String) async throws {
    try await expect(
      value, of: "${{ inputs.v }}",
      in:
        #""run": "\#(Self.shown)${{ inputs.v }} \"a${{ inputs.v }}b\" 'c${{ inputs.v }}d' \"$(printf %s \"${{ inputs.v }}\"; echo .)\"""#,
      gives: "<\(value)><a\(value)b><c\(value)d><\(value).>")
  }

  @Test("S01: an output in a script reaches the program byte for byte", arguments: values)
  func outputsInScripts(value: String) async throws {
    try await expect(
      value, of: "${{ steps.make.outputs.v }}",
      in:
        #""run": "\#(Self.shown)${{ steps.make.outputs.v }} \"${{ steps.make.outputs.v }}\"; cat <<E\n${{ steps.make.outputs.v }}\nE""#,
      gives: "<\(value)><\(value)>\(value)\n")
  }

  @Test("S01: a value is one argument of a program", arguments: values)
  func valuesAsArguments(value: String) async throws {
    try await expect(
      value, of: "${{ inputs.v }}",
      in:
        #""run": ["printf", "<%s>", "${{ inputs.v }}", "a${{ inputs.v }}b", "${{ steps.make.outputs.v }}"]"#,
      gives: "<\(value)><a\(value)b><\(value)>")
  }

  @Test("S01: a value in the environment and in the input is a value", arguments: values)
  func valuesElsewhere(value: String) async throws {
    try await expect(
      value, of: "${{ inputs.v }}",
      in:
        #""env": { "V": "${{ inputs.v }}" }, "stdin": "${{ steps.make.outputs.v }}", "run": "\#(Self.shown)\"$V\"; cat""#,
      gives: "<\(value)>\(value)")
  }

  /// Runs a step in a directory where a canary would be found.
  private func expect(
    _ value: String, of expression: String, in step: String, gives output: String
  ) async throws {
    let folder = try Folder()
    let (plan, inputs, _) = try boundPlan(
      #"""
      { "inputs": { "v": { "type": "string" } },
        "steps": [{ "id": "make", "outputs": { "v": "${{ inputs.v }}" } }, { "id": "s", \#(step) }] }
      """#, inputs: ["v": .string(value)])
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    configuration.startDirectory = folder.path
    let run = try await RealRun(plan, configuration: configuration)
    #expect(run.logs["s"] == output)
    #expect(run.report.succeeded, "\(run.end(of: "s")?.failure?.message ?? "")")
    #expect(folder.names == [])
  }

  @Test(
    "S01: bash gets values as sh does",
    arguments: values.filter { !$0.isEmpty })
  func bashReceivesValuesAsShDoes(value: String) async throws {
    try await expect(
      value, of: "${{ inputs.v }}",
      in:
        #""shell": "bash", "run": "x=${{ inputs.v }}; [[ ${{ inputs.v }} == \"$x\" ]] && \#(Self.shown)${{ inputs.v }} \"${{ inputs.v }}\"""#,
      gives: "<\(value)><\(value)>")
  }

  @Test("P09: a value too long for an argument says so before the start")
  func tooLongForAnArgument() async throws {
    let long = String(repeating: "a", count: 140_000)
    let (plan, inputs, _) = try boundPlan(
      #"""
      { "inputs": { "v": { "type": "string" } }, "onFailure": "continue", "parallel": [
        { "id": "argument", "run": ["echo", "${{ inputs.v }}"] },
        { "id": "text", "run": ["echo", "${{ fromJSON('[1, 2]') }}", "v=${{ inputs.v }}"] },
        { "id": "script", "run": "echo 'a' ${{ inputs.v }}" },
        { "id": "variable", "env": { "V": "${{ inputs.v }}" }, "run": "true" },
        { "id": "group", "env": { "V": "${{ inputs.v }}" }, "steps": [
          { "id": "inside", "run": "true" },
          { "id": "without", "env": { "V": null }, "run": "true" }] },
        { "id": "input", "stdin": "${{ inputs.v }}", "run": "wc -c" } ] }
      """#, inputs: ["v": .string(long)])
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    let run = try await RealRun(plan, configuration: configuration)
    let only = "${{ inputs.v }} has 140000 bytes, but the system accepts less than"
    let whole = #""v=${{ inputs.v }}" has 140002 bytes, but the system accepts less than"#
    let expected = [
      "argument": "\(only) 131072 in one argument (workflow.json:2:44)",
      "text": "\(whole) 131072 in one argument (workflow.json:3:65)",
      "script": "\(only) 131059 in one variable (workflow.json:4:42)",
      "variable": "\(only) 131070 in one variable (workflow.json:5:42)",
      "inside": "\(only) 131070 in one variable (workflow.json:6:39)",
    ]
    for (id, message) in expected {
      let failure = try #require(run.end(of: id)?.failure, "\(id)")
      #expect(failure.classes == [.limit], "\(id)")
      #expect(failure.message == "did not start: \(message)")
      #expect(failure.help == #"pass it on "stdin", or in a file that the program reads"#)
    }
    #expect(run.logs["input"]?.contains("140000") == true)
  }

  @Test("P09: what is written in the file itself is told by its place in the command line")
  func tooLongAsWritten() async throws {
    let long = String(repeating: "a", count: 140_000)
    let (plan, _, _) = try boundPlan(
      #"{ "steps": [{ "id": "a", "run": ["echo", "${{ fromJSON('[]') }}", "\#(long)"] }] }"#)
    let failure = try #require(try await RealRun(plan).end(of: "a")?.failure)
    #expect(failure.classes == [.limit])
    #expect(failure.message.hasPrefix("did not start: argument 1 is 140000 bytes long"))
  }

  static let placesOfNUL = [
    (#""run": ["echo", "${{ inputs.v }}"]"#, "in one argument"),
    (#""run": "echo ${{ inputs.v }}""#, "in one variable"),
    (#""env": { "V": "${{ inputs.v }}" }, "run": "true""#, "in one variable"),
  ]

  @Test("a value with a NUL in it is told by its expression", arguments: placesOfNUL)
  func holdsNUL(step: String, vessel: String) async throws {
    let (plan, inputs, _) = try boundPlan(
      #"{ "inputs": { "v": { "type": "string" } }, "steps": [{ "id": "s", \#(step) }] }"#,
      inputs: ["v": .string("a\0b")])
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    let run = try await RealRun(plan, configuration: configuration)
    let failure = try #require(run.end(of: "s")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.hasPrefix("did not start: ${{ inputs.v }} contains a NUL"))
    #expect(failure.message.contains("cannot be passed \(vessel) (workflow.json:1:"))
  }
}
