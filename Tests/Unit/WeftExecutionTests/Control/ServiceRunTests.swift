import Testing
import WeftDefinition
import WeftDiagnostics
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Services, on simulated time: when they count as done, and how they end.
@Suite struct ServiceRunTests {
  @Test func aServiceIsDoneWhenReadyAndEndsLast() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    #expect(run.running == ["db"])
    run.executor.beReady("db")
    #expect(run.running == ["db", "test"])
    run.executor.exit("test")
    #expect(run.executor.isStopping("db"))
    #expect(run.run.report.end == nil)
    run.executor.end("db", .ended(.signal("TERM")))
    #expect(run.run.report.succeeded)
    #expect(
      run.newEvents() == [
        "run started", "db queued", "db started", "db ready", "test queued", "test started",
        "test success", "db success", "run finished: success",
      ])
  }

  @Test func aReadyServiceHoldsNoSlotOfTheRun() throws {
    let run = try RunHarness(
      Workflow(steps: [service("db"), Step("test", run: ["test"])]), maxParallel: 1)
    run.executor.beReady("db")
    #expect(run.running == ["db", "test"])
  }

  @Test func aReadyServiceKeepsItsPool() throws {
    var workflow = Workflow(
      parallel: [
        Step(
          "group", steps: [service("db").pool("port"), Step("test", run: ["test"])]),
        Step("other", run: ["other"]).pool("port"),
      ])
    workflow.pools = [Pool("port", slots: 1)]
    let run = try RunHarness(workflow)
    run.executor.beReady("db")
    #expect(run.running == ["db", "test"])
    run.time.advance(by: .seconds(60))
    run.executor.exit("test")
    #expect(run.running == ["db"])
    run.executor.exit("db")
    #expect(run.running == ["other"])
    run.executor.exit("other")
    #expect(run.run.report.succeeded)
  }

  @Test func aStepThatWouldWaitForItsServiceForEverFails() throws {
    let group = Step(
      "env", steps: [service("db").pool("port"), Step("test", run: ["test"]).pool("port")])
    var workflow = Workflow(steps: [group.forEach(["a", "b"])])
    workflow.pools = [Pool("port", slots: 2)]
    let run = try RunHarness(workflow, onFailure: .continue)
    run.executor.beReady("env[0].db")
    run.executor.beReady("env[1].db")
    #expect(run.running == ["env[0].db", "env[1].db"])
    run.time.advance(by: .seconds(10))
    let failed = try #require(failure(of: run))
    #expect(failed.classes == [.limit])
    #expect(failed.message.contains("for pool \"port\": \"env[0].db\" and \"env[1].db\" keep its"))
    run.executor.exit("env[0].db")
    #expect(run.running == ["env[1].db", "env[1].test"])
    run.executor.exit("env[1].test")
    run.executor.exit("env[1].db")
    #expect(run.states.filter { $0.contains("failure") } == ["env[0].test: failure"])
  }

  @Test func aStepThatWouldWaitForProcessorsOfItsServiceForEverFails() throws {
    let run = try onTwoProcessors(service("db"), Step("test", run: ["test"]), needing: (2, 1))
    run.executor.beReady("db")
    #expect(run.running == ["db"])
    run.time.advance(by: .seconds(10))
    let failed = try #require(failure(of: run))
    #expect(failed.classes == [.limit])
    #expect(
      failed.message
        == "would wait for ever for processors: \"db\" keeps some, and ends only after this step")
    #expect(failed.help?.contains("request less in \"resources\"") == true)
    #expect(run.executor.isStopping("db"))
    run.executor.exit("db")
    #expect(run.states == ["db: success", "test: failure"])
  }

  @Test func aCleanupThatWouldWaitForProcessorsOfAServiceForEverFails() throws {
    var cleanup = Step(run: ["drop"])
    cleanup.action.command?.resources = Command.Resources(cpus: 1)
    let run = try onTwoProcessors(
      service("db"), Step("test", run: ["test"]).cleanup(cleanup), needing: (2, nil))
    run.executor.beReady("db")
    run.executor.exit("test")
    #expect(run.running == ["db"] && !run.executor.isStopping("db"))
    run.time.advance(by: .seconds(10))
    #expect(run.executor.isStopping("db"))
    run.executor.exit("db")
    #expect(run.states == ["db: success", "test: success", "test.cleanup: failure"])
    #expect(failure(of: run)?.classes == [.limit])
  }

  @Test func aStepBehindOneThatWouldWaitForEverRuns() throws {
    let chain = Step("chain", steps: [Step("large", run: ["a"]).requesting(2), Step(run: ["c"])])
    let all = Step("all", parallel: [Step("small", run: ["b"]).requesting(1), chain])
    let run = try onTwoProcessors(service("db"), all, needing: (1, nil))
    run.executor.beReady("db")
    #expect(run.running == ["db"])
    run.time.advance(by: .seconds(10))
    #expect(run.running == ["db", "small"])
    #expect(run.states.filter { $0.contains("failure") } == ["large: failure"])
  }

  @Test func theOutputOfAServiceDoesNotKeepAStepWaiting() throws {
    let run = try onTwoProcessors(service("db"), Step("test", run: ["test"]), needing: (2, 1))
    run.executor.beReady("db")
    for _ in 0..<100 where failure(of: run) == nil {
      run.executor.write("tick\n", from: "db")
      run.time.advance(by: .milliseconds(100))
    }
    #expect(failure(of: run)?.classes == [.limit])
  }

  @Test func theOutputOfAServiceDoesNotKeepTheRunFromSuspending() throws {
    let ask = Step(id: "ask", action: .approve(Approval(message: "go on?")))
    let run = try RunHarness(
      Workflow(steps: [service("db"), ask]),
      configuring: { $0.journal.suspendsWhileWaiting = true })
    run.executor.beReady("db")
    for _ in 0..<500 where !run.executor.isStopping("db") {
      run.executor.write("tick\n", from: "db")
      run.time.advance(by: .milliseconds(10))
    }
    #expect(run.executor.isStopping("db"))
  }

  @Test func aStepWaitsForTheProcessorsOfAServiceThatEndsBefore() throws {
    let group = Step("env", steps: [service("db").requesting(2), Step("use", run: ["use"])])
    let run = try onTwoProcessors(group, Step("after", run: ["after"]), needing: (nil, 1))
    run.executor.beReady("db")
    run.time.advance(by: .seconds(60))
    run.executor.exit("use")
    run.executor.exit("db")
    #expect(run.running == ["after"])
    run.executor.exit("after")
    #expect(run.run.report.succeeded)
  }

  @Test func aServiceThatFailedHasItsExitCode() throws {
    var workflow = Workflow(steps: [service("db"), Step("test", run: ["test"])])
    workflow.finally = [
      Step("report", run: ["report", "${{ steps.db.outcome }} ${{ steps.db.exitCode }}"])
    ]
    let run = try RunHarness(workflow)
    run.executor.beReady("db")
    run.executor.exit("db", code: 7)
    run.executor.exit("test")
    #expect(
      run.executor.attempts.last?.resolved.command?.invocation
        == .program(["report", "failure 7"]))
  }

  @Test func aServiceThatLeavesTooFewSlotsIsRejected() {
    func codes(_ slots: Int, _ test: Step) -> [String] {
      var workflow = Workflow(steps: [service("db").pool("port"), test.pool("port")])
      workflow.pools = [Pool("port", slots: slots)]
      return Planner.plan(workflow).diagnostics.map(\.code)
    }
    #expect(codes(1, Step("test", run: ["test"])) == ["W0233"])
    #expect(codes(1, Step("test", run: ["test"], needs: [])) == ["W0231", "W0233"])
    #expect(codes(1, Step("test", run: ["test"]).if("run.attempt == 2")) == [])
    #expect(codes(2, Step("test", run: ["test"])) == [])
  }

  @Test func servicesAndCleanupsAreUndoneInReverse() throws {
    let run = try RunHarness(
      Workflow(steps: [
        service("db").cleanup(Step(run: ["drop"])),
        Step("fill", run: ["fill"]).cleanup(Step(run: ["empty"])), service("api"),
        Step("test", run: ["test"]),
      ]))
    run.executor.beReady("db")
    run.executor.exit("fill")
    run.executor.beReady("api")
    run.executor.exit("test", code: 1)
    #expect(run.running == ["db", "api"])
    #expect(run.executor.isStopping("api") && !run.executor.isStopping("db"))
    run.executor.exit("api")
    #expect(run.running == ["db", "fill.cleanup"])
    run.executor.exit("fill.cleanup")
    #expect(run.executor.isStopping("db"))
    run.executor.exit("db", code: 143)
    #expect(run.running == ["db.cleanup"])
    run.executor.exit("db.cleanup")
    #expect(run.run.report.end?.firstFailure?.text == "test")
    #expect(run.run.report.end?.counts.failed == 1)
  }

  @Test func aServiceEndsWithItsGroup() throws {
    let run = try RunHarness(
      Workflow(steps: [
        Step("env", steps: [service("db"), Step("test", run: ["test"])]),
        Step("after", run: ["after"]),
      ]))
    run.executor.beReady("db")
    run.executor.exit("test")
    #expect(run.running == ["db"])
    run.executor.exit("db")
    #expect(run.running == ["after"])
  }

  @Test("an end while the users of a service are being started counts after its readiness")
  func anEndWhileItGetsReady() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.executor.whenStarted { [executor = run.executor] in
      if $0 == "test" { executor.exit("db", code: 1) }
    }
    run.executor.beReady("db")
    #expect(run.running == ["test"])
    run.executor.exit("test")
    #expect(run.states == ["db: failure", "test: success"])
    #expect(
      run.newEvents().dropFirst(3) == [
        "db ready", "test queued", "test started", "db failure", "test success",
        "run finished: failure",
      ])
  }

  @Test(arguments: [true, false])
  func anEndBeforeItIsReadyFails(withCode isCode: Bool) throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.executor.end("db", isCode ? .ended(.code(0)) : .ended(.signal("SEGV")))
    #expect(run.states == ["db: failure", "test: skipped after db"])
    #expect(try #require(failure(of: run)).classes == [.service])
  }

  @Test func anEndWhileItIsNeededFails() throws {
    let run = try RunHarness(
      Workflow(parallel: [
        service("db"), Step("one", run: ["one"], needs: ["db"]),
        Step("two", run: ["two"], needs: ["one"]),
      ]), onFailure: .continue)
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    #expect(try #require(failure(of: run)).message == "exited with code 1 while it was needed")
    run.executor.exit("one")
    #expect(run.states == ["db: failure", "one: success", "two: skipped after db"])
  }

  @Test func theFailureOfAUserSaysThatItsServiceHadEnded() throws {
    let run = try RunHarness(
      Workflow(steps: [service("db"), Step("test", run: ["test"])]), onFailure: .continue)
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("test", code: 2)
    guard case .finished(let end)? = run.run.report.steps.last?.state else {
      Issue.record("test has not ended")
      return
    }
    #expect(end.failure?.message == "exited with code 2; service db, which it needs, had ended")
  }

  @Test func aServiceThatIsNotReadyInTimeFails() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.time.advance(by: .seconds(60))
    #expect(run.executor.isStopping("db"))
    run.executor.end("db", .stopped(.signal("TERM")))
    #expect(try #require(failure(of: run)).classes == [.timeout])
    #expect(try #require(failure(of: run)).message == "was not ready within 1m")
  }

  @Test func aServiceIsStartedAgainAsOftenAsAllowed() throws {
    let run = try RunHarness(
      Workflow(steps: [service("db", restarts: 2), Step("test", run: ["test"])]))
    run.executor.exit("db", code: 1)
    #expect(run.running == [])
    run.time.advance(by: .seconds(1))
    run.executor.beReady("db")
    #expect(run.running == ["db", "test"])
    run.executor.exit("db", code: 1)
    #expect(run.running == ["test"])
    run.time.advance(by: .seconds(2))
    run.executor.beReady("db")
    #expect(run.running == ["db", "test"])
    run.executor.exit("db", code: 1)
    #expect(try #require(failure(of: run)).classes == [.service])
    run.executor.exit("test")
    #expect(run.run.report.end?.firstFailure?.text == "db")
  }

  @Test func aServiceThatWaitsToBeStartedAgainIsNotWaitedFor() throws {
    let run = try RunHarness(
      Workflow(steps: [service("db", restarts: 1), Step("test", run: ["test"])]))
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("test")
    #expect(run.run.report.succeeded)
    #expect(run.states == ["db: success", "test: success"])
  }

  @Test(arguments: [FailureResponse.stop, .continue])
  func aServiceThatWaitsToBeStartedAgainSucceedsIfItsUserFails(onFailure: FailureResponse) throws {
    let run = try RunHarness(
      Workflow(steps: [service("db", restarts: 1), Step("test", run: ["test"])]),
      onFailure: onFailure)
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("test", code: 2)
    #expect(run.states == ["db: success", "test: failure"])
    #expect(run.run.report.end?.firstFailure?.text == "test")
  }

  @Test func aServiceIsStartedAgainForARunningStepAndItsCleanupAfterAFailureElsewhere() throws {
    let use = Step("use", run: ["use"], needs: ["db"]).cleanup(Step(run: ["clean"]))
    let run = try RunHarness(
      Workflow(parallel: [service("db", restarts: 2), use, Step("other", run: ["other"])]))
    run.executor.beReady("db")
    run.executor.exit("other", code: 1)
    run.executor.exit("db", code: 1)
    #expect(run.running == ["use"])
    run.time.advance(by: .seconds(1))
    #expect(run.running == ["db", "use"])
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("use")
    run.time.advance(by: .seconds(2))
    #expect(run.running == ["db", "use.cleanup"])
    run.executor.beReady("db")
    run.executor.exit("use.cleanup")
    #expect(run.executor.isStopping("db"))
    run.executor.exit("db")
    #expect(
      run.states == ["db: success", "use: success", "use.cleanup: success", "other: failure"])
  }

  @Test(arguments: [
    (0, "\"restart\" in \"service\" starts it again"),
    (1, "\"restart\" in \"service\" allows 1; a larger number starts it again more often"),
  ])
  func theHelpOfAnEndKnowsWhetherItWasStartedAgain(restarts: Int, help: String) throws {
    let run = try RunHarness(
      Workflow(steps: [service("db", restarts: restarts), Step("test", run: ["test"])]))
    run.executor.beReady("db")
    for _ in 0..<restarts {
      run.executor.exit("db", code: 1)
      run.time.advance(by: .seconds(1))
      run.executor.beReady("db")
    }
    run.executor.exit("db", code: 1)
    #expect(try #require(failure(of: run)).help == help)
    run.executor.exit("test")
  }

  @Test func aServiceThatIsBeingStartedAgainIsNotWaitedFor() throws {
    let run = try RunHarness(
      Workflow(steps: [service("db", restarts: 1), Step("test", run: ["test"])]))
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.time.advance(by: .seconds(1))
    run.executor.exit("test")
    #expect(run.executor.isStopping("db"))
    run.executor.end("db", .stopped(.signal("TERM")))
    #expect(run.run.report.succeeded)
  }

  @Test func aCleanupOfAGroupThatNeedsAServiceRunsBeforeItsEnd() throws {
    let group = Step("group", steps: [Step("use", run: ["use"], needs: ["db"])])
      .cleanup(Step(run: ["clean"]))
    let run = try RunHarness(Workflow(parallel: [group, service("db")]))
    run.executor.beReady("db")
    run.executor.exit("use")
    #expect(run.running == ["group.cleanup", "db"])
    #expect(!run.executor.isStopping("db"))
    run.executor.exit("group.cleanup")
    #expect(run.executor.isStopping("db"))
    run.executor.exit("db")
    #expect(run.run.report.succeeded)
  }

  @Test func aCleanupSeesThatAServiceOfItsGroupHasFailed() throws {
    let use = Step("use", run: ["use"]).cleanup(Step(run: ["clean"]).if("failure()"))
    let run = try RunHarness(Workflow(steps: [service("db"), use]), onFailure: .continue)
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("use")
    #expect(run.running == ["use.cleanup"])
    run.executor.exit("use.cleanup")
  }

  @Test func aFailureInOneAttemptOfAGroupIsForgottenInTheNext() throws {
    let group = Step("group", steps: [service("db"), Step("use", run: ["use"])])
      .retry(RetryPolicy(max: 1, jitter: .none, classes: [.service]))
    let run = try RunHarness(Workflow(steps: [group]))
    run.executor.beReady("db")
    run.executor.exit("db", code: 1)
    run.executor.exit("use", code: 1)
    run.time.advance(by: .seconds(2))
    run.executor.beReady("db")
    #expect(run.running == ["db", "use"])
    run.executor.exit("use")
    run.executor.exit("db")
    #expect(run.run.report.succeeded)
  }

  @Test func aCancelEndsTheUsersFirst() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.executor.beReady("db")
    run.run.cancel(.requested)
    #expect(run.executor.isStopping("test") && !run.executor.isStopping("db"))
    run.executor.end("test", .stopped(.signal("TERM")))
    #expect(run.executor.isStopping("db"))
    run.executor.end("db", .stopped(.signal("TERM")))
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func aCancelBeforeItIsReadyCancelsIt() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.run.cancel(.requested)
    run.executor.beReady("db")
    #expect(run.executor.isStopping("db"))
    run.executor.end("db", .stopped(.signal("TERM")))
    #expect(run.states == ["db: cancelled", "test: cancelled: requested"])
  }

  @Test func killingTheRunEndsServicesAtOnce() throws {
    let run = try RunHarness(Workflow(steps: [service("db"), Step("test", run: ["test"])]))
    run.executor.beReady("db")
    run.run.killNow()
    #expect(run.executor.attempts.allSatisfy { $0.stop.level == .now })
    run.executor.end("db", .stopped(.signal("KILL")))
    run.executor.end("test", .stopped(.signal("KILL")))
    #expect(run.run.report.end?.outcome == .cancelled)
  }

  @Test func eachElementHasItsOwnService() throws {
    var group = Step("env", steps: [service("db"), Step("test", run: ["test"])])
    group = group.forEach(["a", "b"])
    let run = try RunHarness(Workflow(steps: [group]))
    run.executor.beReady("env[0].db")
    #expect(run.running == ["env[0].db", "env[1].db", "env[0].test"])
    run.executor.exit("env[0].test")
    #expect(run.executor.isStopping("env[0].db") && !run.executor.isStopping("env[1].db"))
    run.executor.exit("env[0].db")
    run.executor.exit("env[1].db", code: 3)
    #expect(run.run.report.end?.firstFailure?.text == "env[1].db")
  }

  private func service(_ id: StepID, restarts: Int = 0) -> Step {
    var command = Command(.program(["serve"]))
    command.service = Command.Service(ready: .tcp("127.0.0.1:1"), restarts: restarts)
    return Step(id, command)
  }

  /// A run of two steps that request processors, on a machine with two.
  private func onTwoProcessors(
    _ first: Step, _ second: Step, needing cpus: (Int?, Int?)
  ) throws -> RunHarness {
    let workflow = Workflow(steps: [first.requesting(cpus.0), second.requesting(cpus.1)])
    return try RunHarness(workflow, onFailure: .continue) {
      $0.resources.capacity = MachineCapacity(processors: 2, memory: 1 << 30)
    }
  }

  private func failure(of run: RunHarness) -> StepFailure? {
    run.run.report.steps.lazy.compactMap { step in
      if case .finished(let end) = step.state { end.failure } else { nil }
    }.first
  }
}

extension Step {
  /// The step, with a request for processors.
  fileprivate func requesting(_ cpus: Int?) -> Step {
    var step = self
    if let cpus { step.action.command?.resources = Command.Resources(cpus: cpus) }
    return step
  }
}
