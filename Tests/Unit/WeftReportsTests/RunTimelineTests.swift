import Testing
import WeftDefinition
import WeftPlanning
import WeftTestKit

@testable import WeftEvents
@testable import WeftReports

@Suite struct RunTimelineTests {
  @Test func attemptsBackoffAndWaitsAreToldApart() {
    var journal = Journal()
    journal.add(.stepQueued("a"), at: 0)
    journal.add(.stepStarted("a", attempt: 1), at: 100)
    journal.add(.stepRetrying("a", Journal.retry(1, after: 50, delay: 200)), at: 150)
    journal.add(.stepStarted("a", attempt: 2), at: 400)
    journal.add(.stepFinished("a", Journal.end(.success, after: 30, attempts: 2)), at: 430)
    journal.finish(.success, at: 430)
    let step = journal.timeline()["a"]
    #expect(step.spans.map(\.kind) == [.slot, .running, .backoff, .slot, .running])
    #expect(step.spans.map(\.start) == [0, 100_000, 150_000, 350_000, 400_000])
    #expect(step.spans.map(\.end) == [100_000, 150_000, 350_000, 400_000, 430_000])
    #expect(step.spans.map(\.attempt) == [1, 1, 2, 2, 2])
    #expect(step.spans.map(\.verdict) == [nil, .failed, nil, nil, .succeeded])
    #expect(step.time(.backoff) == 200_000 && step.waitingTime == 150_000)
  }

  @Test func theQueueOfAClusterIsAWaitBetweenTheSlotAndTheAttempt() {
    var journal = Journal()
    journal.add(.stepQueued("a", waitingFor: [PoolRequest("jobs", slots: 1)]), at: 0)
    journal.add(.stepStarted("a", attempt: 1, job: .slurm), at: 100)
    journal.add(.stepBegun("a", attempt: 1), at: 700)
    journal.add(.stepFinished("a", Journal.end(.success, after: 50)), at: 750)
    journal.finish(.success, at: 750)
    let timeline = journal.timeline()
    let step = timeline["a"]
    #expect(step.lastExecution.map(\.kind) == [.pool, .cluster, .running])
    #expect(step.spans.map(\.start) == [0, 100_000, 700_000])
    #expect(step.runningTime == 50_000 && step.waitingTime == 700_000 && step.attempts == 1)
    // A job that waits keeps its slots of pools.
    #expect(timeline.pools.map(\.peak) == [1] && timeline.slots.peak == 1)
  }

  @Test func aServiceHoldsItsSlotUntilItIsReadyAndItsPoolsUntilItEnds() {
    var journal = Journal(slots: 1)
    let pools = [PoolRequest("port", slots: 1)]
    journal.add(.stepQueued("db", waitingFor: pools), at: 0)
    journal.add(.stepStarted("db", attempt: 1), at: 10)
    journal.add(.stepReady("db", Journal.end(.success, after: 40)), at: 50)
    journal.step("use", queued: 50, started: 50, ended: 90)
    journal.add(.stepRetrying("db", Journal.retry(1, after: 70, delay: 10)), at: 80)
    journal.add(.stepStarted("db", attempt: 2), at: 90)
    journal.add(.stepReady("db", Journal.end(.success, after: 10, attempts: 2)), at: 100)
    journal.add(.stepFinished("db", Journal.end(.success, after: 30, attempts: 2)), at: 120)
    journal.finish(.success, at: 120)
    let timeline = journal.timeline(pools: ["port": 1])
    let db = timeline["db"]
    #expect(db.spans.map(\.kind) == [.slot, .running, .serving, .backoff, .running, .serving])
    #expect(db.spans.map(\.start) == [0, 10_000, 50_000, 80_000, 90_000, 100_000])
    #expect(db.spans.last?.end == 120_000 && db.spans.map(\.lane) == [nil, 0, nil, nil, 0, nil])
    #expect(db.spans.map(\.verdict) == [nil, .succeeded, .failed, nil, .succeeded, .succeeded])
    #expect(db.attempts == 2 && db.runningTime == 50_000)
    #expect(db.done == 50_000 && db.end == 120_000)
    #expect(timeline.slots.peak == 1 && timeline.laneCount == 1)
    #expect(timeline.pools.flatMap(\.points).map(\.time) == [10_000, 80_000, 90_000, 120_000])
  }

  @Test func aBackoffThatIsCutShortEndsWithTheStep() {
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    journal.add(.stepRetrying("a", Journal.retry(1, after: 50, delay: 60_000)), at: 50)
    journal.add(.stepFinished("a", Journal.end(.cancelled, after: 50)), at: 80)
    let step = journal.timeline()["a"]
    #expect(step.spans.map(\.kind) == [.running, .backoff])
    #expect(step.spans.last?.end == 80_000)
  }

  @Test func stepsThatWaitForATimeOrAPersonHaveNoLane() {
    var journal = Journal()
    journal.add(.stepStarted("w", attempt: 1), at: 0)
    journal.add(.waiting("w", until: Journal.start.advanced(by: .milliseconds(500))), at: 0)
    journal.add(.stepStarted("p", attempt: 1), at: 0)
    journal.add(.stepAsking("p", message: "ship?"), at: 1)
    journal.add(.stepFinished("w", Journal.end(.success, after: 500)), at: 500)
    journal.add(.stepFinished("p", Journal.end(.success, after: 600)), at: 600)
    let timeline = journal.timeline()
    #expect(timeline["w"].spans.map(\.kind) == [.sleeping])
    #expect(timeline["p"].spans.map(\.kind) == [.asking])
    #expect(timeline.laneCount == 0 && timeline.slots.peak == 0)
  }

  @Test("what a suspended run waits for is one attempt, whichever engine sees its end")
  func aWaitOverSeveralEnginesIsOneAttempt() {
    var journal = Journal()
    for engine in 0..<3 {
      if engine > 0 { journal.resume(at: 100 * engine) }
      journal.add(.stepStarted("w", attempt: 1), at: 100 * engine)
      journal.add(
        .waiting("w", until: Journal.start.advanced(by: .seconds(9000))), at: 100 * engine)
      journal.add(.stepStarted("p", attempt: 1), at: 100 * engine)
      journal.add(.stepAsking("p", message: "ship?"), at: 100 * engine)
      journal.add(.stepStarted("c", attempt: 1), at: 100 * engine)
      if engine == 2 {
        for step in ["w", "p", "c"] {
          journal.add(.stepFinished(StepAddress(step), Journal.end(.success, after: 50)), at: 250)
        }
      } else {
        journal.add(
          .runWaiting(
            RunPause(
              requests: [], duration: .milliseconds(50 * engine + 50), counts: OutcomeCounts())),
          at: 100 * engine + 50)
      }
    }
    let timeline = journal.timeline()
    #expect(timeline["w"].attempts == 1 && timeline["p"].attempts == 1)
    #expect(timeline["w"].runningTime == 150_000 && timeline["p"].spans.count == 3)
    // A program is started again.
    #expect(timeline["c"].attempts == 3)
  }

  @Test func anExactDurationOutweighsLateRecords() {
    var journal = Journal(slots: 1)
    journal.add(.stepStarted("a", attempt: 1), at: 10)
    journal.add(.stepFinished("a", Journal.end(.success, after: 30)), at: 30)
    journal.step("b", queued: 10, started: 30, ended: 50)
    let timeline = journal.timeline()
    #expect(timeline["a"].spans.map(\.end) == [40_000])
    #expect(timeline["b"].spans.map(\.start) == [10_000, 40_000])
    #expect(timeline["b"].runningTime == 20_000 && timeline.laneCount == 1)
  }

  @Test func aCachedStepIsAMoment() {
    var journal = Journal()
    journal.add(.stepQueued("a"), at: 10)
    journal.add(.stepCached("a", Journal.end(.success, after: 9000)), at: 30)
    let spans = journal.timeline()["a"].spans
    #expect(spans.map(\.kind) == [.slot, .cached] && spans.map(\.duration) == [20_000, 0])
  }

  @Test func theTimeBetweenEnginesDoesNotCount() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 100)
    journal.add(.stepQueued("b"), at: 100)
    journal.add(.stepStarted("b", attempt: 1), at: 100)
    journal.add(.stepSkipped("c", .notSelected), at: 150)
    journal.resume(at: 160, slots: 3)
    journal.step("b", queued: 170, started: 180, ended: 200, .failure)
    let timeline = journal.timeline()
    #expect(timeline.parts.map(\.resumption) == [0, 1])
    #expect(timeline.parts.map(\.offset) == [0, 150_000])
    #expect(timeline.parts.map(\.length) == [150_000, 40_000])
    #expect(timeline["b"].spans.map(\.verdict) == [.interrupted, nil, .failed])
    #expect(timeline["b"].spans.last?.start == 170_000)
    #expect(
      timeline.moment(at: 170_000)
        == Journal.start.advanced(by: .seconds(3600) + .milliseconds(180)))
    #expect(timeline.slots.capacity == 3)
  }

  @Test func whatRunsAtTheEndOfTheRecordIsRunningOrInterrupted() {
    var journal = Journal()
    journal.add(.stepStarted("a", attempt: 1), at: 0)
    journal.add(.stepSkipped("b", .notSelected), at: 70)
    for (isLive, verdict) in [(true, Verdict.running), (false, .interrupted)] {
      let timeline = RunTimeline(journal.builder, isLive: isLive)
      #expect(timeline["a"].spans.map(\.verdict) == [verdict])
      #expect(timeline["a"].spans.map(\.duration) == [70_000])
    }
  }

  @Test func aLiveRunReachesToNow() {
    var journal = Journal(slots: 3)
    journal.step("a", queued: 0, started: 0, ended: 5)
    for (name, start) in [("b", 5), ("c", 5), ("d", 10)] {
      journal.add(.stepStarted(StepAddress(name), attempt: 1), at: start)
    }
    let now = Journal.start.advanced(by: .seconds(9))
    let timeline = RunTimeline(journal.builder, isLive: true, now: now)
    #expect(timeline.duration == 9_000_000)
    for name in ["b", "c", "d"] {
      let step = timeline[StepAddress(name)]
      #expect(step.spans.last?.end == 9_000_000 && step.end == nil)
    }
    #expect(Set(["b", "c", "d"].map { timeline[StepAddress($0)].spans.last?.lane }).count == 3)
    // A run that no engine holds ends with its last record.
    #expect(RunTimeline(journal.builder, now: now).duration == 10_000)
  }

  @Test func aWaitIsForAPoolThatIsUsedUp() {
    var journal = Journal(slots: 4)
    let pools = [PoolRequest("db", slots: 2)]
    journal.step("a", queued: 0, started: 0, ended: 100, pools: pools)
    journal.step("b", queued: 0, started: 100, ended: 200, pools: pools)
    journal.step("c", queued: 0, started: 30, ended: 40)
    let timeline = journal.timeline(pools: ["db": 3])
    #expect(timeline["b"].spans.map(\.kind) == [.pool, .running])
    #expect(timeline["c"].spans.map(\.kind) == [.slot, .running])
    #expect(timeline.pools.map(\.peak) == [2] && timeline.pools.map(\.capacity) == [3])
    // With enough slots in the pool, the wait was for something else.
    #expect(journal.timeline(pools: ["db": 4])["b"].spans.first?.kind == .slot)
    // Without the size, free slots of the run decide.
    #expect(journal.timeline()["b"].spans.first?.kind == .pool)
  }

  @Test func aWaitIsForARateIfThereIsRoomEverywhere() {
    var journal = Journal(slots: 4)
    let pools = [PoolRequest("api", slots: 1)]
    journal.step("a", queued: 0, started: 0, ended: 10, pools: pools)
    journal.step("b", queued: 0, started: 100, ended: 110, pools: pools)
    let known = RunTimeline(journal.builder, capacities: ["api": 3], rates: ["api"])
    #expect(known["b"].spans.map(\.kind) == [.rate, .running])
    #expect(known["b"].waitingTime == 100_000)
    // Without a rate it was for a slot, whatever that was.
    #expect(journal.timeline(pools: ["api": 3])["b"].spans.first?.kind == .slot)
  }

  @Test func aRateThatAStepLackedOutweighsSlotsThatOthersTook() {
    var journal = Journal(slots: 1)
    let pools = [PoolRequest("api", slots: 1)]
    journal.add(.stepQueued("a", waitingFor: pools, because: .rate("api")), at: 0)
    journal.step("other", queued: 0, started: 0, ended: 100)
    journal.add(.stepStarted("a", attempt: 1), at: 100)
    journal.add(.stepFinished("a", Journal.end(.success, after: 10)), at: 110)
    let known = RunTimeline(journal.builder, capacities: ["api": 3], rates: ["api"])
    #expect(known["a"].spans.map(\.kind) == [.rate, .running])
  }

  @Test(
    arguments: [
      (WaitReason.rate("api"), TimelineSpan.Kind.rate), (.pool("api", holders: []), .pool),
      (.slot, .slot), (.group("g"), .group),
    ])
  func theEventTellsTheReasonIfThePoolsAreNotKnown(
    reason: WaitReason, kind: TimelineSpan.Kind
  ) {
    var journal = Journal(slots: 1)
    journal.step("busy", queued: 0, started: 0, ended: 100)
    let pools = [PoolRequest("api", slots: 1)]
    journal.add(.stepQueued("a", waitingFor: pools, because: reason), at: 0)
    journal.add(.stepStarted("a", attempt: 1), at: 100)
    journal.add(.stepFinished("a", Journal.end(.success, after: 10)), at: 110)
    #expect(journal.timeline()["a"].spans.first?.kind == kind)
  }

  @Test(arguments: 0..<40 as Range<UInt64>)
  func attemptsInOneLaneNeverOverlapAndSumsStay(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    let slots = Int.random(in: 1...6, using: &random)
    var journal = Journal(slots: slots)
    var free = Array(repeating: 0, count: slots)
    var sum = 0
    for number in 0..<60 {
      let lane = free.indices.min { free[$0] < free[$1] }!
      let start = free[lane] + Int.random(in: 0...1, using: &random)
      let end = start + Int.random(in: 1...20, using: &random)
      journal.step(StepAddress("s\(number)"), queued: 0, started: start, ended: end)
      free[lane] = end
      sum += (end - start) * 1000
    }
    let timeline = journal.timeline()
    #expect(timeline.laneCount <= slots && timeline.slots.peak <= slots)
    #expect(timeline.steps.reduce(0) { $0 + $1.runningTime } == sum)
    var lanes: [Int: Int] = [:]
    let attempts = timeline.steps.flatMap(\.spans).filter { $0.kind == .running }
    for span in attempts.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) }) {
      #expect(span.start >= lanes[span.lane!] ?? 0)
      lanes[span.lane!] = span.end
    }
    for step in timeline.steps {
      for (one, next) in zip(step.spans, step.spans.dropFirst()) { #expect(one.end <= next.start) }
    }
    let means = timeline.slots.means(7, until: timeline.duration)
    let total = means.reduce(0, +) * Double(timeline.duration) / 7
    #expect(abs(total - Double(sum)) < 1000)
  }
}

@Suite struct CriticalChainTests {
  private func plan(_ workflow: Workflow) -> Plan { Planner.plan(workflow).plan! }

  private func chain(_ journal: Journal, _ plan: Plan) -> [String] {
    let run = journal.reported(plan)
    return run.chain.map { run.timeline.steps[$0].address.text }
  }

  @Test func theChainLeadsThroughTheDependencyThatEndedLast() {
    let plan = plan(
      Workflow(steps: [
        Step("first", run: ["a"]),
        Step("both", parallel: [Step("quick", run: ["q"]), Step("slow", run: ["s"])]),
        Step("last", run: ["l"]),
      ]))
    var journal = Journal()
    journal.step("first", queued: 0, started: 0, ended: 100)
    journal.step("quick", queued: 100, started: 100, ended: 150)
    journal.step("slow", queued: 100, started: 100, ended: 300)
    journal.step("last", queued: 300, started: 350, ended: 360)
    #expect(chain(journal, plan) == ["first", "slow", "last"])
    let run = journal.reported(plan)
    #expect(run.slowestSteps(2).map(\.cause) == ["started after \"first\"", nil])
    #expect(run.links.map(\.ran) == [100_000, 200_000, 10_000])
    #expect(run.links.map(\.waited) == [0, 0, 50_000])
    #expect(run.cause(of: run.chain[2]) == "waited 50 ms for a slot, after \"quick\"")
  }

  @Test func aServiceCountsUntilItIsReady() {
    var command = Command(.program(["serve"]))
    command.service = Command.Service(ready: .tcp("127.0.0.1:1"))
    let plan = plan(Workflow(steps: [Step("srv", command), Step("use", run: ["u"])]))
    var journal = Journal()
    journal.add(.stepStarted("srv", attempt: 1), at: 0)
    journal.add(.stepReady("srv", Journal.end(.success, after: 500)), at: 500)
    journal.step("use", queued: 500, started: 500, ended: 2500)
    journal.add(.stepFinished("srv", Journal.end(.success, after: 2510)), at: 2510)
    journal.finish(.success, at: 2510)
    let run = journal.reported(plan)
    #expect(chain(journal, plan) == ["srv", "use"])
    #expect(
      run.links.map(\.ran) == [500_000, 2_000_000] && run.links.allSatisfy { $0.waited == 0 })
    #expect(run.slowestSteps(2).map(\.cause) == ["started after \"srv\"", nil])
  }

  @Test func aSkippedDependencyHandsOnItsOwn() {
    let plan = plan(
      Workflow(steps: [
        Step("a", run: ["a"]), Step("b", run: ["b"]), Step("c", run: ["c"]),
      ]))
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 100)
    journal.add(.stepSkipped("b", .condition(of: "b")), at: 100)
    journal.step("c", queued: 100, started: 100, ended: 110)
    #expect(chain(journal, plan) == ["a", "c"])
  }

  @Test func losersOfARaceHoldNothingUp() {
    let race = Step(
      "race", race: [Step("fast", run: ["f"]), Step("slow", run: ["s"])])
    let plan = plan(Workflow(steps: [race, Step("last", run: ["l"])]))
    var journal = Journal()
    journal.step("fast", queued: 0, started: 0, ended: 100)
    journal.step("slow", queued: 0, started: 0, ended: 130, .cancelled)
    journal.add(
      .groupFinished(
        "race",
        GroupEnd(
          outcome: .success, conclusion: .success, failure: nil, cause: nil, winner: "fast",
          duration: .milliseconds(130))), at: 130)
    #expect(chain(journal, plan) == ["fast"])
    journal.step("last", queued: 130, started: 130, ended: 140)
    #expect(chain(journal, plan) == ["fast", "last"])
  }

  @Test func theLastElementOfALoopIsItsEnd() {
    let plan = plan(
      Workflow(steps: [
        Step("a", run: ["a"]),
        Step("each", steps: [Step("one", run: ["x"]), Step("two", run: ["y"])])
          .forEach(["1", "2"]),
        Step("z", run: ["z"]),
      ]))
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10)
    journal.step("each[0].one", queued: 10, started: 10, ended: 50)
    journal.step("each[1].one", queued: 10, started: 10, ended: 20)
    journal.step("each[0].two", queued: 50, started: 50, ended: 60)
    journal.step("each[1].two", queued: 20, started: 20, ended: 90)
    journal.step("z", queued: 90, started: 90, ended: 95)
    #expect(chain(journal, plan) == ["a", "each[1].one", "each[1].two", "z"])
  }

  @Test func withoutAPlanThereIsNoChain() {
    var journal = Journal()
    journal.step("a", queued: 0, started: 0, ended: 10)
    #expect(journal.reported().chain == [] && journal.reported().gaps.count == 1)
  }
}
