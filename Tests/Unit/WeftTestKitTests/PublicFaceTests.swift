import TestSupport
import Testing
import Weft
import WeftTestKit

/// The examples of the documentation, as an embedder writes them: nothing here sees more than what is public.
@Suite struct PublicFaceTests {
  @Test("E06: a retry after an hour takes no time") func aRetryAfterAnHourTakesNoTime() throws {
    let again = RetryPolicy(max: 1, delay: .seconds(3600))
    let workflow = Workflow(steps: [
      Step("build", run: ["make"]).retry(again), Step("test", run: ["make", "test"]),
    ])
    let run = try TestRun(workflow)
    #expect(run.runningSteps == ["build"])
    #expect(run.command(of: "build") == ["make"])
    run.exit("build", code: 2)
    #expect(run.runningSteps == [])
    run.clock.advance(by: .seconds(3600))
    run.write("done\n", from: "build")
    run.exit("build")
    run.exit("test")
    #expect(run.report.succeeded)
    #expect(run.events.count(of: .started("build")) == 2)
    #expect(run.events.has(.retrying("build")))
    #expect(run.events.has(.wrote("done", by: "build")))
    #expect(run.events.has(.finished("build", .success), before: .started("test")))
    #expect(run.events.outcome(of: "test") == .success)
    #expect(run.events.end?.outcome == .success)
  }

  @Test func aCancelledRunWaitsForItsCommands() throws {
    let run = try TestRun(Workflow(steps: [Step("serve", run: "serve"), Step("after", run: "x")]))
    run.run.cancel()
    #expect(run.isStopping("serve") && run.report.end == nil)
    run.kill("serve", signal: "TERM")
    #expect(run.report.end?.outcome == .cancelled)
    #expect(run.events.has(.skipped("after")))
    #expect(run.events.outcome(of: "after") == .cancelled)
  }

  @Test(arguments: [true, false])
  func theTestApproves(approves: Bool) throws {
    let run = try TestRun(
      Workflow(steps: [Step("ask", approve: "Really?"), Step("publish", run: ["publish"])]))
    #expect(run.runningSteps == [] && run.report.end == nil)
    if approves { run.approve("ask") } else { run.reject("ask") }
    #expect(run.runningSteps == (approves ? ["publish"] : []))
    if approves { run.exit("publish") }
    #expect(run.report.succeeded == approves)
  }

  @Test func stepsThatDoNotRunOrDoNotExistStopTheTest() async {
    await #expect(processExitsWith: .failure) {
      try TestRun(Workflow(steps: [Step("a", run: ["a"])])).exit("b")
    }
    await #expect(processExitsWith: .failure) {
      try TestRun(Workflow(steps: [Step("a", run: ["a"])])).write("x", from: "b")
    }
    await #expect(processExitsWith: .failure) {
      try TestRun(Workflow(steps: [Step("ask", approve: "well?")])).approve("asks")
    }
    await #expect(processExitsWith: .success) {
      try TestRun(Workflow(steps: [Step("ask", approve: "well?")])).approve("ask")
    }
  }

  @Test func requestsGoToAClosure() throws {
    let transport = StubTransport { request in
      switch (request.method, request.url) {
      case ("POST", "https://example.com/login"): .json(["token": "t1"])
      default: .status(404)
      }
    }
    let workflow = try Workflow(
      json: """
        { "steps": [
          { "id": "login", "http": { "url": "https://example.com/login", "method": "POST",
            "json": { "user": "me" } } },
          { "id": "missing", "http": { "url": "https://example.com/x" }, "allowFailure": true } ],
          "outputs": { "token": "${{ steps.login.json.token }}" } }
        """)
    let run = try TestRun(workflow, transport: transport)
    #expect(run.report.succeeded)
    #expect(run.report.end?.outputs.first?.value == "t1")
    #expect(transport.requests.map(\.url).count == 2)
    #expect(transport.requests.first?.json == ["user": "me"])
    #expect(run.events.outcome(of: "missing") == .failure)
  }

  @Test func secretsAndTheEnvironmentAreGiven() throws {
    let workflow = try Workflow(
      json: """
        { "secrets": { "T": { "command": ["false"] } }, "steps": [
          { "id": "a", "env": { "T": "${{ secrets.T }}" }, "run": ["echo", "${{ env.HOME }}"] } ] }
        """)
    let run = try TestRun(
      workflow, secrets: ["T": "not-a-real-secret"], environment: ["HOME": "/h"])
    #expect(run.command(of: "a") == ["echo", "/h"])
    run.write("not-a-real-secret\n", from: "a")
    run.exit("a")
    #expect(run.events.has(.wrote("***", by: "a")))
    #expect(!run.events.has(.wrote("not-a-real", by: "a")))
  }

  @Test func aTestFileIsASwiftTest() throws {
    let folder = Golden("Files").path
    let tests = try WorkflowTests(contentsOf: "\(folder)/release.test.json")
    #expect(tests.caseNames.count == 9)
    let failures = tests.failures()
    #expect(failures == nil, "\(failures ?? "")")
    let racy = try WorkflowTests(contentsOf: "\(folder)/racy.test.json")
    #expect(racy.failures(seed: 0) == nil)
    #expect(racy.failures(seed: 1)?.contains("W0705") == true)
    #expect(throws: WorkflowTestsError.self) {
      try WorkflowTests(contentsOf: "\(folder)/rejected.test.json")
    }
    #expect(throws: WorkflowTestsError.self) { try WorkflowTests(contentsOf: "nowhere.test.json") }
  }

  @Test func aSleepingTaskIsResumedByTheClock() async throws {
    let clock = TestClock()
    let nap = Task { try await clock.sleep(for: .seconds(3600)) }
    await until { clock.sleeperCount > 0 }
    #expect(clock.advanceToNext())
    try await nap.value
    #expect(clock.now.offset == .seconds(3600))
    #expect(!clock.advanceToNext())
  }

  @Test func aCancelledSleepThrows() async {
    let clock = TestClock()
    let nap = Task { try await clock.sleep(for: .seconds(1)) }
    nap.cancel()
    await #expect(throws: CancellationError.self) { try await nap.value }
    #expect(clock.sleeperCount == 0)
  }

  @Test(arguments: 0..<20 as Range<UInt64>)
  func everyOrderOfEndsIsFine(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let run = try TestRun(
      Workflow(parallel: [
        Step("a", run: "a"), Step("b", run: "b"), Step("c", run: "c", needs: ["a", "b"]),
      ]))
    while let step = run.runningSteps.randomElement(using: &random) { run.exit(step) }
    #expect(run.report.succeeded)
    #expect(run.events.has(.finished("a"), before: .started("c")))
    #expect(run.events.has(.finished("b"), before: .started("c")))
  }
}
