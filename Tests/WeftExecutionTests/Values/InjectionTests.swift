import Testing
import WeftDefinition
import WeftJSON
import WeftPlanning

@testable import WeftExecution

/// Values that would do harm if a shell read them as its own text.
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
  func bash(value: String) async throws {
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
        { "id": "script", "run": "echo ${{ inputs.v }}" },
        { "id": "variable", "env": { "V": "${{ inputs.v }}" }, "run": "true" },
        { "id": "input", "stdin": "${{ inputs.v }}", "run": "wc -c" } ] }
      """#, inputs: ["v": .string(long)])
    var configuration = EngineConfiguration()
    configuration.inputs = inputs
    let run = try await RealRun(plan, configuration: configuration)
    for id in ["argument", "script", "variable"] {
      #expect(run.end(of: id)?.failure?.classes == [.limit], "\(id)")
      #expect(run.end(of: id)?.failure?.help != nil)
    }
    #expect(run.logs["input"]?.contains("140000") == true)
  }
}
