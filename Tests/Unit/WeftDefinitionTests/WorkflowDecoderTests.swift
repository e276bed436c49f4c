import TestSupport
import Testing
import WeftDiagnostics

@testable import WeftDefinition

@Suite struct WorkflowDecoderTests {
  @Test("W16: an empty file and an empty object say what is wanted", arguments: ["", " \n", "{}"])
  func emptyFileNamesTheExpectedKeys(text: String) {
    let (workflow, diagnostics) = decode(text)
    #expect(workflow == nil)
    #expect(diagnostics.map(\.isError) == [true])
    #expect(diagnostics.first?.help?.contains(#"{ "steps": ["echo hello"] }"#) == true)
  }

  @Test("W16: no steps at all are accepted, with a note", arguments: ["steps", "parallel"])
  func noStepsAtAll(order: String) throws {
    let (workflow, diagnostics) = decode(#"{ "\#(order)": [] }"#)
    #expect(try #require(workflow).body.members == [])
    #expect(diagnostics.map(\.severity) == [.note])
    #expect(diagnostics.map(\.code) == [DefinitionCode.emptyGroup.rawValue])
  }

  @Test("W06: a byte order mark is accepted, with a note")
  func aByteOrderMark() {
    let (workflow, diagnostics) = decode("\u{FEFF}{ \"steps\": [\"true\"] }")
    #expect(workflow != nil)
    #expect(diagnostics.map(\.severity) == [.note])
  }

  @Test("W12: every problem of a file is told at once, by place")
  func everyProblemAtOnce() {
    let (_, diagnostics) = decode(
      """
      { "name": 1, "nmae": 2, "steps": [
        { "run": "a", "timeout": "5", "cwd": "" },
        { "id": "-", "run": [] },
        7 ] }
      """)
    #expect(
      diagnostics.map(\.code) == ["W0104", "W0103", "W0401", "W0404", "W0402", "W0404", "W0104"])
    let starts = diagnostics.compactMap(\.place?.range.start)
    #expect(starts == starts.sorted())
  }

  @Test func problemsOfTheTextComeTogetherWithThoseOfTheShape() {
    let (_, diagnostics) = decode(#"{ "steps": ["a",], "timeout": 5 }"#)
    #expect(diagnostics.map(\.code) == ["W0012", "W0401"])
  }

  @Test func readerErrorsAreNotRepeated() {
    let (_, diagnostics) = decode(#"{ "steps": [{ "run": NaN }], "maxParallel": 007 }"#)
    #expect(diagnostics.filter { $0.code != "W0016" && $0.code != "W0018" } == [])
  }

  // MARK: The cause once, without its consequences

  @Test func aStepWithABrokenActionIsStillAStep() {
    let (workflow, diagnostics) = decode(
      #"{ "parallel": [{ "id": "a", "run": 5 }, { "run": "b", "needs": ["a"] }] }"#)
    #expect(workflow?.body.members.map(\.id) == ["a", nil])
    #expect(diagnostics.count == 1)
  }

  @Test func aMemberThatIsNoStepKeepsItsPosition() {
    let (workflow, diagnostics) = decode(#"{ "steps": [7, { "id": "b", "run": "x" }] }"#)
    #expect(workflow?.body.members.map(\.id) == [nil, "b"])
    #expect(diagnostics.count == 1)
  }

  @Test(arguments: [
    #"{ "id": "a b", "run": "x" }"#, #"{ "id": "a b", "steps": ["x"] }"#,
  ])
  func needOfAnInvalidIDIsNotReportedTwice(step: String) {
    let (workflow, diagnostics) = decode(
      """
      { "parallel": [\(step), { "run": "y", "needs": ["a b", "c"] },
        { "steps": [{ "run": "z", "stdin": { "log": "a b" } }] }] }
      """)
    #expect(diagnostics.map(\.code) == ["W0402"])
    #expect(workflow?.body.members[1].needs == ["c"])
    #expect(workflow?.body.members[2] == Step(steps: [Step(run: "z")]))
  }

  @Test(arguments: [
    (#"{ "iid": "a", "run": "x" }"#, Step("a", run: "x")),
    (#"{ "id": "a", "runn": "x" }"#, Step("a", run: "x")),
    (#"{ "run": "x", "dependsOn": ["b"] }"#, Step(run: "x", needs: ["b"])),
    (#"{ "id": "a", "step": ["x"] }"#, Step("a", steps: [Step(run: "x")])),
  ])
  func aMistypedKeyOfTheGraphIsReadAsWhatWasMeant(text: String, meant: Step) {
    let (workflow, diagnostics) = decode(#"{ "steps": [\#(text)] }"#)
    #expect(diagnostics.map(\.code) == ["W0103"])
    #expect(workflow?.body.members == [meant])
  }

  @Test func anObjectWithTwoGroupsKeepsTheMembersOfBoth() {
    let (workflow, diagnostics) = decode(
      #"{ "steps": [{ "id": "a", "run": "x" }], "parallel": [{ "id": "b", "run": "y" }] }"#)
    #expect(diagnostics.map(\.code) == ["W0107"])
    #expect(workflow?.body.members.map(\.id) == ["a", "b"])
  }

  @Test func repeatedKeyIsReportedOnce() {
    let (workflow, diagnostics) = decode(#"{ "steps": ["a"], "steps": ["b"] }"#)
    #expect(diagnostics.map(\.code) == ["W0101"])
    #expect(workflow?.body.members.count == 2)
  }

  // MARK: Limits

  @Test("G13: groups may be 64 deep and no deeper")
  func groupDepth() {
    func nested(_ depth: Int) -> String {
      String(repeating: #"{"parallel":["#, count: depth + 1) + #""true""#
        + String(repeating: "]}", count: depth + 1)
    }
    #expect(decode(nested(64)).diagnostics == [])
    let (workflow, diagnostics) = decode(nested(65))
    #expect(workflow == nil)
    #expect(diagnostics.map(\.code) == ["W0109"])
    #expect(diagnostics.first?.message.contains("64 groups") == true)
  }

  @Test func tooManyStepsAreReportedByName() {
    let file = SourceFile(
      path: "w.json", bytes: Array(#"{ "steps": ["a", { "steps": ["b", "c"] }] }"#.utf8))
    var limits = DecodingPass.Limits()
    limits.steps = 4
    #expect(WorkflowDecoder.decode(file, limits: limits).diagnostics == [])
    limits.steps = 3
    let (workflow, diagnostics) = WorkflowDecoder.decode(file, limits: limits)
    #expect(workflow == nil)
    #expect(diagnostics.map(\.code) == ["W0110"])
    #expect(diagnostics.first?.message.contains("more than 3 steps") == true)
  }

  @Test("W22: very many problems are all counted")
  func manyProblems() {
    let text =
      #"{ "steps": ["# + String(repeating: #"{ "run": "a", "tiemout": 5 },"#, count: largeCount - 1)
      + #"{ "run": 5 }] }"#
    let (workflow, diagnostics) = decode(text)
    #expect(workflow != nil)
    #expect(diagnostics.count == largeCount)
  }

  @Test("W22: past the limit for problems the rest is not checked, and that is told")
  func tooManyProblems() {
    let file = SourceFile(path: "w.json", bytes: Array(#"{ "steps": [1, 2, 3, 4, "a"] }"#.utf8))
    var limits = DecodingPass.Limits()
    limits.problems = 2
    let (workflow, diagnostics) = WorkflowDecoder.decode(file, limits: limits)
    #expect(workflow == nil)
    #expect(diagnostics.map(\.code) == ["W0104", "W0104", "W0111"])
  }

  // MARK: Values

  @Test(
    "S15: a literal may set what a loader or a shell obeys",
    arguments: ["LD_PRELOAD", "BASH_ENV", "ENV", "IFS", "PATH"])
  func loaderVariables(name: String) throws {
    let decoded = try decodedWithoutErrors(#"{ "env": { "\#(name)": "x" }, "steps": [] }"#)
    #expect(decoded.settings.environment == [name: "x"])
  }

  @Test func everyCodeIsItsOwn() {
    #expect(Set(DefinitionCode.allCases.map(\.rawValue)).count == DefinitionCode.allCases.count)
  }
}
