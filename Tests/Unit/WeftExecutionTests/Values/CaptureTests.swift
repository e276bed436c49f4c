import Testing
import WeftDefinition

@testable import WeftEvents
@testable import WeftExecution

/// A step's captured output, as a value for other steps.
@Suite struct CaptureTests {
  private typealias Act = ValueRun.Act

  private static func run(_ expression: String, _ act: Act, a: String = "") throws -> ValueRun {
    try ValueRun(
      #"""
      { "steps": [{ "id": "a", "run": "x"\#(a) }, { "id": "b", "run": ["echo", "${{ \#(expression) }}"] }] }
      """#, acts: ["a": act])
  }

  @Test(
    "one newline at the end is not part of the value, and nothing else is changed",
    arguments: [
      ("v1.2\n", "v1.2"), ("v1.2", "v1.2"), ("a\n\n", "a\n"), ("\n", ""), ("", ""),
      ("a\r\n", "a\r"), ("\na", "\na"),
      ("\u{1}\t\u{7f} é😀 \\ \" ' $x `y` \n", "\u{1}\t\u{7f} é😀 \\ \" ' $x `y` "),
    ])
  func exactBytes(written: String, value: String) throws {
    #expect(try Self.run("steps.a.stdout", .writes(written)).arguments(of: "b") == ["echo", value])
  }

  @Test func aValueMayComeInAnyPieces() throws {
    let act = Act(
      stdout: Array("né\n".utf8).map { [$0] }, stderr: [Array("e".utf8), Array("f\n\n".utf8)])
    #expect(
      try Self.run("format('{0}|{1}', steps.a.stdout, steps.a.stderr)", act).arguments(of: "b")
        == ["echo", "né|ef\n"])
  }

  @Test func mergedOutputIsAllStandardOutput() async throws {
    let plan = try boundPlan(
      #"""
      { "steps": [{ "id": "a", "run": "echo one; echo two >&2", "mergeOutput": true },
                  { "id": "b", "run": "printf '<%s|%s>' ${{ steps.a.stdout }} ${{ steps.a.stderr }}" }] }
      """#
    ).plan
    let run = try await RealRun(plan)
    #expect(run.logs["b"] == "<one\ntwo|>")
  }

  @Test func invalidUTF8FailsOnlyItsReader() throws {
    let act = Act(stdout: [[0x61, 0xFF]])
    let used = try Self.run("steps.a.stdout", act)
    #expect(used.end(of: "a")?.outcome == .success)
    #expect(used.failure(of: "b")?.classes == [.expression])
    #expect(used.failure(of: "b")?.message.contains(#"the stdout of "a" is not UTF-8"#) == true)
    let unused = try Self.run("steps.a.outcome == 'success' || steps.a.stdout", act)
    #expect(unused.arguments(of: "b") == ["echo", "true"])
  }

  @Test(
    "O16: a value longer than 64 KiB comes back whole",
    arguments: [64 << 10, (64 << 10) + 1, 300_000, (1 << 20) - 1, 1 << 20])
  func longValues(count: Int) throws {
    let text = String(repeating: "0123456789abcde\n", count: count / 16 + 1).prefix(count - 1) + "."
    let bytes = Array(text.utf8)
    let act = Act(
      stdout: stride(from: 0, to: count, by: 7000).map { Array(bytes[$0..<min($0 + 7000, count)]) })
    let run = try Self.run("steps.a.stdout", act)
    #expect(run.arguments(of: "b") == ["echo", String(text)])
  }

  @Test("O16: more than 1 MiB is an error only when used, and names the limit")
  func capturedValueIsLimited() throws {
    let act = Act(stdout: [Array(repeating: 0x61, count: (1 << 20) + 1)])
    let used = try Self.run("length(steps.a.stdout)", act)
    #expect(used.end(of: "a")?.outcome == .success)
    let failure = try #require(used.failure(of: "b"))
    #expect(failure.classes == [.expression])
    #expect(failure.message.contains("longer than 1MiB"), "\(failure.message)")
    #expect(failure.help != nil)
    #expect(try Self.run("steps.a.exitCode == 0 || steps.a.stdout", act).outcome == .success)
  }

  @Test func jsonIsReadWhenItIsAskedFor() throws {
    let act = Act.writes(#" {"a": [1, {"b": "x"}]} "# + "\n")
    #expect(try Self.run("steps.a.json.a[1].b", act).arguments(of: "b") == ["echo", "x"])
    #expect(
      try Self.run("steps.a.json.none || 'none'", act).arguments(of: "b") == ["echo", "none"])
  }

  @Test(
    "elements have JSON where an expression reads it",
    arguments: [
      ("join(steps.a.results.*.json.n)", "1,1"), ("steps.a.results[1].json['n']", "1"),
      ("join(map(steps.a.results, 'item.json.n'))", "1,1"),
      ("length(filter(steps.a.results, 'item.json.n == 1'))", "2"),
      ("case(contains(toJSON(steps.a.results), 'json'), 'read', 'not read')", "not read"),
    ])
  func jsonOfElements(expression: String, value: String) throws {
    let act = Act.writes(#"{"n": 1}"#)
    let run = try Self.run(expression, act, a: #", "forEach": [1, 2]"#)
    #expect(run.arguments(of: "b") == ["echo", value])
    let wrong = try Self.run(expression, .writes("no JSON"), a: #", "forEach": [1, 2]"#)
    let failure = wrong.failure(of: "b")
    #expect(
      failure?.message.contains(#"the stdout of "a"[0] is not JSON"#)
        == (value == "not read" ? nil : true))
  }

  @Test("what is not JSON says where", arguments: [#"{"a": 1,}"#, "", "1 2", "{\"a\":\n 1"])
  func jsonFaults(text: String) throws {
    let run = try Self.run("steps.a.json.a", .writes(text))
    let failure = try #require(run.failure(of: "b"))
    #expect(failure.classes == [.expression])
    #expect(failure.message.contains(#"the stdout of "a" is not JSON: "#), "\(failure.message)")
    #expect(failure.message.contains("(line "), "\(failure.message)")
  }

  @Test func statusOfAStepCanBeRead() throws {
    let a = #", "allowFailure": true"#
    let fields =
      "format('{0} {1} {2} {3}', steps.a.outcome, steps.a.conclusion, steps.a.exitCode, steps.a.attempts)"
    #expect(
      try Self.run(fields, .exit(3), a: a).arguments(of: "b") == ["echo", "failure success 3 1"])
    #expect(
      try Self.run("steps.a.signal", Act(status: .ended(.signal("SEGV"))), a: a).arguments(of: "b")
        == ["echo", "SEGV"])
    #expect(
      try Self.run("steps.a.signal || 'none'", .exit(3), a: a).arguments(of: "b") == [
        "echo", "none",
      ])
  }

  @Test func aWholeResultIsAnObject() throws {
    let run = try Self.run("toJSON(steps.a)", .writes("{}\n"))
    let text = try #require(run.arguments(of: "b")?.last)
    for part in [
      #""outcome": "success""#, #""exitCode": 0"#, #""stdout": "{}""#, #""outputs": {}"#,
    ] {
      #expect(text.contains(part), "\(text)")
    }
  }

  @Test func aStepWithTheTerminalHasNoOutput() throws {
    let run = try Self.run(
      "steps.a.stdout || 'none'", Act(), a: #", "tty": "${{ fromJSON('true') }}""#)
    #expect(run.arguments(of: "b") == ["echo", "none"])
  }
}
