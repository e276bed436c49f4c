import TestSupport
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning

struct ProblemTests {
  struct Case: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var workflow: Workflow
    var problems: [String]
    var helps: [String]

    init(_ what: String, _ workflow: Workflow, _ problems: [String], helps: [String]) {
      testDescription = what
      self.workflow = workflow
      self.problems = problems
      self.helps = helps
    }
  }

  static let cases = [
    Case(
      "W15: an unknown need, with the nearest name",
      Workflow(steps: [Step("lint"), Step("docs", needs: ["lnit"])]),
      ["W0203 step \"docs\" needs \"lnit\", which is not a step of this workflow"],
      helps: ["did you mean \"lint\"?"]),
    Case(
      "an unknown need of a group, unlike any name",
      Workflow(steps: [Step("lint"), Step("g", steps: [], needs: ["zebra"])]),
      ["W0203 group \"g\" needs \"zebra\", which is not a step of this workflow"],
      helps: ["refer to a step or group by its \"id\""]),
    Case(
      "a need of a name, of a step and of a group without an id",
      Workflow(parallel: [
        Step(name: "build", action: .wait(.duration(.seconds(1)))),
        Step(id: "c", name: "b", action: .wait(.duration(.seconds(1)))),
        Step(name: "set up", action: .group(StepGroup(.steps, []))),
        Step("a", needs: ["build", "set up", "b"]),
      ]),
      [
        "W0203 step \"a\" needs \"build\", which is not a step of this workflow",
        "W0203 step \"a\" needs \"set up\", which is not a step of this workflow",
        "W0203 step \"a\" needs \"b\", which is not a step of this workflow",
      ],
      helps: [
        "step \"1\" has the name \"build\" but no id: add \"id\": \"build\"",
        "group \"3\" has the name \"set up\" but no id: add an \"id\"",
        "refer to a step or group by its \"id\"",
      ]),
    Case(
      "a need by position",
      Workflow(parallel: [Step(run: "x"), Step("a", needs: ["1"]), Step("b", needs: ["g.1.2"])]),
      [
        "W0203 step \"a\" needs \"1\", which is not a step of this workflow",
        "W0203 step \"b\" needs \"g.1.2\", which is not a step of this workflow",
      ],
      helps: [
        "\"1\" is a position: give that step an \"id\" and refer to it",
        "\"g.1.2\" is a position: give that step an \"id\" and refer to it",
      ]),
    Case(
      "ids are told apart by bytes, not as text: a Kelvin sign is no K",
      Workflow(parallel: [Step("K"), Step("a", needs: ["\u{212A}"])]),
      ["W0203 step \"a\" needs \"\u{212A}\", which is not a step of this workflow"],
      helps: ["did you mean \"K\"?"]),
    Case(
      "W15: a need of itself",
      Workflow(steps: [Step("a", needs: ["a"])]),
      ["W0202 step \"a\" needs itself"],
      helps: ["remove this need"]),
    Case(
      "a need of a group around it",
      Workflow(steps: [Step("g", steps: [Step("h", steps: [Step("a", needs: ["g"])])])]),
      ["W0204 step \"a\" needs \"g\", which is an enclosing group"],
      helps: ["\"g\" ends only when all its members have ended: name the members to wait for"]),
    Case(
      "a need of a step inside it",
      Workflow(steps: [Step("g", steps: [Step("h", steps: [Step("a")])], needs: ["a"])]),
      ["W0205 group \"g\" needs step \"a\", which is inside it"],
      helps: [
        "step \"a\" starts only when group \"g\" does: move the need to the "
          + "members that wait for it"
      ]),
    Case(
      "an id twice, and no further word of the needs that name it",
      Workflow(parallel: [Step("a", needs: ["b"]), Step("a"), Step("b", needs: ["a"])]),
      ["W0201 duplicate id \"a\""],
      helps: ["ids are unique in a file: rename one of the two"]),
    Case(
      "W15: the same need twice is a warning, each time",
      Workflow(parallel: [Step("a"), Step("b", needs: ["a", "a", "a"])]),
      ["W0501 step \"b\" needs \"a\" twice", "W0501 step \"b\" needs \"a\" twice"],
      helps: ["remove one of the two", "remove one of the two"]),
    Case(
      "the log of an unknown step",
      Workflow(steps: [Step("build"), Step("a", readingLogOf: "biuld")]),
      ["W0207 step \"a\" reads the log of \"biuld\", which is not a step of this workflow"],
      helps: ["did you mean \"build\"?"]),
    Case(
      "the log of a group",
      Workflow(steps: [Step("g", steps: [Step("a")]), Step("b", readingLogOf: "g")]),
      ["W0208 step \"b\" reads the log of \"g\", which is a group and has none"],
      helps: ["name one of the steps in \"g\""]),
    Case(
      "the log of a loop",
      Workflow(steps: [Step("l", run: ["x"]).forEach(["a"]), Step("b", readingLogOf: "l")]),
      ["W0208 step \"b\" reads the log of \"l\", which is a loop: each element has its own"],
      helps: ["use a text: \"stdin\": \"${{ join(steps.l.results.*.stdout, '\\n') }}\""]),
    Case(
      "the log of a step that has the terminal",
      Workflow(steps: [
        Step("a", Command(.script("vi"), options: Command.Options(usesTerminal: true))),
        Step("b", readingLogOf: "a"),
      ]),
      ["W0212 step \"b\" reads the log of \"a\", which writes to the terminal and has none"],
      helps: ["remove \"tty\" from \"a\", or let it write to a file"]),
    Case(
      "its own log",
      Workflow(steps: [Step("a", readingLogOf: "a")]),
      ["W0209 step \"a\" reads its own log"],
      helps: ["name another step, or remove \"stdin\""]),
    Case(
      "everything at once, and a step without id by its position",
      Workflow(parallel: [
        Step("a", needs: ["a", "x"]), Step(run: "true", needs: ["a", "y"]),
        Step("b", needs: ["c"]), Step("c", needs: ["b"]),
      ]),
      [
        "W0202 step \"a\" needs itself",
        "W0203 step \"a\" needs \"x\", which is not a step of this workflow",
        "W0203 step \"2\" needs \"y\", which is not a step of this workflow",
        "W0206 steps wait for each other: b → c → b",
      ],
      helps: [
        "remove this need", "refer to a step or group by its \"id\"",
        "refer to a step or group by its \"id\"", "remove one of the needs",
      ]),
  ]

  @Test(arguments: cases)
  func problemsHaveAMessageAndARemedy(_ example: Case) {
    #expect(problems(of: example.workflow) == example.problems)
    #expect(Planner.plan(example.workflow).diagnostics.map(\.help) == example.helps)
  }

  @Test("G13: groups nest 64 deep; at 65 the workflow is rejected, told once")
  func groupsNestToTheLimit() throws {
    #expect(try planned(nested(64)).groups.last?.depth == 64)
    #expect(
      problems(of: nested(65)) == ["W0210 group \"g65\" is nested deeper than 64 groups"])
    #expect(problems(of: nested(70)).count == 1)
  }

  private func nested(_ depth: Int) -> Workflow {
    let step = (1...depth).reversed().reduce(Step("inner")) { step, depth in
      Step(StepID("g\(depth)")!, steps: [step])
    }
    return Workflow(steps: [step])
  }

  @Test func problemsStandWhereTheyWereWrittenAndInThatOrder() {
    let file = SourceFile(path: "w.json", bytes: Array(repeating: 0x20, count: 100))
    let place = { (start: Int) in
      StepPlace(
        step: SourceRange(start: start, end: start + 9),
        id: SourceRange(start: start + 1, end: start + 3))
    }
    let need = { (name: String, start: Int) in
      Need(name, place: SourceRange(start: start, end: start + 2))
    }
    let run = StepAction.run(Command(.script("true")))
    let workflow = Workflow(
      body: StepGroup(
        .parallel,
        [
          Step(id: "a", action: run, needs: [need("b", 5)], place: place(0)),
          Step(id: "b", action: run, needs: [need("a", 15), need("x", 18)], place: place(10)),
          Step(id: "c", action: run, place: place(20)),
          Step(id: "c", action: run, needs: [need("a", 35), need("a", 38)], place: place(30)),
        ]), source: file)
    let diagnostics = Planner.plan(workflow).diagnostics
    #expect(diagnostics.map(\.code) == ["W0206", "W0203", "W0201", "W0501"])
    #expect(diagnostics.map { $0.place?.range.start } == [5, 18, 31, 38])
    #expect(diagnostics.allSatisfy { $0.place?.file === file })
    #expect(
      diagnostics.map { $0.related.map { "\($0.place?.range.start ?? 0) \($0.message)" } } == [
        ["5 \"a\" needs \"b\"", "15 \"b\" needs \"a\""], [], ["21 the first one is here"],
        ["35 the first one is here"],
      ])
  }

  @Test("W22: very many unknown needs: each is told, the first 20 with the nearest name")
  func manyUnknownNeedsAreCheap() {
    var steps = (0..<1000).map { Step(StepID("step\($0)")!) }
    steps += (0..<largeCount / 100).map {
      Step(StepID("s\($0)")!, needs: (0..<100).map { Need("stpe\($0)") })
    }
    let diagnostics = Planner.plan(Workflow(parallel: steps)).diagnostics
    #expect(diagnostics.count == largeCount)
    #expect(diagnostics.count { $0.help?.hasPrefix("did you mean") == true } == 20)
  }

  @Test func aVeryLongNameIsShortenedInTheMessage() {
    let name = String(repeating: "x", count: 5000)
    let message = problems(of: Workflow(steps: [Step("a", needs: [Need(name)])]))[0]
    #expect(message.count < 200)
  }
}
