import Testing
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning

@testable import Weft

/// Predictions from made-up runs, with results that can be calculated by hand.
@Suite struct EstimateTests {
  private static let diamond = """
    { "steps": [ { "id": "a", "run": "true" },
      { "parallel": [ { "id": "b", "run": "true" }, { "id": "c", "run": "true" },
        { "id": "d", "run": "true" } ] },
      { "id": "e", "run": "true" } ] }
    """

  private func predictedDiamond() throws -> Predicted {
    var predicted = try Predicted(EstimateTests.diamond)
    predicted.addRun(["a": 1000, "b": 2000, "c": 3000, "d": 4000, "e": 500])
    return predicted
  }

  // MARK: Durations

  @Test(arguments: [(1, 10_500.0), (2, 7500), (3, 5500), (8, 5500)])
  func aRunIsScheduled(parallel: Int, milliseconds: Double) throws {
    #expect(try predictedDiamond().milliseconds(parallel) == milliseconds)
  }

  @Test func severalNumbersOfSlotsArePredictedOnce() throws {
    let found = try predictedDiamond().estimate(2, 1, 2)
    #expect(found.predictions.map(\.maxParallel) == [2, 1])
  }

  @Test func theMedianCounts() throws {
    var predicted = try Predicted(#"{ "steps": [ { "id": "a", "run": "true" } ] }"#)
    for time in [9000, 1000, 2000] { predicted.addRun(["a": time]) }
    #expect(try predicted.milliseconds() == 2000)
    // Of two in the middle, the newer one.
    predicted.addRun(["a": 3000])
    #expect(try predicted.milliseconds() == 3000)
  }

  @Test func aRangeNeedsTwoRuns() throws {
    var predicted = try predictedDiamond()
    #expect(try predicted.estimate(3).predictions[0].range == nil)
    predicted.addRun(["a": 2000, "b": 2000, "c": 3000, "d": 4000, "e": 500])
    predicted.addRun(["a": 1000, "b": 2000, "c": 3000, "d": 7000, "e": 500])
    let found = try predicted.estimate(3).predictions[0]
    #expect(found.duration == .milliseconds(5500))
    #expect(found.range == .milliseconds(5500) ... .milliseconds(8500))
  }

  @Test func stepsWithoutMeasurementsTakeTheMedianOfTheOthers() throws {
    var predicted = try Predicted(EstimateTests.diamond)
    predicted.addRun(["a": 1000, "b": 2000, "c": 3000, "d": 4000])
    let found = try predicted.estimate(8)
    #expect(found.duration == .milliseconds(1000 + 4000 + 3000))
    #expect(found.basis.unmeasured == [StepAddress("e")])
    #expect(found.basis.assumed == .milliseconds(3000))
  }

  @Test func onlySuccessesCount() throws {
    var predicted = try Predicted(#"{ "steps": [ { "id": "a", "run": "true" } ] }"#)
    predicted.addRun(["a": 1000])
    let failure = StepFailure(classes: [.exit], message: "exited with code 1")
    predicted.addRun(Predicted.ended("a", after: 9, .failure, as: .failure, failure))
    predicted.addRun(Predicted.ended("a", after: 9, .cancelled, as: .cancelled, for: .requested))
    var cached = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0), duration: .zero)
    cached.outputs = []
    predicted.addRun([.event(.stepCached(StepAddress("a"), cached))])
    #expect(try predicted.milliseconds() == 1000)
  }

  @Test func toleratedFailuresCountIfThereIsNothingElse() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "a", "run": "false", "allowFailure": true }, "true" ] }"#)
    let failure = StepFailure(classes: [.exit(1), .exit], message: "exited with code 1")
    predicted.addRun(
      Predicted.ended("a", after: 700, .failure, as: .success, failure)
        + Predicted.ended("2", after: 100))
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(800))
    #expect(found.predictions[0].outcome == .success)
  }

  @Test func failedAttemptsTakeTheirTimeAndDelays() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "a", "run": "x", "retry": { "max": 2, "delay": "10s", "jitter": "none" } } ] }"#
    )
    let failure = StepFailure(classes: [.exit(1), .exit], message: "exited with code 1")
    let retry = Retry(
      attempt: 1, of: 3, failure: failure, exit: .code(1), duration: .milliseconds(300),
      delay: .seconds(99))
    predicted.addRun(
      [
        .event(.stepStarted(StepAddress("a"), attempt: 1)),
        .event(.stepRetrying(StepAddress("a"), retry)),
        .event(.stepStarted(StepAddress("a"), attempt: 2)),
      ] + Predicted.ended("a", after: 500).suffix(1))
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(10_800))
    #expect(found.criticalPath.map(\.duration) == [.milliseconds(800)])
    #expect(found.criticalPath.map(\.delay) == [.seconds(10)])
  }

  @Test func aMemberThatAlwaysLostARaceStillLoses() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "r", "race": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ] } ] }"#
    )
    for time in [1000, 1200, 1100] {
      predicted.addRun(
        Predicted.ended("a", after: time)
          + Predicted.ended(
            "b", after: time, .cancelled, as: .cancelled,
            for: .raceWon(StepAddress("r"), by: StepAddress("a"))))
    }
    #expect(try predicted.milliseconds() == 1100)
  }

  /// It started late for lack of a slot, so that it was stopped at once.
  @Test(arguments: [
    (
      #""race": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ]"#,
      CancelReason.raceWon(StepAddress("r"), by: StepAddress("a"))
    ),
    (
      #""parallel": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ], "join": { "atLeast": 1 }"#,
      .joined(StepAddress("r"))
    ),
  ])
  func aLoserThatStartedLateStillLoses(members: String, reason: CancelReason) throws {
    var predicted = try Predicted(#"{ "steps": [ { "id": "r", \#(members) } ] }"#)
    predicted.addRun(
      Predicted.ended("a", after: 1000)
        + Predicted.ended("b", after: 9, .cancelled, as: .cancelled, for: reason))
    #expect(try predicted.milliseconds() == 1000)
    #expect(try predicted.milliseconds(1) == 1000)
  }

  @Test(arguments: [
    #"{ "id": "r", "race": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ] }"#,
    #"{ "id": "r", "parallel": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ], "join": { "atLeast": 1 } }"#,
  ])
  func theWinnerOfARaceIsOnThePath(group: String) throws {
    var predicted = try Predicted(#"{ "steps": [ \#(group), { "id": "z", "run": "z" } ] }"#)
    predicted.addRun(
      Predicted.ended("a", after: 500)
        + Predicted.ended(
          "b", after: 510, .cancelled, as: .cancelled,
          for: .raceWon(StepAddress("r"), by: StepAddress("a")))
        + Predicted.ended("z", after: 200))
    let found = try predicted.estimate()
    #expect(found.criticalPath.map(\.step.text) == ["a", "z"])
    #expect(found.criticalPath.map(\.start) == [.immediate, .dependency])
    #expect(found.speedUps.map(\.step.text) == ["a", "z"])
  }

  /// A member that its group's time limit stops is on the path: a faster one would end the group before.
  @Test func aStepThatATimeLimitStopsIsOnThePath() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "g", "timeout": "1s", "allowFailure": true, "steps": [ { "id": "a", "run": "x" } ] }, { "id": "z", "run": "z" } ] }"#
    )
    predicted.addRun(["a": 2000, "z": 200])
    #expect(try predicted.estimate().criticalPath.map(\.step.text) == ["a", "z"])
  }

  private static let failure = StepFailure(
    classes: [.exit(1), .exit], message: "exited with code 1")

  private static func ended(_ group: String, as conclusion: Outcome) -> RunRecord.Kind {
    .event(
      .groupFinished(
        StepAddress(group),
        GroupEnd(
          outcome: .failure, conclusion: conclusion, failure: nil, cause: nil, duration: .zero)))
  }

  /// A failure that a group around the step tolerates counts with its time and its effect.
  @Test(arguments: [Outcome.success, .failure])
  func failuresThatGroupsTolerateCount(conclusion: Outcome) throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "g", "allowFailure": true, "steps": [ { "id": "a", "run": "x" }, { "id": "b", "run": "y" } ] }, { "id": "c", "run": "z" } ] }"#
    )
    predicted.addRun(
      Predicted.ended("a", after: 1000, .failure, as: .failure, EstimateTests.failure)
        + [EstimateTests.ended("g", as: conclusion)] + Predicted.ended("c", after: 100))
    let found = try predicted.estimate()
    let isTolerated = conclusion == .success
    #expect(found.duration == .milliseconds(isTolerated ? 1100 : 300))
    #expect(found.basis.unmeasured.map(\.text) == (isTolerated ? [] : ["a", "b"]))
    #expect(found.predictions[0].outcome == .success)
  }

  @Test func failuresThatALoopToleratesCount() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "l", "forEach": { "in": [0, 1], "tolerate": 1 }, "run": "x" } ] }"#)
    predicted.addRun(
      Predicted.ended("l[0]", after: 100)
        + Predicted.ended("l[1]", after: 1000, .failure, as: .failure, EstimateTests.failure)
        + [EstimateTests.ended("l", as: .success)])
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(1000) && found.predictions[0].outcome == .success)
  }

  /// Whatever the file tolerated then, a failure that it would not tolerate now is not predicted.
  @Test func aFailureThatNothingToleratesAnyMoreIsNotPredicted() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "g", "steps": [ { "id": "a", "run": "x" } ] } ] }"#)
    predicted.addRun(
      Predicted.ended("a", after: 1000, .failure, as: .failure, EstimateTests.failure)
        + [EstimateTests.ended("g", as: .success)])
    #expect(try predicted.estimate().predictions[0].outcome == .success)
  }

  // MARK: Findings

  @Test func thePathTellsDependenciesFromSlots() throws {
    let found = try predictedDiamond().estimate(2)
    #expect(found.criticalPath.map(\.step.text) == ["a", "b", "d", "e"])
    #expect(found.criticalPath.map(\.start) == [.immediate, .dependency, .slot, .dependency])
    #expect(found.criticalPath.reduce(.zero) { $0 + $1.duration } == found.duration)
  }

  @Test func slotsAreALimit() throws {
    let found = try predictedDiamond().estimate(2)
    #expect(found.limits == [Estimate.Limit(kind: .slots(2), without: .milliseconds(5500))])
    #expect(try predictedDiamond().estimate(3).limits.isEmpty)
  }

  @Test func poolsAreALimit() throws {
    var predicted = try Predicted(
      """
      { "pools": { "db": { "slots": 1 } }, "steps": [ { "parallel": [
        { "id": "a", "run": "x", "pool": "db" }, { "id": "b", "run": "x", "pool": "db" },
        { "id": "c", "run": "x" } ] } ] }
      """)
    predicted.addRun(["a": 1000, "b": 2000, "c": 500])
    let found = try predicted.estimate(4)
    #expect(found.duration == .milliseconds(3000))
    #expect(found.limits == [Estimate.Limit(kind: .pool("db"), without: .milliseconds(2000))])
    #expect(found.criticalPath.map(\.start) == [.immediate, .pool("db")])
  }

  @Test func groupsAndLoopsAreLimits() throws {
    var predicted = try Predicted(
      """
      { "steps": [
        { "id": "g", "maxParallel": 1, "parallel": [
          { "id": "a", "run": "x" }, { "id": "b", "run": "x" } ] },
        { "id": "l", "forEach": { "in": ["1", "2"], "maxParallel": 1 }, "run": "x" } ] }
      """)
    predicted.addRun(["a": 1000, "b": 1000, "l[1]": 300, "l[2]": 300])
    let found = try predicted.estimate(4)
    #expect(found.duration == .milliseconds(2600))
    #expect(
      found.limits == [
        Estimate.Limit(kind: .maxParallel(of: StepAddress("g")), without: .milliseconds(1600)),
        Estimate.Limit(kind: .maxParallel(of: StepAddress("l")), without: .milliseconds(2300)),
      ])
  }

  @Test func limitsThatOnlyCountTogetherAreFound() throws {
    var predicted = try Predicted(
      """
      { "pools": { "db": { "slots": 1 } }, "steps": [ { "parallel": [
        { "id": "a", "run": "x", "pool": "db" }, { "id": "b", "run": "x", "pool": "db" } ] } ] }
      """)
    predicted.addRun(["a": 1000, "b": 1000])
    let found = try predicted.estimate(1)
    #expect(found.limits == [Estimate.Limit(kind: .all, without: .milliseconds(1000))])
  }

  @Test func gainsAreThoseOfTheWholeRun() throws {
    let found = try predictedDiamond().estimate(3)
    // The step of 4 s gains only 1 s, because another one takes 3 s.
    #expect(
      found.speedUps == [
        Estimate.SpeedUp(step: StepAddress("d"), duration: .milliseconds(4500)),
        Estimate.SpeedUp(step: StepAddress("a"), duration: .milliseconds(5000)),
        Estimate.SpeedUp(step: StepAddress("e"), duration: .milliseconds(5250)),
      ])
  }

  @Test func aFasterStepChangesThePrediction() throws {
    var predicted = try predictedDiamond()
    predicted.speeds = ["d": 4]
    #expect(try predicted.milliseconds() == 4500)
    predicted.speeds = ["d": 0.5]
    #expect(try predicted.milliseconds() == 9500)
  }

  // MARK: The way that a run takes

  @Test func waitsForPeopleCountAsNothingAndOtherWaitsInFull() throws {
    var predicted = try Predicted(
      """
      { "steps": [ { "id": "a", "run": "x" }, { "id": "ask", "approve": "go?" },
        { "id": "nap", "wait": "20s" }, { "id": "b", "run": "x" },
        { "id": "night", "wait": { "until": "2199-01-01T00:00:00Z" } } ] }
      """)
    predicted.addRun(["a": 1000, "ask": 90_000, "b": 500])
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(21_500))
    #expect(found.basis.unforeseeable.map(\.text) == ["ask", "night"])
    #expect(found.criticalPath.map(\.delay) == [.zero, .seconds(20)])
  }

  @Test func conditionsReadWhatEarlierStepsYielded() throws {
    let json = """
      { "steps": [ { "id": "a", "run": "x", "outputs": { "changed": "${{ self.stdout }}" } },
        { "id": "b", "run": "x", "if": "steps.a.outputs.changed == 'yes'" } ] }
      """
    for (value, milliseconds) in [("yes", 3000.0), ("no", 1000)] {
      var predicted = try Predicted(json)
      predicted.addRun(["b": 2000])
      predicted.addRun(
        Predicted.ended(
          "a", after: 1000, outputs: [ReportedOutput(name: "changed", value: .string(value))],
          stdout: .text(value)))
      #expect(try predicted.milliseconds() == milliseconds)
      #expect(try predicted.estimate().basis.conditions.isEmpty)
    }
  }

  @Test(arguments: [true, false])
  func conditionsOnMissingValuesGoAsInTheLatestRun(ran: Bool) throws {
    var predicted = try Predicted(
      """
      { "steps": [ { "id": "a", "run": "x" },
        { "id": "b", "run": "x", "if": "steps.a.stdout != ''" } ] }
      """)
    let a = Predicted.ended("a", after: 1000, stdout: .tooLong)
    predicted.addRun(a + Predicted.ended("b", after: 500))
    if !ran {
      predicted.addRun(
        a + [.event(.stepSkipped(StepAddress("b"), .condition(of: StepAddress("b"))))])
    }
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(ran ? 1500 : 1000))
    #expect(found.basis.conditions == [StepAddress("b")])
  }

  @Test func aRunThatMeasuredNothingIsNoBasis() throws {
    var predicted = try Predicted(#"{ "steps": [ { "id": "a", "run": "x" } ] }"#)
    predicted.addRun(["a": 1000])
    predicted.addRun([.event(.stepStarted(StepAddress("a"), attempt: 1))])
    predicted.addRun(Predicted.ended("a", after: 10, .cancelled, as: .cancelled, for: .requested))
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(1000))
    #expect(found.basis.runs == [RunID("20260101-000000-000000")])
    #expect(found.predictions[0].range == nil)
  }

  @Test func aConditionThatNoRunDecidedIsTrue() throws {
    var predicted = try Predicted(
      """
      { "steps": [ { "id": "a", "run": "x", "outputs": { "n": "${{ self.stdout }}" } },
        { "id": "b", "run": "x", "if": "steps.a.outputs.n == '7'" }, { "id": "c", "run": "x" } ] }
      """)
    predicted.addRun(["c": 1000])
    let found = try predicted.estimate()
    #expect(found.duration == .milliseconds(3000))
    #expect(found.basis.openConditions == [StepAddress("b")])
  }

  private static let loop = """
    { "steps": [ { "id": "list", "run": "x" },
      { "id": "each", "forEach": { "in": "${{ steps.list.json }}" }, "run": "x" } ] }
    """

  @Test func listsAreThoseOfTheLatestRun() throws {
    var predicted = try Predicted(EstimateTests.loop)
    predicted.addRun(
      Predicted.ended("list", after: 100, stdout: .text(#"["a", "b", "c"]"#))
        + (0..<3).flatMap { Predicted.ended("each[\($0)]", after: 1000 * ($0 + 1)) })
    #expect(try predicted.milliseconds(1) == 6100)
    #expect(try predicted.milliseconds(2) == 4100)
    #expect(try predicted.estimate().basis.loops.isEmpty)
  }

  @Test func listsThatAreNotRecordedAreThoseOfTheLoop() throws {
    var predicted = try Predicted(EstimateTests.loop)
    let listed = RecordedElements(
      elements: ["a", "b"].map { RecordedElements.Element(key: $0, value: .string($0)) })
    predicted.addRun(
      Predicted.ended("list", after: 100, stdout: .tooLong)
        + [.listed(StepAddress("each"), listed)] + Predicted.ended("each[a]", after: 1000)
        + Predicted.ended("each[b]", after: 1000))
    let found = try predicted.estimate(1)
    #expect(found.duration == .milliseconds(2100))
    #expect(found.basis.loops == [StepAddress("each")])
    let unseen = try Predicted(EstimateTests.loop)
    #expect(try unseen.estimate(1).basis.openLoops == [StepAddress("each")])
  }

  @Test func newElementsTakeTheTimesOfOthers() throws {
    var predicted = try Predicted(
      #"{ "steps": [ { "id": "l", "forEach": { "in": ["1", "2", "3", "4"] }, "run": "x" } ] }"#)
    predicted.addRun(["l[1]": 1000, "l[2]": 1000])
    let found = try predicted.estimate(1)
    #expect(found.duration == .milliseconds(4000))
    #expect(found.basis.unmeasured.isEmpty)
  }

  @Test func aTimeLimitEndsThePredictedRunToo() throws {
    var predicted = try Predicted(
      #"{ "timeout": "5s", "steps": [ { "id": "a", "run": "x" }, { "id": "b", "run": "x" } ] }"#)
    predicted.addRun(["a": 4000, "b": 4000])
    let found = try predicted.estimate()
    #expect(found.duration == .seconds(5))
    #expect(found.predictions[0].outcome == .cancelled)
  }

  // MARK: Programs

  @Test func programsPredictFromTheirStore() async throws {
    let engine = Engine(
      actions: [
        Action("nap") { _ in
          try await Task.sleep(for: .milliseconds(20))
          return .null
        }
      ])
    let workflow = Workflow(
      name: "naps",
      steps: [
        Step(id: "a", action: .use(ActionCall("nap"))),
        Step(id: "b", action: .use(ActionCall("nap"))),
      ])
    let store = MemoryRunStore()
    #expect { try engine.estimate(workflow, from: store) } throws: { error in
      if case EstimateError.noDurations = error { true } else { false }
    }
    _ = try await engine.start(workflow, in: store).report
    let found = try engine.estimate(workflow, parallel: [2], from: store)
    #expect(found.duration >= .milliseconds(40))
    #expect(found.basis.runs.isEmpty)
    #expect(found.predictions[0].maxParallel == 2)
    let faster = try engine.estimate(workflow, parallel: [2], faster: ["a": 1000], from: store)
    #expect(faster.duration < found.duration)
    #expect { try engine.estimate(workflow, faster: ["c": 2], from: store) } throws: { error in
      if case EstimateError.selection = error { true } else { false }
    }
    #expect { try engine.estimate(workflow, parallel: [0], from: store) } throws: { error in
      if case EstimateError.workflow = error { true } else { false }
    }
  }
}
