import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

@Suite struct RunEngineTests {
  @Test func stepsRunOneAfterAnother() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")]))
    #expect(harness.newEvents() == ["run started", "a queued", "a started"])
    harness.executor.exit("a")
    #expect(harness.newEvents() == ["a success", "b queued", "b started"])
    harness.executor.exit("b")
    #expect(harness.newEvents() == ["b success", "run finished: success"])
    #expect(harness.run.completion.isSettled)
    #expect(harness.run.report.succeeded)
  }

  @Test func aStepStartsTheMomentItsOwnDependenciesAreDone() throws {
    let harness = try RunHarness(
      Workflow(parallel: [
        Step("a", run: "a"), Step("slow", run: "s"), Step("b", run: "b", needs: ["a"]),
        Step("c", run: "c", needs: ["a", "b"]),
      ]))
    #expect(harness.running == ["a", "slow"])
    harness.executor.exit("a")
    #expect(harness.running == ["slow", "b"])
    harness.executor.exit("b")
    #expect(harness.running == ["slow", "c"])
  }

  @Test func theCoordinatorRunsOneThenThreeThenOneThenOne() throws {
    let harness = try RunHarness(
      Workflow(steps: [
        Step("one", run: "1"),
        Step("two", parallel: [Step("a", run: "a"), Step("b", run: "b"), Step("c", run: "c")]),
        Step("three", run: "3"), Step("four", run: "4"),
      ]))
    #expect(harness.running == ["one"])
    harness.executor.exit("one")
    #expect(harness.running == ["a", "b", "c"])
    harness.executor.exit("b")
    harness.executor.exit("a")
    #expect(harness.running == ["c"])
    _ = harness.newEvents()
    harness.executor.exit("c")
    #expect(
      harness.newEvents() == ["c success", "two group success", "three queued", "three started"])
    harness.executor.exit("three")
    #expect(harness.running == ["four"])
  }

  // MARK: Failure policies

  /// `a` fails; `b` runs beside it; `c` waits for `a`, `d` for `b`.
  private func twoPairs(_ response: FailureResponse) throws -> RunHarness {
    try RunHarness(
      Workflow(
        parallel: [
          Step("a", run: "a"), Step("b", run: "b"), Step("c", run: "c", needs: ["a"]),
          Step("d", run: "d", needs: ["b"]),
        ], onFailure: response))
  }

  @Test func stopStartsNothingNewAndLetsTheRunningFinish() throws {
    let harness = try twoPairs(.stop)
    harness.executor.exit("a", code: 3)
    #expect(!harness.executor.isStopping("b"))
    harness.executor.exit("b")
    #expect(
      harness.states == ["a: failure", "b: success", "c: skipped after a", "d: held back by a"])
    #expect(harness.run.report.end?.outcome == .failure)
    #expect(harness.run.report.end?.firstFailure == StepAddress("a"))
  }

  @Test func cancelEndsTheRunningToo() throws {
    let harness = try twoPairs(.cancel)
    harness.executor.exit("a", code: 1)
    #expect(harness.executor.isStopping("b"))
    #expect(!harness.run.completion.isSettled, "the run waits for what it has stopped")
    harness.executor.end("b", .stopped(.signal("TERM")))
    #expect(
      harness.states == ["a: failure", "b: cancelled", "c: skipped after a", "d: skipped after a"])
    #expect(harness.run.report.end?.outcome == .failure)
    #expect(harness.newEvents().contains("run cancelling: failure of a"))
  }

  @Test("G05: one side of a diamond fails, the other finishes, the join is skipped by name")
  func continueRunsWhatDoesNotDependOnTheFailure() throws {
    let harness = try RunHarness(
      Workflow(
        parallel: [
          Step("top", run: "t"), Step("left", run: "l", needs: ["top"]),
          Step("right", run: "r", needs: ["top"]),
          Step("join", run: "j", needs: ["left", "right"]),
          Step("after", run: "x", needs: ["join"]),
        ], onFailure: .continue))
    harness.executor.exit("top")
    harness.executor.exit("left", code: 1)
    #expect(harness.running == ["right"])
    harness.executor.exit("right")
    #expect(
      harness.states == [
        "top: success", "left: failure", "right: success", "join: skipped after left",
        "after: skipped after left",
      ])
  }

  @Test func aToleratedFailureHoldsNothingBack() throws {
    let harness = try RunHarness(
      Workflow(steps: [
        Step("lint", run: "l", allowFailure: .all), Step("ship", run: "s"),
      ]))
    harness.executor.exit("lint", code: 1)
    #expect(harness.running == ["ship"])
    harness.executor.exit("ship")
    #expect(harness.run.report.end?.outcome == .success)
    #expect(harness.run.report.end?.counts.tolerated == 1)
    #expect(harness.states == ["lint: failure tolerated", "ship: success"])
  }

  @Test(arguments: [
    (FailureTolerance.classes([.exit(3)]), 3, true), (.classes([.exit(3)]), 4, false),
    (.classes([.exit]), 4, true), (.classes([.signal]), 4, false), (.none, 4, false),
  ])
  func onlyTheNamedClassesAreTolerated(
    tolerance: FailureTolerance, code: Int, isTolerated: Bool
  ) throws {
    let harness = try RunHarness(
      Workflow(steps: [Step("a", run: "a", allowFailure: tolerance)]))
    harness.executor.exit("a", code: code)
    #expect(harness.run.report.succeeded == isTolerated)
  }

  @Test func aFailureActsWithinTheNearestGroupThatToleratesIt() throws {
    let harness = try RunHarness(
      Workflow(
        steps: [
          Step(
            "optional",
            parallel: [
              Step("x", run: "x"), Step("y", run: "y"), Step("z", run: "z", needs: ["y"]),
            ], allowFailure: .all),
          Step("rest", run: "r"),
        ]))
    harness.executor.exit("x", code: 1)
    harness.executor.exit("y")
    #expect(harness.running == ["rest"], "the group is over, and its failure stays inside")
    harness.executor.exit("rest")
    #expect(
      harness.states == ["x: failure", "y: success", "z: held back by x", "rest: success"])
    #expect(harness.run.report.succeeded)
    #expect(harness.newEvents().contains("optional group failure tolerated"))
  }

  @Test func successCodesDecideWhatFails() throws {
    var step = Step("grep", run: ["grep", "x"])
    step.action = .run(Command(.program(["grep", "x"]), successCodes: [0, 1]))
    for (code, succeeds) in [(0, true), (1, true), (2, false)] {
      let harness = try RunHarness(Workflow(steps: [step]))
      harness.executor.exit("grep", code: code)
      #expect(harness.run.report.succeeded == succeeds)
    }
  }

  // MARK: Time limits

  @Test func aGroupsTimeLimitCancelsItsMembersAndFailsTheGroup() throws {
    let harness = try RunHarness(
      Workflow(
        parallel: [
          Step("group", steps: [Step("x", run: "x"), Step("y", run: "y")], timeout: .seconds(5)),
          Step("other", run: "o"), Step("after", run: "a", needs: ["x"]),
        ], onFailure: .continue))
    harness.time.advance(by: .seconds(4))
    #expect(!harness.executor.isStopping("x"))
    harness.time.advance(by: .seconds(1))
    #expect(harness.executor.isStopping("x"))
    #expect(!harness.executor.isStopping("other"))
    harness.executor.end("x", .stopped(.signal("TERM")))
    harness.executor.exit("other")
    #expect(
      harness.states == [
        "x: cancelled", "y: cancelled: timeout of group", "other: success",
        "after: skipped after group",
      ])
    #expect(harness.run.report.end?.outcome == .failure)
    #expect(harness.run.report.end?.firstFailure == StepAddress("group"))
  }

  @Test func aGroupsTimeLimitBeginsWhenItsDependenciesAreDone() throws {
    let harness = try RunHarness(
      Workflow(steps: [
        Step("first", run: "f"), Step("group", steps: [Step("x", run: "x")], timeout: .seconds(5)),
      ]))
    harness.time.advance(by: .seconds(100))
    harness.executor.exit("first")
    harness.time.advance(by: .seconds(4))
    #expect(!harness.executor.isStopping("x"))
    harness.executor.exit("x")
    #expect(harness.run.report.succeeded)
    #expect(harness.time.scheduledCount == 0, "no timer outlives what it limits")
  }

  @Test("X80: a timer of a group that has ended does not reach the next group in its place")
  func aTimerThatIsLate() throws {
    let harness = try RunHarness(
      Workflow(steps: [
        Step("g", steps: [Step("x", run: "x")], timeout: .seconds(5)).forEach(
          ["1", "2"], maxParallel: 1)
      ]))
    harness.time.ignoreCancellations()
    harness.time.advance(by: .seconds(4))
    harness.executor.exit("g[0].x")
    #expect(harness.running == ["g[1].x"])
    harness.time.advance(by: .seconds(2))
    #expect(!harness.executor.isStopping("g[1].x"), "the limit of the first element has passed")
    harness.time.advance(by: .seconds(3))
    #expect(harness.executor.isStopping("g[1].x"))
    harness.executor.end("g[1].x", .stopped(.signal("TERM")))
    #expect(harness.run.report.end?.outcome == .failure)
  }

  @Test func theRunsTimeLimitCancelsTheRun() throws {
    var workflow = Workflow(steps: [Step("a", run: "a"), Step("b", run: "b")])
    workflow.timeout = .seconds(60)
    let harness = try RunHarness(workflow)
    harness.time.advance(by: .seconds(60))
    #expect(harness.executor.isStopping("a"))
    harness.executor.end("a", .stopped(.signal("TERM")))
    #expect(harness.states == ["a: cancelled", "b: cancelled: run timeout"])
    #expect(harness.run.report.end?.cancellation == .runTimeout(.seconds(60)))
    #expect(harness.run.report.end?.outcome == .cancelled)
  }

  // MARK: Cancellation

  @Test func aCancelledRunWaitsForEverythingItStarted() throws {
    let harness = try RunHarness(
      Workflow(parallel: [Step("a", run: "a"), Step("b", run: "b"), Step("c", run: "c")]),
      maxParallel: 2)
    harness.run.cancel(.signal("INT"))
    harness.run.cancel(.requested)
    #expect(harness.executor.isStopping("a") && harness.executor.isStopping("b"))
    #expect(harness.states == ["a: running", "b: running", "c: cancelled: INT"])
    harness.executor.end("a", .stopped(.signal("TERM")))
    #expect(!harness.run.completion.isSettled)
    harness.executor.end("b", .stopped(.signal("KILL")))
    #expect(harness.run.report.end?.outcome == .cancelled)
    #expect(
      harness.newEvents().filter { $0.hasPrefix("run cancelling") } == ["run cancelling: INT"])
  }

  @Test("K11: cancelled before it starts, a step is never started")
  func aStepThatWaitsIsNeverStarted() throws {
    let harness = try RunHarness(
      Workflow(parallel: [Step("a", run: "a"), Step("b", run: "b")]), maxParallel: 1)
    harness.run.cancel(.requested)
    harness.executor.exit("a")
    #expect(!harness.newEvents().contains("b started"))
    #expect(harness.states == ["a: success", "b: cancelled: requested"])
  }

  @Test("K13: cancelling twice is cancelling once")
  func cancellingTwiceIsCancellingOnce() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "a")]))
    harness.run.cancel(.requested)
    harness.run.cancel(.requested)
    harness.executor.end("a", .stopped(nil))
    #expect(harness.newEvents().filter { $0 == "run cancelling: requested" }.count == 1)
  }

  @Test func aCancellationAfterTheEndChangesNothing() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "a")]))
    harness.executor.exit("a")
    harness.run.cancel(.requested)
    harness.run.killNow()
    #expect(harness.newEvents().last == "run finished: success")
  }

  @Test("K12: the exit status wins if the program ended first")
  func anExitWinsOverACancellation() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "a")]))
    harness.run.cancel(.requested)
    harness.executor.exit("a")
    #expect(harness.run.report.end?.outcome == .success)
    #expect(harness.run.report.end?.cancellation == nil)
  }

  // MARK: Order and limits

  @Test("G06: with one slot steps start in the order of the file")
  func stepsStartInFileOrderWithOneSlot() throws {
    let harness = try RunHarness(
      Workflow(parallel: [
        Step("a", run: "a"), Step("c", run: "c", needs: ["a"]), Step("b", run: "b"),
        Step("d", run: "d", needs: ["b"]), Step("e", run: "e", needs: ["d"]),
      ]), maxParallel: 1)
    var order: [String] = []
    while let next = harness.running.first {
      #expect(harness.running.count == 1)
      order.append(next)
      harness.executor.exit(next)
    }
    #expect(order == ["a", "c", "b", "d", "e"])
    let planned = harness.run.plan.topologicalOrder.map { harness.run.plan.nodes[Int($0)] }
    let steps = planned.compactMap { node -> String? in
      guard case .step(let index) = node else { return nil }
      return harness.run.plan.steps[Int(index)].address.text
    }
    #expect(steps == order, "the order that the plan shows is the order of the run")
  }

  @Test func theLongestPathStartsFirst() throws {
    let harness = try RunHarness(
      Workflow(parallel: [
        Step("busy", run: "x"), Step("busy2", run: "x"), Step("short", run: "s"),
        Step("long1", run: "1"), Step("long2", run: "2", needs: ["long1"]),
      ]), maxParallel: 2)
    // Of the four that could start, the one with the longest path comes first, then file order decides.
    #expect(harness.running == ["busy", "long1"])
    harness.executor.exit("busy")
    #expect(harness.running == ["busy2", "long1"])
    harness.executor.exit("long1")
    #expect(harness.running == ["busy2", "short"])
  }

  @Test func aGroupsMaxParallelHoldsInsideIt() throws {
    let harness = try RunHarness(
      Workflow(parallel: [
        Step("g", parallel: [Step("x", run: "x"), Step("y", run: "y")], maxParallel: 1),
        Step("z", run: "z"),
      ]))
    #expect(harness.running == ["x", "z"])
    harness.executor.exit("x")
    #expect(harness.running == ["y", "z"])
  }

  @Test("W16: no steps is a success")
  func noStepsIsASuccess() throws {
    let harness = try RunHarness(Workflow(steps: []))
    #expect(harness.newEvents() == ["run started", "run finished: success"])
  }

  @Test func anEmptyGroupIsASuccess() throws {
    let harness = try RunHarness(
      Workflow(steps: [Step("g", parallel: []), Step("a", run: "a")]))
    #expect(harness.running == ["a"])
  }

  // MARK: Output

  @Test func outputComesInLinesAndIsKept() throws {
    let harness = try RunHarness(Workflow(steps: [Step("a", run: "a")]))
    _ = harness.newEvents()
    harness.executor.write("one\ntw", from: "a")
    harness.executor.write("error\n", from: "a", to: .stderr)
    harness.executor.write("o\nrest", from: "a")
    harness.executor.exit("a")
    #expect(
      harness.newEvents().filter { $0.contains("wrote") } == [
        "a wrote one", "a wrote error", "a wrote two", "a wrote rest",
      ])
    let step = StepAddress("a")
    let size = harness.run.logSize(of: step)
    let log = String(decoding: harness.run.log(of: step, in: 0..<size), as: UTF8.self)
    #expect(log == "one\nerror\ntwo\nrest")
  }
}
