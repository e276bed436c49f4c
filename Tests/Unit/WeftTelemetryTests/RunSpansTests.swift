import Testing
import WeftDefinition
import WeftHTTP
public import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftTelemetry

@Suite struct RunSpansTests {
  private static let failure = StepFailure(
    classes: [.exit(3), .exit], message: "exited with code 3")

  private static func end(
    _ outcome: Outcome, after milliseconds: Int, conclusion: Outcome? = nil, attempts: Int = 1,
    exit: ProgramExit? = nil, for reason: CancelReason? = nil
  ) -> StepEnd {
    StepEnd(
      outcome: outcome, conclusion: conclusion ?? outcome, attempts: attempts, exit: exit,
      failure: outcome == .failure ? failure : nil, cancellation: reason,
      duration: .milliseconds(milliseconds))
  }

  private static func runEnd(
    _ outcome: Outcome, after milliseconds: Int, for reason: CancelReason? = nil
  ) -> RunEvent.Kind {
    .runFinished(
      RunEnd(
        outcome: outcome, firstFailure: outcome == .failure ? "a" : nil, cancellation: reason,
        duration: .milliseconds(milliseconds), counts: OutcomeCounts(),
        failure: outcome == .failure ? failure : nil))
  }

  private static let start = RunEvent.Kind.runStarted(
    RunStart(
      run: RunID("20261123-175233-10bb5c"), workflow: "demo", file: "w.json",
      startedAt: WallTime(nanoseconds: 1_000_000_000), stepCount: 1, groupCount: 0, maxParallel: 2,
      engineProcess: 1, containment: nil, resumption: 0))

  /// The spans of a run with these events, each with its time in milliseconds.
  private func spans(
    of steps: [Step], parent: TraceContext? = nil, continuing earlier: TraceContext? = nil,
    _ events: [(Int, RunEvent.Kind)]
  ) throws -> [Span] {
    let plan = try #require(Planner.plan(Workflow(name: "demo", steps: steps)).plan)
    let trace = RunTrace(inherited: parent, earlier: earlier, seed: (1, 2, 3))
    var fold = RunSpans(trace, plan)
    var spans: [Span] = []
    for (index, (time, kind)) in ([(0, Self.start)] + events).enumerated() {
      fold.apply(
        RunEvent(sequence: UInt64(index + 1), elapsed: .milliseconds(time), kind: kind))
      spans += fold.takeEnded()
    }
    #expect(fold.openCount == 0)
    #expect(TraceShape(spans).violations == [])
    return spans
  }

  private func times(_ spans: [Span]) -> [String] {
    spans.map { span in
      let (start, end) = (span.start.wholeNanoseconds, span.end.wholeNanoseconds)
      return "\(span.name) \(start / 1_000_000)-\(end / 1_000_000)"
    }
  }

  @Test func aStepHasItsWaitAndItsAttempt() throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (0, .stepQueued("a", waitingFor: [PoolRequest("db", slots: 1)])),
        (100, .stepStarted("a", attempt: 1)),
        (350, .stepFinished("a", Self.end(.success, after: 250, exit: .code(0)))),
        (360, Self.runEnd(.success, after: 360)),
      ])
    #expect(times(spans) == ["wait: slot 0-100", "attempt 1 100-350", "a 0-350", "RUN demo 0-360"])
    let (wait, attempt, step, run) = (spans[0], spans[1], spans[2], spans[3])
    #expect(wait.parent == step.id && attempt.parent == step.id && step.parent == run.id)
    #expect(run.parent == nil && run.kind == .server && attempt.kind == .internal)
    #expect(wait["weft.pools"] == .texts(["db"]))
    #expect(attempt["process.exit.code"] == .number(0))
    #expect(step["cicd.pipeline.task.name"] == .text("a"))
    #expect(step["cicd.pipeline.task.run.id"] == .text("20261123-175233-10bb5c/a"))
    #expect(step["cicd.pipeline.task.run.result"] == .text("success"))
    #expect(step["error.type"] == nil && step.status == .unset)
    #expect(run["cicd.pipeline.result"] == .text("success"))
    #expect(run["cicd.pipeline.name"] == .text("demo"))
  }

  @Test(arguments: [
    (WaitReason.slot, "slot"), (.group("g"), "group"), (.pool("db", holders: ["b"]), "pool"),
    (.rate("db"), "rate"),
  ])
  func aWaitIsNamedAfterWhatTheStepLacked(reason: WaitReason, word: String) throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (0, .stepQueued("a", waitingFor: [], because: reason)),
        (9, .stepStarted("a", attempt: 1)),
        (12, .stepFinished("a", Self.end(.success, after: 3))),
        (12, Self.runEnd(.success, after: 12)),
      ])
    #expect(times(spans).first == "wait: \(word) 0-9")
  }

  @Test func aShortWaitForASlotHasNoSpan() throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (5, .stepQueued("a")), (5, .stepStarted("a", attempt: 1)),
        (9, .stepFinished("a", Self.end(.success, after: 4))),
        (9, Self.runEnd(.success, after: 9)),
      ])
    #expect(times(spans) == ["attempt 1 5-9", "a 5-9", "RUN demo 0-9"])
  }

  @Test func anAttemptLastsExactlyAsLongAsItsEventSays() throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (5, .stepStarted("a", attempt: 1)),
        (9, .stepFinished("a", Self.end(.success, after: 6))),
        (9, Self.runEnd(.success, after: 9)),
      ])
    #expect(times(spans) == ["attempt 1 5-11", "a 5-11", "RUN demo 0-11"])
  }

  @Test func aWaitOfAPreviousEngineEndsInThisOne() throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (5, .stepStarted("a", attempt: 1)), (5, .stepWaiting("a", for: .milliseconds(100))),
        (105, .stepFinished("a", Self.end(.success, after: 3_600_000))),
        (105, Self.runEnd(.success, after: 3_700_000)),
      ])
    #expect(
      times(spans) == ["wait: time 5-1105", "attempt 1 5-1105", "a 5-1105", "RUN demo 0-1105"])
  }

  @Test func retriesHaveAnAttemptEach() throws {
    let retry = Retry(
      attempt: 1, of: 3, failure: Self.failure, exit: .code(3), duration: .milliseconds(50),
      delay: .milliseconds(200))
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (0, .stepStarted("a", attempt: 1)), (50, .stepRetrying("a", retry)),
        (400, .stepStarted("a", attempt: 2)),
        (430, .stepFinished("a", Self.end(.success, after: 30, attempts: 2))),
        (430, Self.runEnd(.success, after: 430)),
      ])
    #expect(
      times(spans) == [
        "attempt 1 0-50", "wait: backoff 50-250", "wait: slot 250-400", "attempt 2 400-430",
        "a 0-430", "RUN demo 0-430",
      ])
    #expect(spans[0].status == .error("exited with code 3"))
    #expect(spans[0]["error.type"] == .text("exit:3"))
    #expect(spans[4]["weft.attempts"] == .number(2) && spans[4].status == .unset)
  }

  @Test func aBackoffThatIsCutShortEndsWithTheStep() throws {
    let retry = Retry(
      attempt: 1, of: 3, failure: Self.failure, exit: nil, duration: .milliseconds(50),
      delay: .seconds(60))
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (0, .stepStarted("a", attempt: 1)), (50, .stepRetrying("a", retry)),
        (80, .stepFinished("a", Self.end(.cancelled, after: 50, for: .requested))),
        (80, Self.runEnd(.cancelled, after: 80, for: .requested)),
      ])
    #expect(
      times(spans) == ["attempt 1 0-50", "wait: backoff 50-80", "a 0-80", "RUN demo 0-80"])
    #expect(spans[2]["cicd.pipeline.task.run.result"] == .text("cancellation"))
    #expect(spans[3]["cicd.pipeline.result"] == .text("cancellation"))
  }

  @Test(arguments: [
    (Outcome.failure, Outcome.failure, CancelReason?.none, "failure", true),
    (.failure, .success, nil, "failure", false),
    (.cancelled, .cancelled, .requested, "cancellation", false),
    (.cancelled, .cancelled, .runTimeout(.seconds(1)), "timeout", false),
    (.success, .success, nil, "success", false),
  ])
  func resultsAreInTheWordsOfTheConventions(
    outcome: Outcome, conclusion: Outcome, reason: CancelReason?, word: String, isError: Bool
  ) throws {
    let spans = try spans(
      of: [Step("a", run: ["x"])],
      [
        (0, .stepStarted("a", attempt: 1)),
        (
          5,
          .stepFinished(
            "a", Self.end(outcome, after: 5, conclusion: conclusion, for: reason))
        ),
        (5, Self.runEnd(.success, after: 5)),
      ])
    for span in spans[..<2] {
      #expect(span["cicd.pipeline.task.run.result"] == .text(word))
      #expect((span.status != .unset) == isError)
      #expect((span["error.type"] != nil) == (outcome == .failure))
    }
  }

  @Test func theRunNamesItsFailure() throws {
    let run = try #require(
      try spans(of: [Step("a", run: ["x"])], [(5, Self.runEnd(.failure, after: 5))]).last)
    #expect(run.status == .error("step \"a\" failed: exited with code 3"))
    #expect(run["error.type"] == .text("exit:3"))
    let late = try #require(
      try spans(
        of: [Step("a", run: ["x"])],
        [(5, Self.runEnd(.cancelled, after: 5, for: .runTimeout(.seconds(1))))]
      ).last)
    #expect(late["cicd.pipeline.result"] == .text("timeout"))
  }

  @Test func stepsThatDoNotRunHaveASpan() throws {
    let spans = try spans(
      of: [Step("a", run: ["x"]), Step("b", run: ["x"]), Step("c", run: ["x"])],
      [
        (1, .stepCached("a", Self.end(.success, after: 9000))),
        (2, .stepRestored("b", Self.end(.failure, after: 9000, conclusion: .success))),
        (3, .stepSkipped("c", .condition(of: "c"))), (4, Self.runEnd(.success, after: 4)),
      ])
    #expect(times(spans) == ["a 1-1", "b 2-2", "c 3-3", "RUN demo 0-4"])
    #expect(spans[0]["weft.cached"] == .flag(true) && spans[1]["weft.restored"] == .flag(true))
    #expect(spans[2]["cicd.pipeline.task.run.result"] == .text("skip"))
    #expect(spans[2]["weft.skip.reason"] == .text("condition"))
  }

  @Test func membersAreInTheirGroupsAndElementsInTheirLoops() throws {
    let steps = [
      Step("g", parallel: [Step("x", run: ["x"]), Step("h", steps: [Step("y", run: ["x"])])]),
      Step(
        "each",
        steps: [Step("p", run: ["x"]), Step("in", steps: [Step("q", run: ["x"])]).forEach(["2"])]
      )
      .forEach(["1"]),
    ]
    var events: [(Int, RunEvent.Kind)] = []
    func begin(_ group: StepAddress) { events.append((0, .groupStarted(group, GroupStart()))) }
    func end(_ group: StepAddress) {
      events.append(
        (
          5,
          .groupFinished(
            group,
            GroupEnd(
              outcome: .success, conclusion: .success, failure: nil, cause: nil,
              duration: .milliseconds(5)))
        ))
    }
    func run(_ step: StepAddress) {
      events += [
        (0, .stepStarted(step, attempt: 1)),
        (5, .stepFinished(step, Self.end(.success, after: 5))),
      ]
    }
    begin("g")
    run("x")
    begin("h")
    run("y")
    end("h")
    end("g")
    begin("each")
    begin("each[1]")
    run("each[1].p")
    begin("each[1].in")
    begin("each[1].in[2]")
    run("each[1].in[2].q")
    end("each[1].in[2]")
    end("each[1].in")
    end("each[1]")
    end("each")
    events.append((6, Self.runEnd(.success, after: 6)))
    let spans = try spans(of: steps, events)
    func address(_ id: SpanID?) -> String? {
      guard let span = spans.first(where: { $0.id == id }) else { return nil }
      guard case .text(let text)? = span["weft.address"] else { return "run" }
      return text
    }
    let parents = spans.compactMap { span -> String? in
      guard span["weft.span"] != .text("attempt"), let parent = address(span.parent) else {
        return nil
      }
      return "\(address(span.id)!) < \(parent)"
    }
    #expect(
      Set(parents) == [
        "g < run", "x < g", "h < g", "y < h", "each < run", "each[1] < each", "each[1].p < each[1]",
        "each[1].in < each[1]", "each[1].in[2] < each[1].in", "each[1].in[2].q < each[1].in[2]",
      ])
    let element = spans.first { $0["weft.address"] == .text("each[1].p") }
    #expect(element?.name == "p", "names are few: \(element?.name ?? "")")
  }

  @Test func aRetriedGroupHasASpanForEachAttempt() throws {
    let retry = Retry(
      attempt: 1, of: 2, failure: Self.failure, exit: nil, duration: .milliseconds(5),
      delay: .milliseconds(10))
    let spans = try spans(
      of: [Step("g", parallel: [Step("x", run: ["x"])])],
      [
        (0, .groupStarted("g", GroupStart())), (0, .stepStarted("x", attempt: 1)),
        (5, .stepFinished("x", Self.end(.failure, after: 5))), (5, .groupRetrying("g", retry)),
        (15, .groupStarted("g", GroupStart(attempt: 2))), (15, .stepStarted("x", attempt: 1)),
        (20, .stepFinished("x", Self.end(.success, after: 5))),
        (
          20,
          .groupFinished(
            "g",
            GroupEnd(
              outcome: .success, conclusion: .success, failure: nil, cause: nil, attempts: 2,
              duration: .milliseconds(5)))
        ), (20, Self.runEnd(.success, after: 20)),
      ])
    #expect(
      times(spans) == [
        "attempt 1 0-5", "x 0-5", "g 0-5", "wait: backoff 5-15", "attempt 1 15-20", "x 15-20",
        "g 15-20", "RUN demo 0-20",
      ])
    #expect(spans[1].parent == spans[2].id && spans[5].parent == spans[6].id)
    #expect(spans[2]["weft.attempt"] == .number(1) && spans[6]["weft.attempt"] == .number(2))
  }

  @Test func theQueueOfAClusterIsAWaitBeforeTheAttempt() throws {
    let spans = try spans(
      of: [Step("x", run: ["make"])],
      [
        (0, .stepStarted("x", attempt: 1, job: .slurm)), (7, .stepBegun("x", attempt: 1)),
        (9, .stepFinished("x", Self.end(.success, after: 2))), (9, Self.runEnd(.success, after: 9)),
      ])
    #expect(
      times(spans) == ["wait: cluster 0-7", "attempt 1 7-9", "x 0-9", "RUN demo 0-9"])
    #expect(spans[0].parent == spans[2].id)
  }

  @Test func aSuspendedRunEndsItsSpans() throws {
    let spans = try spans(
      of: [Step("g", parallel: [Step("x", approve: "ship?")])],
      [
        (0, .groupStarted("g", GroupStart())), (0, .stepStarted("x", attempt: 1)),
        (1, .stepAsking("x", message: "ship?")),
        (9, .runWaiting(RunPause(requests: [], duration: .zero, counts: OutcomeCounts()))),
      ])
    #expect(
      times(spans) == [
        "wait: approval 1-9", "attempt 1 0-9", "x 0-9", "g 0-9", "RUN demo 0-9",
      ])
    #expect(spans.last?["cicd.pipeline.result"] == .text("suspended"))
  }

  @Test func requestsAreDescribedAsTheConventionsSay() throws {
    var end = Self.end(.success, after: 5)
    var figures = ExchangeFigures()
    (figures.remoteAddress, figures.remotePort, figures.protocolVersion) = (
      "192.0.2.1", 8443, "HTTP/1.1"
    )
    end.http = HTTPSummary(
      method: "POST", url: "https://api.example:8443/x?y=1", status: 201, redirects: 1,
      figures: figures)
    let spans = try spans(
      of: [Step("a", http: HTTPCall("https://api.example:8443/x"))],
      [
        (0, .stepStarted("a", attempt: 1)), (5, .stepFinished("a", end)),
        (5, Self.runEnd(.success, after: 5)),
      ])
    let attempt = spans[0]
    #expect(attempt.kind == .client)
    #expect(attempt["http.request.method"] == .text("POST"))
    #expect(attempt["http.response.status_code"] == .number(201))
    #expect(attempt["url.full"] == .text("https://api.example:8443/x?y=1"))
    #expect(attempt["server.address"] == .text("api.example"))
    #expect(attempt["server.port"] == .number(8443))
    #expect(attempt["network.peer.address"] == .text("192.0.2.1"))
    #expect(attempt["network.protocol.version"] == .text("1.1"))
    #expect(attempt["http.request.resend_count"] == .number(1))
  }

  @Test func aParentAndLinksAreKept() throws {
    let parent = TraceContext(trace: TraceID(high: 9, low: 9)!, span: SpanID(7)!)
    let run = try #require(
      try spans(of: [Step("a", run: ["x"])], parent: parent, [(1, Self.runEnd(.success, after: 1))])
        .last)
    #expect(run.parent == parent.span && run.hasRemoteParent && run.links.isEmpty)
    let resumed = try #require(
      try spans(
        of: [Step("a", run: ["x"])], continuing: parent, [(1, Self.runEnd(.success, after: 1))]
      ).last)
    #expect(resumed.parent == nil && resumed.links == [parent])
  }
}

extension StepAddress: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
