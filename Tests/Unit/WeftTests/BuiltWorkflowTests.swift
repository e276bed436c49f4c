import Testing
import Weft

/// Workflows built in Swift with values that no file could have: they are rejected like a file, with the step and key
/// named, and nothing starts.
@Suite struct BuiltWorkflowTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    /// The diagnostics, each as `step|key|code`.
    let expected: [String]
    let workflow: @Sendable () -> Workflow
    var testDescription: String { name }

    init(_ name: String, _ expected: String..., workflow: @escaping @Sendable () -> Workflow) {
      (self.name, self.expected, self.workflow) = (name, expected, workflow)
    }

    /// A workflow of one step.
    init(
      _ name: String, _ expected: String..., change: @escaping @Sendable (inout Step) -> Void
    ) {
      (self.name, self.expected) = (name, expected)
      workflow = {
        var step = Step("a", run: "true")
        change(&step)
        return Workflow(steps: [step])
      }
    }

    /// A workflow whose own properties are changed.
    init(
      _ name: String, _ expected: String..., of change: @escaping @Sendable (inout Workflow) -> Void
    ) {
      (self.name, self.expected) = (name, expected)
      workflow = {
        var workflow = Workflow(steps: [Step("a", run: "true")])
        change(&workflow)
        return workflow
      }
    }
  }

  static let cases: [Case] = [
    Case(
      "a script file that was not read", "a|script|W0116",
      change: { $0.action = .run(Command(.file(ScriptFile(path: "a.sh")))) }),
    Case(
      "NUL in a script file and its path", "a|script.file|W0417", "a|script|W0417",
      change: { $0.action = .run(Command(.file(ScriptFile(path: "a\0b", text: "a\0")))) }),
    // Workflow
    Case("maxParallel 0", "|maxParallel|W0403", of: { $0.maxParallel = 0 }),
    Case("maxParallel -4", "|maxParallel|W0403", of: { $0.maxParallel = -4 }),
    Case("timeout -1 s", "|timeout|W0401", of: { $0.timeout = .seconds(-1) }),
    Case("timeout 0", "|timeout|W0401", of: { $0.timeout = .zero }),
    Case("timeout beyond any", "|timeout|W0401", of: { $0.timeout = .seconds(Int64.max) }),
    Case(
      "inputs that differ in case only", "|inputs.X|W0409",
      of: { $0.inputs = [InputDeclaration("x"), InputDeclaration("X")] }),
    Case(
      "two inputs of one name", "|inputs.x|W0409",
      of: { $0.inputs = [InputDeclaration("x"), InputDeclaration("x")] }),
    Case(
      "a default that does not fit", "|inputs.x.default|W0412",
      of: { workflow in
        var schema = ValueSchema()
        schema.types = [.integer]
        workflow.inputs = [InputDeclaration("x", schema, default: "one")]
      }),
    Case(
      "two outputs of one name, a name that is none", "|outputs|W0402", "|outputs.x|W0409",
      of: {
        $0.outputs = [
          OutputDeclaration("x", value: "1"), OutputDeclaration("not a name!", value: "1"),
          OutputDeclaration("x", value: "2"),
        ]
      }),
    Case(
      "pools", "|pools|W0402", "|pools.db|W0403", "|pools.db|W0409",
      of: {
        $0.pools = [Pool("d b", slots: 1), Pool("db", slots: -1), Pool("db", slots: 2)]
        $0.pools.sort { $0.name < $1.name }
      }),
    Case(
      "a rate", "|pools.db.rate|W0403", "|pools.db.rate|W0401",
      of: { $0.pools = [Pool("db", slots: 1, rate: Rate(count: 0, per: .seconds(-1)))] }),
    Case(
      "secrets", "|secrets.A.command|W0404", "|secrets.A|W0409", "|secrets.B.descriptor|W0403",
      of: {
        $0.secrets = [
          SecretDeclaration("A", from: .command([])), SecretDeclaration("A", from: .file("f")),
          SecretDeclaration("B", from: .descriptor(-1)),
        ]
      }),
    Case(
      "defaults", "|defaults.timeout|W0401", "|defaults.retry.max|W0403",
      "a|timeout|W0401", "a|retry.max|W0403",
      of: {
        $0.defaults = StepDefaults(timeout: .seconds(-1), retry: [RetryPolicy(max: -1)])
      }),
    Case("an empty key", "|concurrency.key|W0404", of: { $0.concurrency = Concurrency(key: "") }),
    // Steps
    Case("step timeout -1 s", "a|timeout|W0401", change: { $0.timeout = .seconds(-1) }),
    Case("retry -1", "a|retry.max|W0403", change: { $0 = $0.retry(-1) }),
    Case(
      "factor NaN", "a|retry.factor|W0403",
      change: { $0 = $0.retry(RetryPolicy(max: 3, delay: .milliseconds(1), factor: .nan)) }),
    Case(
      "factor infinite", "a|retry.factor|W0403",
      change: { $0 = $0.retry(RetryPolicy(max: 3, factor: .infinity)) }),
    Case(
      "negative delay and factor", "a|retry.delay|W0401", "a|retry.factor|W0403",
      change: { $0 = $0.retry(RetryPolicy(max: 3, delay: .seconds(-1), factor: -2)) }),
    Case(
      "a later policy", "a|retry[1].within|W0401", "a|retry[1].on|W0404",
      change: {
        $0 = $0.retry(RetryPolicy(max: 1), RetryPolicy(max: 1, within: .zero, classes: []))
      }),
    Case("slots -3", "a|pool.p|W0403") {
      var workflow = Workflow(steps: [Step("a", run: "true").pool("p", slots: -3)])
      workflow.pools = [Pool("p", slots: 2)]
      return workflow
    },
    Case(
      "outputs of a step", "a|outputs|W0402", "a|outputs.x|W0409",
      change: {
        $0.outputs = [
          OutputDeclaration("x", value: "1"), OutputDeclaration("x", value: "2"),
          OutputDeclaration("", value: "3"),
        ]
      }),
    Case("no program", "a|run|W0404", change: { $0 = Step("a", run: []) }),
    Case("an empty program", "a|run[0]|W0404", change: { $0 = Step("a", run: [""]) }),
    Case("an empty script", "a|run|W0404", change: { $0 = Step("a", run: "") }),
    Case("NUL in a program", "a|run[0]|W0417", change: { $0 = Step("a", run: ["a\0b"]) }),
    Case("NUL in an argument", "a|run[1]|W0417", change: { $0 = Step("a", run: ["a", "b\0"]) }),
    Case("NUL in a script", "a|run|W0417", change: { $0 = Step("a", run: "echo \0") }),
    Case(
      "variables", "a|env|W0406", "a|env|W0406", "a|env.C|W0417",
      change: { $0.settings.environment = ["": "x", "A=B": "x", "C": "\0"] }),
    Case(
      "a directory", "a|cwd|W0404", change: { $0.settings.workingDirectory = "" }),
    Case(
      "exit codes", "a|successCodes[0]|W0403",
      change: { $0.action = .run(Command(.script("true"), successCodes: [-1])) }),
    Case(
      "no exit codes", "a|successCodes|W0404",
      change: { $0.action = .run(Command(.script("true"), successCodes: [])) }),
    Case(
      "options", "a|stallTimeout|W0401", "a|stop.grace|W0401",
      change: {
        var command = Command(.script("true"))
        command.stallTimeout = .zero
        command.stop = StopRequest(grace: .seconds(-1))
        $0.action = .run(command)
      }),
    Case("wait -1 s", "a|wait|W0401", change: { $0 = Step("a", wait: .seconds(-1)) }),
    Case(
      "a loop", "a|forEach.maxParallel|W0403", "a|forEach.as|W0402", "a|forEach.tolerate|W0403",
      change: {
        $0 = $0.forEach(["x"], as: "steps", maxParallel: 0, tolerating: .percent(1_000))
      }),
    Case(
      "a loop over a number", "a|forEach.in|W0104",
      change: { $0 = $0.forEach(ForEach(in: .values(3))) }),
    Case(
      "a matrix", "a|matrix|W0402", "a|matrix.x|W0409",
      change: {
        $0 = $0.matrix(
          Matrix(axes: [
            .init("x", .values([1])), .init("x", .values([2])), .init("a b", .values([3])),
          ]))
      }),
    Case(
      "a request", "a|http.url|W0404", "a|http.timeout.total|W0401", "a|http.redirects|W0403",
      "a|http.expect.status[0]|W0405", "a|http.poll.max|W0403", "a|http.pages.max|W0403",
      change: {
        var call = HTTPCall("")
        call.timeouts.total = .seconds(-1)
        call.redirects = -1
        call.expectation.statuses = ["okay"]
        call.polling = HTTPCall.Polling(until: "true", max: 0)
        call.paging = HTTPCall.Paging(max: -1)
        $0 = Step("a", http: call)
      }),
    // Groups and their members
    Case("a group of none at once", "g|maxParallel|W0403") {
      Workflow(steps: [Step("g", parallel: [Step(run: "true")], maxParallel: 0)])
    },
    Case("join of -1", "g|join.atLeast|W0403") {
      Workflow(steps: [Step("g", parallel: [Step(run: "true")], join: .atLeast(-1))])
    },
    Case("an empty race", "g|race|W0404") { Workflow(steps: [Step("g", race: [])]) },
    Case("a member without an id", "g.1|timeout|W0401") {
      Workflow(steps: [Step("g", steps: [Step(run: "true", timeout: .zero)])])
    },
    Case("a cleanup step", "a.cleanup|timeout|W0401") {
      Workflow(steps: [Step("a", run: "true").cleanup(Step(run: "true", timeout: .zero))])
    },
    Case("a group as cleanup", "a.cleanup|parallel|W0105") {
      Workflow(steps: [Step("a", run: "true").cleanup(Step(parallel: [Step(run: "true")]))])
    },
    Case("finally", "finally.1|timeout|W0401") {
      var workflow = Workflow(steps: [Step("a", run: "true")])
      workflow.finally = [Step(run: "true", timeout: .seconds(-1))]
      return workflow
    },
    Case("another workflow", "n|maxParallel|W0403", "n/b|retry.max|W0403") {
      var other = Workflow(steps: [Step("b", run: "true").retry(-1)])
      other.maxParallel = 0
      return Workflow(steps: [Step("n", workflow: other)])
    },
    Case("a file changed in Swift", "|maxParallel|W0403", "a|timeout|W0401") {
      var workflow = try! Workflow(json: #"{ "steps": [{ "id": "a", "run": "true" }] }"#)
      workflow.maxParallel = 0
      workflow.body.members[0].timeout = .seconds(-1)
      return workflow
    },
  ]

  @Test(
    "E02, E03: a value that no file could have is rejected, and its step and key are named",
    arguments: cases)
  func invalidBuiltValueIsRejectedWithItsStepAndKey(_ one: Case) throws {
    let rejection = #expect(throws: WorkflowError.self) {
      _ = try Engine().start(one.workflow())
    }
    let reported = try #require(rejection).diagnostics.map {
      "\($0.step ?? "")|\($0.key ?? "")|\($0.code)"
    }
    #expect(reported.sorted() == one.expected.sorted())
    #expect(rejection?.diagnostics.allSatisfy { !$0.message.isEmpty } == true)
  }

  @Test("E02: what is fit by the same rules runs")
  func validBuiltValueRuns() async throws {
    var step = Step("a", run: "true").retry(RetryPolicy(max: 0, delay: .zero, factor: 1))
    step.timeout = .milliseconds(60_000)
    step.settings.environment = ["A": "", "B": nil]
    var workflow = Workflow(steps: [step, Step("w", wait: .zero)])
    workflow.maxParallel = 1
    #expect(try await Engine().start(workflow).report.succeeded)
  }

  struct OptionCase: Sendable {
    let key: String
    let change: @Sendable (inout Engine.Options) -> Void
  }

  @Test(
    "E02: an engine's own settings are checked alike",
    arguments: [
      OptionCase(key: "options.maxParallel") { $0.maxParallel = 0 },
      OptionCase(key: "options.timeout") { $0.timeout = .zero },
      OptionCase(key: "options.grace") { $0.grace = .seconds(-1) },
      OptionCase(key: "options.retryBudgetPercent") { $0.retryBudgetPercent = -1 },
      OptionCase(key: "options.startDirectory") { $0.startDirectory = "" },
      OptionCase(key: "options.cacheDirectory") { $0.cacheDirectory = "a\0b" },
    ])
  func unfitOptions(_ one: OptionCase) {
    var options = Engine.Options()
    one.change(&options)
    let rejection = #expect(throws: WorkflowError.self) {
      _ = try Engine(options: options).start(Workflow(steps: [Step(run: "true")]))
    }
    #expect(rejection?.diagnostics.map(\.key) == [one.key])
    #expect(rejection?.diagnostics.first?.message.hasPrefix(one.key) == true)
  }

  @Test("E03: the same problem of two steps is told of both, with their names and keys")
  func problemsNameTheirSteps() {
    let rejection = #expect(throws: WorkflowError.self) {
      _ = try Engine().plan(
        Workflow(
          name: "w",
          steps: [
            Step("a", run: ["echo", "${{ inputs.x }}"]),
            Step("b", run: ["echo", "${{ inputs.x }}"]),
            Step(run: "true", needs: ["c"]),
          ]))
    }
    #expect(rejection?.diagnostics.map(\.step) == ["3", "a", "b"])
    #expect(rejection?.diagnostics.map(\.key) == ["needs", "run[1]", "run[1]"])
    let text = rejection?.description ?? ""
    #expect(
      text.contains("step \"a\", run[1]: error: the workflow has no input \"x\" [W0314]"), "\(text)"
    )
    #expect(
      text.contains("step \"b\", run[1]: error: the workflow has no input \"x\" [W0314]"), "\(text)"
    )
  }
}
