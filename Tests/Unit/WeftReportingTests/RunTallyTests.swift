import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution
@testable import WeftReporting

/// The number of steps that have ended and the total, while a run determines them.
@Suite struct RunTallyTests {
  private static func tally(_ steps: Step...) throws -> RunTally {
    let plan = try #require(Planner.plan(Workflow(steps: steps)).plan)
    var tally = RunTally(shape: RunShape(plan))
    tally.begin(stepCount: plan.steps.count)
    return tally
  }

  private static func end(_ outcome: Outcome) -> StepEnd {
    StepEnd(outcome: outcome, conclusion: outcome, attempts: 1, exit: nil, duration: .zero)
  }

  private static func groupEnd(_ outcome: Outcome) -> GroupEnd {
    GroupEnd(outcome: outcome, conclusion: outcome, failure: nil, cause: nil, duration: .zero)
  }

  private static func address(_ text: String) -> StepAddress { StepAddress(text) }

  @Test func elementsCountWhenTheyAreKnown() throws {
    var tally = try RunTallyTests.tally(
      Step("a", run: "a"), Step("up", run: "up").forEach("${{ fromJSON('[]') }}"))
    #expect(tally.stepCount == 2)
    tally.started(StepAddress("up"), GroupStart(elements: 100))
    #expect(tally.stepCount == 101)
    for index in 0..<37 { tally.finished(StepAddress("up[\(index)]"), RunTallyTests.end(.success)) }
    tally.finished(StepAddress("up").element("k]y"), RunTallyTests.end(.failure))
    #expect(tally.open[StepAddress("up")]?.elements?.text == "38/100 elements, 1 failed")
    // The other elements never start.
    tally.finished(StepAddress("up"), RunTallyTests.groupEnd(.failure))
    #expect(tally.stepCount == 39)
    #expect(tally.counts.done == 38)
    #expect(tally.counts.failed == 1)
  }

  @Test func noElementsAreNoSteps() throws {
    var tally = try RunTallyTests.tally(
      Step("up", run: "up").forEach("${{ fromJSON('[]') }}"), Step("b", run: "b"))
    tally.started(StepAddress("up"), GroupStart(elements: 0))
    tally.finished(StepAddress("up"), RunTallyTests.groupEnd(.success))
    #expect(tally.stepCount == 1)
  }

  @Test func aGroupForManyElementsCountsItsStepsInEach() throws {
    var tally = try RunTallyTests.tally(
      Step(
        "deploy",
        steps: [
          Step("push", run: "push"), Step("inner", run: "x").forEach(["a", "b"]),
        ]
      ).forEach(["eu", "us"]))
    tally.started(StepAddress("deploy"), GroupStart(elements: 2))
    #expect(tally.stepCount == 4)
    tally.started(StepAddress("deploy[eu]"), GroupStart())
    tally.finished(StepAddress("deploy[eu].push"), RunTallyTests.end(.success))
    tally.started(StepAddress("deploy[eu].inner"), GroupStart(elements: 2))
    #expect(tally.stepCount == 5)
    #expect(
      tally.scopes(around: StepAddress("deploy[eu].inner[a]")).map(\.text) == [
        "deploy[eu].inner", "deploy[eu]", "deploy",
      ])
    for key in ["a", "b"] {
      tally.finished(StepAddress("deploy[eu].inner[\(key)]"), RunTallyTests.end(.success))
    }
    tally.finished(StepAddress("deploy[eu].inner"), RunTallyTests.groupEnd(.success))
    tally.finished(StepAddress("deploy[eu]"), RunTallyTests.groupEnd(.success))
    #expect(tally.open[StepAddress("deploy")]?.elements?.text == "1/2 elements")
    // The steps of an element are skipped together.
    tally.skipped(StepAddress("deploy[us]"), .condition(of: StepAddress("deploy[us]")))
    tally.finished(StepAddress("deploy"), RunTallyTests.groupEnd(.success))
    #expect(tally.stepCount == 4)
    #expect(tally.counts.done == 4)
    #expect(tally.open.isEmpty)
  }

  @Test("X28: elements that never began are counted as their group says")
  func elementsThatNeverBegan() throws {
    var tally = try RunTallyTests.tally(
      Step("deploy", steps: [Step("a", run: "a"), Step("b", run: "b")])
        .forEach(["x", "y", "z"]))
    tally.started(StepAddress("deploy"), GroupStart(elements: 3))
    tally.started(StepAddress("deploy[0]"), GroupStart())
    for step in ["a", "b"] {
      tally.finished(StepAddress("deploy[0].\(step)"), RunTallyTests.end(.success))
    }
    tally.finished(StepAddress("deploy[0]"), RunTallyTests.groupEnd(.success))
    tally.finished(
      StepAddress("deploy"),
      GroupEnd(
        outcome: .cancelled, conclusion: .cancelled, failure: nil, cause: nil,
        notStarted: ElementsNotStarted(elements: 2, steps: 4, outcome: .cancelled),
        duration: .zero))
    #expect(tally.counts.succeeded == 2 && tally.counts.cancelled == 4)
    #expect(tally.stepCount == 6)
  }

  @Test func aGroupThatIsTriedAgainCountsOnce() throws {
    var tally = try RunTallyTests.tally(
      Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(2), Step("c", run: "c"))
    tally.started(StepAddress("g"), GroupStart())
    tally.finished(StepAddress("a"), RunTallyTests.end(.success))
    tally.finished(StepAddress("b"), RunTallyTests.end(.failure))
    #expect(tally.counts.done == 2)
    tally.retrying(StepAddress("g"))
    #expect(tally.counts.done == 0)
    #expect(tally.stepCount == 3)
    tally.started(StepAddress("g"), GroupStart(attempt: 2))
    tally.finished(StepAddress("a"), RunTallyTests.end(.success))
    tally.finished(StepAddress("b"), RunTallyTests.end(.success))
    tally.finished(StepAddress("g"), RunTallyTests.groupEnd(.success))
    #expect(tally.counts.succeeded == 2)
    #expect(tally.counts.failed == 0)
    #expect(tally.stepCount == 3)
  }

  @Test func anAttemptCountsIfTheNextOneIsNotMade() throws {
    var tally = try RunTallyTests.tally(
      Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(2))
    tally.started(StepAddress("g"), GroupStart())
    tally.finished(StepAddress("a"), RunTallyTests.end(.success))
    tally.finished(StepAddress("b"), RunTallyTests.end(.failure))
    tally.retrying(StepAddress("g"))
    tally.finished(StepAddress("g"), RunTallyTests.groupEnd(.failure))
    #expect(tally.counts.succeeded == 1 && tally.counts.failed == 1)
    #expect(tally.stepCount == 2)
  }

  @Test func stepsOfAGroupThatNeverStartedBelongToTheGroupAroundIt() throws {
    var tally = try RunTallyTests.tally(
      Step(
        "g",
        steps: [
          Step("a", run: "a"), Step("r", race: [Step("b", run: "b"), Step("c", run: "c")]),
        ]
      ).retry(2))
    tally.started(StepAddress("g"), GroupStart())
    tally.finished(StepAddress("a"), RunTallyTests.end(.failure))
    for step in ["b", "c"] {
      tally.skipped(StepAddress(step), .dependencyFailed(StepAddress("a")))
    }
    #expect(tally.counts.done == 3)
    tally.retrying(StepAddress("g"))
    #expect(tally.counts.done == 0)
  }

  @Test func aCleanupThatRunsWithEachAttemptCountsOnce() throws {
    var tally = try RunTallyTests.tally(
      Step("g", steps: [Step("a", run: "a").cleanup(Step(run: "rm"))]).retry(2))
    for attempt in 1...2 {
      tally.started(StepAddress("g"), GroupStart(attempt: attempt))
      tally.finished(StepAddress("a"), RunTallyTests.end(attempt == 1 ? .failure : .success))
      tally.queued(StepAddress("a.cleanup"))
      tally.finished(StepAddress("a.cleanup"), RunTallyTests.end(.success))
      if attempt == 1 { tally.retrying(StepAddress("g")) }
    }
    tally.finished(StepAddress("g"), RunTallyTests.groupEnd(.success))
    #expect(tally.counts.succeeded == 2 && tally.counts.done == 2)
    #expect(tally.stepCount == 2)
  }

  @Test func aGroupThatIsSkippedAsOneCountsAsOne() throws {
    var tally = try RunTallyTests.tally(
      Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(2), Step("c", run: "c"))
    tally.skipped(StepAddress("g"), .condition(of: StepAddress("g")))
    #expect(tally.stepCount == 2)
    #expect(tally.counts.skipped == 1)
  }

  @Test func failuresInAWonRaceAreTolerated() throws {
    var tally = try RunTallyTests.tally(
      Step("r", race: [Step("a", run: "a"), Step("b", run: "b")]))
    tally.started(StepAddress("r"), GroupStart())
    tally.finished(StepAddress("a"), RunTallyTests.end(.failure))
    #expect(tally.counts.failed == 1)
    tally.finished(StepAddress("b"), RunTallyTests.end(.success))
    tally.finished(StepAddress("r"), RunTallyTests.groupEnd(.success))
    #expect(tally.counts.failed == 0)
    #expect(tally.counts.tolerated == 1)
  }

  @Test func cleanupCountsOnlyIfItRuns() throws {
    var tally = try RunTallyTests.tally(
      Step("a", run: "a").cleanup(Step(run: "rm")), Step("b", run: "b").cleanup(Step(run: "rm")))
    #expect(tally.stepCount == 2)
    tally.queued(StepAddress("a"))
    tally.finished(StepAddress("a"), RunTallyTests.end(.success))
    tally.skipped(StepAddress("b"), .condition(of: StepAddress("b")))
    tally.queued(StepAddress("a.cleanup"))
    tally.finished(StepAddress("a.cleanup"), RunTallyTests.end(.success))
    #expect(tally.stepCount == 3)
    #expect(tally.counts.done == 3)
  }

  @Test func unselectedStepsAreNotCounted() throws {
    var tally = try RunTallyTests.tally(Step("a", run: "a"), Step("b", run: "b"))
    tally.skipped(StepAddress("a"), .notSelected)
    #expect(tally.stepCount == 1)
    #expect(tally.counts.done == 0)
    #expect(tally.unselected == 1)
  }

  @Test func unselectedStepsOfAnEarlierAttemptAreTakenBack() throws {
    var tally = try RunTallyTests.tally(
      Step("g", steps: [Step("a", run: "a"), Step("b", run: "b")]).retry(1))
    tally.started(StepAddress("g"), GroupStart())
    for _ in 0..<2 {
      tally.skipped(StepAddress("a"), .notSelected)
      tally.finished(StepAddress("b"), RunTallyTests.end(.failure))
      tally.retrying(StepAddress("g"))
      #expect(tally.unselected == 0)
      #expect(tally.stepCount == 2)
    }
    // The second retry is not made, so the last attempt counts.
    tally.finished(StepAddress("g"), RunTallyTests.groupEnd(.failure))
    #expect(tally.unselected == 1)
    #expect(tally.counts.failed == 1)
    #expect(tally.stepCount == 1)
  }
}
