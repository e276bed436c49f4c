import Testing
import WeftDefinition
import WeftDiagnostics
import WeftHTTP
import WeftJSON
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftRecord
@testable import WeftReporting
@testable import WeftReports

@Suite struct RunDifferenceTests {
  private static func texts(_ difference: RunDifference) -> [String] {
    let settings = DisplaySettings(mode: .plain)
    return RunDifferenceText(settings).rendered(difference).split(separator: "\n").map(String.init)
  }

  // MARK: Definitions

  private static func defined(_ definition: String, mask: SecretMask = .none) throws -> ReportedRun
  {
    let (workflow, _) = WorkflowDecoder.decode(
      SourceFile(path: "w.json", bytes: Array(definition.utf8)))
    let plan = try #require(workflow.flatMap { Planner.plan($0).plan })
    return Journal(file: "w.json", hash: definition).reported(mask: mask, definition: plan)
  }

  @Test(arguments: [
    (#"{"steps": ["true"]}"#, #"{"steps": ["true"]}"#, []),
    (
      #"{"steps": ["true"]}"#, #"{ "steps": [{"run": "true"}] }"#,
      ["the file has changed, but no step, group or key of it"]
    ),
    (
      #"{"steps": [{"id": "a", "run": "x", "env": {"P": "1", "Q": "2"}}]}"#,
      #"{"steps": [{"id": "a", "run": "x", "env": {"P": "1", "Q": "3"}, "timeout": "5s"}]}"#,
      [#"changed "a""#, #"  env.Q: "2" → "3""#, #"  timeout: none → "5s""#]
    ),
    (
      #"{"steps": [{"id": "a", "run": "x"}]}"#, #"{"steps": [{"id": "b", "run": "x"}]}"#,
      [#"added "b""#, #"removed "a""#]
    ),
    (
      #"{"steps": [{"id": "a", "run": "x"}]}"#,
      #"{"env": {"P": "1"}, "steps": [{"id": "a", "run": "x"}]}"#,
      ["changed the workflow: env", #"changed "a""#, "  env, set around it"]
    ),
    (
      #"{"steps": [{"id": "g", "maxParallel": 1, "parallel": [{"id": "a", "run": "x"}]}]}"#,
      #"{"steps": [{"id": "g", "maxParallel": 2, "parallel": [{"id": "a", "run": "y"}]}]}"#,
      [#"changed "a""#, #"  run: "x" → "y""#, #"changed "g""#, "  maxParallel: 1 → 2"]
    ),
    (
      #"{"parallel": [{"id": "a", "run": "x"}, {"id": "b", "run": "x"}]}"#,
      #"{"parallel": [{"id": "a", "run": "x"}, {"id": "b", "run": "x", "needs": ["a"]}]}"#,
      [#"changed "b""#, #"  needs: none → ["a"]"#]
    ),
  ])
  func definitionsDifferByStepAndKey(old: String, new: String, expected: [String]) throws {
    let difference = RunDifference(from: try Self.defined(old), to: try Self.defined(new))
    let lines = Self.texts(difference).dropFirst(2)
    #expect(difference.isEmpty == (old == new))
    #expect(
      Array(lines)
        == (expected.isEmpty ? ["no difference"] : ["definition"] + expected.map { "  " + $0 }))
  }

  @Test func secretsInDefinitionsAreMasked() throws {
    let mask = { (text: String) in SecretMask([try Secret(Array(text.utf8))]) }
    let definition = { (text: String) in
      #"{"steps": [{"id": "a", "run": "x", "env": {"P": "one \#(text)", "Q \#(text)": "2"}}]}"#
    }
    let difference = RunDifference(
      from: try Self.defined(definition("canary\\\"1"), mask: try mask("canary\"1")),
      to: try Self.defined(definition("canary2"), mask: try mask("canary2")))
    let text = Self.texts(difference).joined(separator: "\n")
    let json = String(decoding: RunDifferenceJSON.rendered(difference), as: UTF8.self)
    #expect(text.contains(#"env.P: "one ***" → "one ***""#))
    #expect(!(text + json).contains("canary"))
  }

  @Test func unreadableDefinitionsAreReported() {
    let (old, new) = (Journal(hash: "1").reported(), Journal(hash: "2").reported())
    let difference = RunDifference(from: old, to: new)
    #expect(!difference.isEmpty && !difference.definition.isKnown)
    #expect(Self.texts(difference).contains { $0.hasPrefix("  not compared: a workflow was not") })
  }

  @Test func nestedFilesAreCompared() {
    let side = { (files: [(String, String)]) in
      Journal(hash: "1", nested: files.map { RecordedFile(path: $0.0, hash: $0.1) }).reported()
    }
    let difference = RunDifference(
      from: side([("b", "1"), ("c", "1"), ("d", "1")]),
      to: side([("b", "2"), ("c", "1"), ("a", "1")]))
    #expect(difference.definition.files == ["a", "b", "d"])
  }

  // MARK: Inputs

  @Test func inputsDifferByNameAndValue() {
    let side = { (inputs: [(String, JSONValue?)]) in
      Journal(hash: "1", inputs: inputs.map { ReportedOutput(name: $0.0, value: $0.1) }).reported()
    }
    let difference = RunDifference(
      from: side([("same", 1), ("other", "x"), ("pin", .none), ("open", .none), ("gone", nil)]),
      to: side([("same", 1), ("other", ["y"]), ("pin", .none), ("open", 2), ("new", "z")]))
    #expect(
      Self.texts(difference).dropFirst(2) == [
        "inputs", #"  other: "x" → ["y"]"#, "  open: *** (secret) → 2", #"  new: none → "z""#,
        "  gone: *** (secret) → none",
        "not compared, because secret values are not recorded: pin",
      ])
  }

  // MARK: Steps

  private static func run(
    _ events: [RunEvent.Kind], history: DurationHistory = DurationHistory()
  ) -> ReportedRun {
    var journal = Journal(hash: "1")
    for event in events { journal.add(event, at: 10) }
    return journal.reported(history: history)
  }

  private static func ended(
    _ outcome: Outcome = .success, _ conclusion: Outcome? = nil, attempts: Int = 1
  ) -> RunEvent.Kind {
    .stepFinished("a", Journal.end(outcome, after: 10, conclusion: conclusion, attempts: attempts))
  }

  private static let lost: RunEvent.Kind = .stepFinished(
    "a",
    StepEnd(
      outcome: .failure, conclusion: .failure, attempts: 1, exit: nil,
      failure: StepFailure(classes: [.lost], message: "was \u{1B}[2Jlost"),
      duration: .milliseconds(10)))

  @Test(arguments: [
    ([ended()], [ended()], nil),
    ([ended(.failure)], [ended(.failure)], nil),
    ([ended()], [ended(.failure)], "a: succeeded → failed (exit:3): exited with code 3"),
    ([ended(.failure)], [lost], "a: failed (exit:3) → failed (lost): was \\x1b[2Jlost"),
    ([ended()], [ended(attempts: 3)], "a: succeeded → succeeded (attempt 3)"),
    (
      [ended(.failure)], [ended(.failure, .success)],
      "a: failed (exit:3) → tolerated (exit:3): exited with code 3"
    ),
    (
      [ended()], [.stepSkipped("a", .dependencyFailed("b"))],
      #"a: succeeded → skipped because "b" failed"#
    ),
    (
      [.stepSkipped("a", .dependencyFailed("c"))], [.stepSkipped("a", .dependencyFailed("b"))],
      #"a: skipped → skipped because "b" failed"#
    ),
    ([ended()], [.stepCached("a", Journal.end(.success, after: 10))], nil),
    ([], [ended()], "a: not recorded → succeeded"),
    ([ended()], [], "a: succeeded → not recorded"),
  ])
  func outcomesDifferByStep(old: [RunEvent.Kind], new: [RunEvent.Kind], expected: String?) {
    let difference = RunDifference(from: Self.run(old), to: Self.run(new))
    let lines = Self.texts(difference)
    #expect(difference.outcomes.count == (expected == nil ? 0 : 1))
    if let expected { #expect(lines.contains("  \(expected)"), "\(lines)") }
  }

  @Test func decisionsOfCachesDiffer() {
    let cached = RunEvent.Kind.stepCached("a", Journal.end(.success, after: 10))
    let fetched = { (cache: String) in
      RunEvent.Kind.stepFinished(
        "h",
        Journal.end(.success, after: 10).having(
          HTTPSummary(
            method: "GET", url: "u", status: 200, cache: cache,
            staleReason: cache == "stale" ? "no route" : nil, figures: ExchangeFigures())))
    }
    let difference = RunDifference(
      from: Self.run([cached, fetched("hit")]), to: Self.run([Self.ended(), fetched("stale")]))
    #expect(
      Self.texts(difference).dropFirst(2) == [
        "caches", "  a: cached → ran", "  h: HTTP cache hit → stale: no route",
      ])
  }

  @Test func theReasonOfADecisionIsThatOfTheStepInItsLoop() {
    var definition = DefinitionDifference(from: Self.run([]), to: Self.run([]))
    let key = DefinitionDifference.Key(path: "run", before: nil, after: nil)
    definition.changed = ["each.a", "other"].map {
      DefinitionDifference.Member(address: $0, keys: [key], surroundings: [])
    }
    #expect(definition.reason(of: "each[eu].a") == "its definition has changed: run")
    #expect(definition.reason(of: "each[eu].b") == nil)
    #expect(definition.reason(of: "other[1]") == "its definition has changed: run")
  }

  // MARK: Durations

  @Test(arguments: [
    // Too short, and without enough known durations by the factor.
    ([], 10, 109, false), ([], 10, 110, true), ([], 1000, 1499, false), ([], 1000, 1500, true),
    ([], 1500, 1000, true), ([1000], 1000, 1499, false),
    // Within the range and half its width around it, or outside.
    ([1000, 2000], 1500, 2500, false), ([1000, 2000], 1500, 2501, true),
    ([1000, 2000], 1500, 500, false), ([1000, 2000], 1500, 499, true),
    ([1000, 1010], 1005, 1120, true), ([1000, 1010], 1030, 1120, false),
    // The compared durations are no evidence.
    ([1000, 2600, 2000, 1500], 1500, 2600, true),
  ])
  func durationsDifferBeyondNoise(known: [Int], before: Int, after: Int, isReported: Bool) {
    let history = MeasuredStep(recent: known.map { $0 * 1000 }, times: 1).map {
      DurationHistory([DurationHistory.Entry("a", $0)])
    }
    let end = { RunEvent.Kind.stepFinished("a", Journal.end(.success, after: $0)) }
    let difference = RunDifference(
      from: Self.run([end(before)]), to: Self.run([end(after)], history: history ?? .init()))
    #expect(difference.durations.map(\.step) == (isReported ? ["a"] : []))
  }

  @Test func onlyMeasurementsAreCompared() {
    let slow = Journal.end(.success, after: 9000)
    let failed = RunEvent.Kind.stepFinished("a", Journal.end(.failure, after: 9000))
    for event in [RunEvent.Kind.stepCached("a", slow), failed] {
      #expect(RunDifference(from: Self.run([Self.ended()]), to: Self.run([event])).durations == [])
    }
  }

  // MARK: Hostile texts

  @Test func noTextControlsATerminal() throws {
    let hostile = ReportFormatTests.hostile
    let side = { (value: JSONValue) in
      var journal = Journal(
        name: hostile, file: hostile, hash: value.description,
        nested: [RecordedFile(path: hostile, hash: value.description)],
        inputs: [ReportedOutput(name: hostile, value: value)])
      journal.add(.stepSkipped(StepAddress("each").element(hostile), .notSelected), at: 10)
      return journal.reported()
    }
    let difference = RunDifference(from: side(.string(hostile)), to: side([.string(hostile)]))
    let text = Self.texts(difference).joined()
    #expect(text.unicodeScalars.allSatisfy { $0.value >= 0x20 && TerminalText.escape($0) == nil })
    let (root, problems) = JSONReader.read(
      SourceFile(path: "d", bytes: RunDifferenceJSON.rendered(difference)), beside: nil)
    #expect(problems.isEmpty && root?.kind == .object)
  }
}
