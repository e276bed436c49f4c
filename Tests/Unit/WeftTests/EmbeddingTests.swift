import Testing
import Weft
import WeftFutures
import WeftPlatform

@Suite struct EmbeddingTests {
  @Test func aWorkflowFromJSONRunsAndReports() async throws {
    let workflow = try Workflow(json: #"{"steps": ["echo one", "echo two >&2"]}"#)
    let run = try Engine().start(workflow)
    var lines: [String] = []
    for await event in run.events {
      if case .stepOutput(_, let output) = event.kind { lines.append(output.text) }
    }
    let report = await run.report
    #expect(report.succeeded)
    #expect(report.steps.count == 2)
    #expect(lines == ["one", "two"])
  }

  @Test func aWorkflowBuiltInSwiftRuns() async throws {
    let workflow = Workflow(steps: [
      Step("first", run: "echo first"),
      Step("both", parallel: [Step(run: ["echo", "left"]), Step(run: ["echo", "right"])]),
    ])
    let run = try Engine().start(workflow)
    #expect(await run.report.succeeded)
    let first = try #require(run.progress.steps.first)
    #expect(String(decoding: run.output(of: first.address), as: UTF8.self) == "first\n")
    #expect(run.output(of: first.address, last: 3) == Array("st\n".utf8))
  }

  @Test func stepNeedingATerminalFailsWithTheReason() async throws {
    let workflow = try Workflow(
      json: #"{"steps": [{ "id": "ask", "run": ["true"], "tty": true }]}"#)
    let run = try Engine().start(workflow)
    var failures: [StepFailure] = []
    for await event in run.events {
      if case .stepFinished(_, let end) = event.kind, let failure = end.failure {
        failures.append(failure)
      }
    }
    let failure = try #require(failures.first)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.hasSuffix("the program that runs this workflow offers none"))
    #expect(failure.help != nil)
  }

  @Test func everySubscriberIsComplete() async throws {
    let run = try Engine().start(Workflow(steps: [Step(run: "true"), Step(run: "true")]))
    async let first = Array(run.events)
    async let second = Array(run.events)
    let (one, two) = await (first, second)
    #expect(one == two)
    #expect(one.count == 8)
  }

  private static let chain = Workflow(steps: [
    Step("a", run: "true"), Step("b", run: "true"), Step("c", run: "true"),
  ])

  @Test(arguments: [
    ("only", ["a", "b"]), ("skip", ["a", "c"]), ("from", ["b", "c"]),
  ])
  func optionsSayWhichStepsAreWanted(option: String, wanted: [String]) async throws {
    var options = Engine.Options()
    switch option {
    case "only": options.only = ["b"]
    case "skip": options.skip = ["b"]
    default: options.from = ["b"]
    }
    let report = await (try Engine(options: options).start(EmbeddingTests.chain)).report
    let run = report.steps.filter { step in
      if case .finished = step.state { true } else { false }
    }
    #expect(run.map(\.address.text) == wanted)
    #expect(report.succeeded)
  }

  @Test func optionsThatNameNoStepAreRefused() {
    var options = Engine.Options()
    options.only = ["aa"]
    let rejection = #expect(throws: WorkflowError.self) {
      try Engine(options: options).start(EmbeddingTests.chain)
    }
    #expect(rejection?.diagnostics.map(\.code) == ["W0226"])
    #expect(rejection?.description.contains("did you mean \"a\"?") == true)
  }

  private struct NobodyThere: Transport {
    func exchange(
      _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
    ) -> Future<HTTPExchange, HTTPFailure> {
      Future(failure: HTTPFailure(.connect(to: request.url.host, why: "nobody there")))
    }
  }

  @Test(arguments: [(0, 101), (300, 104)])
  func optionsSayHowManyRetriesThereAreInAll(percent: Int, attempts: Int) async throws {
    var options = Engine.Options()
    options.retryBudgetPercent = percent
    let workflow = try Workflow(
      json: """
        { "steps": [{ "http": { "url": "http://a.test/" },
          "retry": { "max": 200, "delay": "1ms", "factor": 1, "jitter": "none" } }] }
        """)
    let run = try Engine(options: options, transport: NobodyThere()).start(workflow)
    let report = await run.report
    guard case .finished(let end)? = report.steps.first?.state else { return }
    #expect(end.attempts == attempts)
    #expect(end.notRetried != nil)
  }

  @Test("G09: the elements of a loop add to the retries that there are in all")
  func elementsCountForTheRetriesInAll() async throws {
    var options = Engine.Options()
    options.retryBudgetPercent = 300
    let workflow = try Workflow(
      json: """
        { "steps": [{ "id": "l", "forEach": { "in": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], "tolerate": 10 },
          "http": { "url": "http://a.test/" },
          "retry": { "max": 200, "delay": "1ms", "factor": 1, "jitter": "none" } }] }
        """)
    let run = try Engine(options: options, transport: NobodyThere()).start(workflow)
    let attempts = await run.report.steps.map { step in
      if case .finished(let end) = step.state { end.attempts } else { 0 }
    }
    #expect(attempts.count == 10 && attempts.reduce(0, +) == 10 + 30 + 100, "\(attempts)")
  }

  @Test func rejectedFileReportsEveryErrorWithItsLocation() throws {
    let text = """
      {
        "steps": [
          { "id": "a", "rnu": "true" },
          { "id": "b", "run": "true", "timeout": 5 }
        ]
      }
      """
    let rejection = #expect(throws: WorkflowError.self) {
      try Workflow(json: text, path: "broken.json")
    }
    let reported = try #require(rejection).description
    #expect(reported.contains("broken.json:3:18: error:"))
    #expect(reported.contains("did you mean \"run\"?"))
    #expect(reported.contains("broken.json:4:44: error:"))
  }

  @Test func graphProblemsAreReportedByThePlanner() throws {
    let workflow = Workflow(parallel: [Step("a", run: "true", needs: ["b"])])
    let rejection = #expect(throws: WorkflowError.self) { try Engine().plan(workflow) }
    #expect(rejection?.diagnostics.map(\.code) == ["W0203"])
    #expect(throws: WorkflowError.self) { try Engine().start(workflow) }
  }

  @Test func aFileThatIsNotThereIsARejection() {
    let rejection = #expect(throws: WorkflowError.self) {
      try Workflow(contentsOf: "/nowhere/at all.json")
    }
    #expect(rejection?.description.contains("/nowhere/at all.json") == true)
  }

  @Test func aCancelledRunEndsItsProgramsAndSaysSo() async throws {
    let run = try Engine().start(Workflow(parallel: [Step("long", run: ["sleep", "1000"])]))
    for await event in run.events {
      if case .stepStarted = event.kind { run.cancel() }
    }
    let end = try #require(await run.report.end)
    #expect(end.outcome == .cancelled)
    #expect(end.cancellation == .requested)
  }

  @Test func aKilledRunDoesNotWaitForTheGrace() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("deaf", run: "trap '' TERM; echo deaf; while :; do sleep 1; done")]))
    for await event in run.events {
      if case .stepOutput = event.kind { run.kill() }
    }
    guard case .finished(let end) = await run.report.steps[0].state else {
      Issue.record("the step has no end")
      return
    }
    #expect(end.exit == .signal("KILL"))
  }

  @Test func outputOfElementsIsKept() async throws {
    let script = #"echo "wrote $VALUE"; test "$VALUE" != bad"#
    var step = Step("up", run: script).forEach(
      ["good", "bad", "fine"], as: "value", tolerating: .count(1))
    step.settings.environment = ["VALUE": "${{ value }}"]
    let run = try Engine().start(Workflow(steps: [step]))
    let report = await run.report
    #expect(report.succeeded)
    let addresses = report.steps.map(\.address).filter { $0.text.hasPrefix("up[") }
    #expect(
      addresses.map { String(decoding: run.output(of: $0), as: UTF8.self) }
        == ["wrote good\n", "wrote bad\n", "wrote fine\n"])
  }

  @Test func optionsOverrideTheWorkflow() async throws {
    var options = Engine.Options()
    options.onFailure = .continue
    options.maxParallel = 1
    options.startDirectory = "/usr"
    let workflow = Workflow(parallel: [Step("a", run: "false"), Step("b", run: "pwd")])
    let run = try Engine(options: options).start(workflow)
    let report = await run.report
    #expect(report.end?.counts.succeeded == 1)
    #expect(report.start.maxParallel == 1)
    #expect(run.output(of: report.steps[1].address) == Array("/usr\n".utf8))
  }

  @Test("C09: two engines in one process know nothing of each other")
  func twoEnginesAreIndependent() async throws {
    let slow = try Engine().start(Workflow(steps: [Step("slow", run: ["sleep", "1000"])]))
    let quick = try Engine().start(Workflow(steps: [Step("quick", run: "true")]))
    #expect(await quick.report.succeeded)
    #expect(slow.progress.end == nil)
    slow.cancel()
    #expect(await slow.report.end?.outcome == .cancelled)
  }

  @Test("C01: 100,000 lines arrive in order and without a gap")
  func manyEventsArriveInOrder() async throws {
    // A reader that comes late gets a snapshot instead of the first events, so the step waits for it.
    let scratch = try Scratch()
    let sign = "\(scratch.path)/reads"
    let script = "while [ ! -d \(sign) ]; do sleep 0.01; done; seq 1 100000"
    let run = try Engine().start(Workflow(steps: [Step("many", run: script)]))
    var expected: UInt64 = 1
    var lines = 0
    for await event in run.events {
      switch event.kind {
      case .outputDropped(let gap):
        #expect(gap.sequences.lowerBound == expected)
        expected = gap.sequences.upperBound + 1
        lines += gap.count
      case .stepOutput(_, let output):
        lines += 1
        #expect(event.sequence == expected)
        #expect(output.text == String(lines))
        expected += 1
      case .stepStarted:
        try FileSystem.makeDirectory(sign)
        fallthrough
      default:
        #expect(event.sequence == expected)
        expected += 1
      }
    }
    #expect(lines == 100_000)
  }
}

extension Array {
  /// All elements of a sequence, once it has ended.
  fileprivate init<Elements: AsyncSequence & Sendable>(_ elements: Elements) async
  where Elements.Element == Element, Elements.Failure == Never {
    self = []
    for await element in elements { append(element) }
  }
}
