import Testing
import WeftDefinition
import WeftPlanning

struct DurationHistoryTests {
  private let plan: Plan

  init() throws {
    plan = try planned(Workflow(parallel: [Step("a"), Step("b"), Step("c")]))
  }

  /// A run with these durations in milliseconds, by the index of the step.
  private func measures(_ milliseconds: [Int: [Int]], cached: [Int] = []) -> RunMeasures {
    var measures = RunMeasures(stepCount: 3)
    for (step, all) in milliseconds {
      for one in all { measures.ended(step, after: .milliseconds(one)) }
    }
    for step in cached { measures.ended(step, after: nil) }
    return measures
  }

  @Test(arguments: [
    ([7], 7), ([7, 9], 9), ([1, 100, 2], 2), ([5, 5, 5, 900, 5], 5), ([900, 1, 2, 3, 4, 5], 3),
  ])
  func theTypicalTimeIsTheMedianOfTheLastRuns(recent: [Int], typical: Int) throws {
    #expect(try #require(MeasuredStep(recent: recent, times: 1)).typical == typical)
  }

  @Test(arguments: [([], 1), ([-1], 1), ([1], -1)] as [([Int], Int)])
  func missingDurationIsNotMeasured(recent: [Int], times: Int) {
    #expect(MeasuredStep(recent: recent, times: times) == nil)
  }

  @Test func endlessDurationIsClamped() throws {
    let step = try #require(MeasuredStep(recent: [.max, .max], times: .max))
    #expect(step.typical == MeasuredStep.longest)
    var measures = RunMeasures(stepCount: 3)
    for _ in 1...3 { measures.ended(0, after: .seconds(Int64.max)) }
    let known = DurationHistory().adding(measures, of: plan, succeeded: true)
    #expect(known.entries.map(\.step.typical) == [MeasuredStep.longest])
  }

  @Test func aRunAddsWhatItMeasuredAndKeepsTheRest() {
    let first = DurationHistory()
      .adding(measures([0: [10], 2: [30]]), of: plan, succeeded: true)
    let second = first.adding(measures([0: [20], 1: [5]]), of: plan, succeeded: true)
    #expect(second.entries.map(\.address) == ["a", "b", "c"])
    #expect(second.entries.map(\.step.recent) == [[10_000, 20_000], [5_000], [30_000]])
  }

  @Test func onlyTheLastRunsAreRemembered() {
    var history = DurationHistory()
    for run in 1...9 { history = history.adding(measures([0: [run]]), of: plan, succeeded: true) }
    #expect(history.entries.map(\.step.recent) == [[5_000, 6_000, 7_000, 8_000, 9_000]])
  }

  @Test func elementsCountTogetherByTheirMean() {
    let history = DurationHistory()
      .adding(measures([0: [10, 20, 60]]), of: plan, succeeded: true)
    #expect(history.entries.map(\.step.recent) == [[30_000]])
    #expect(history.entries.map(\.step.times) == [3])
  }

  @Test func cachedStepCountsWithoutADuration() {
    let once = DurationHistory().adding(measures([0: [10]]), of: plan, succeeded: true)
    let twice = once.adding(measures([0: [30]], cached: [0, 1]), of: plan, succeeded: true)
    #expect(twice.entries.map(\.address) == ["a"])
    #expect(twice.entries[0].step == MeasuredStep(recent: [10_000, 30_000], times: 2))
  }

  @Test func stepSkippedByItsConditionIsNotExpected() {
    var excluded = RunMeasures(stepCount: 3)
    excluded.excluded(0)
    let known = DurationHistory().adding(measures([0: [10]]), of: plan, succeeded: true)
    #expect(known.adding(excluded, of: plan, succeeded: true).entries.map(\.step.times) == [0])
    #expect(known.adding(excluded, of: plan, succeeded: false).entries.map(\.step.times) == [1])
  }

  @Test func aRunThatFailedDoesNotTellHowOftenStepsAreRun() {
    let known = DurationHistory()
      .adding(measures([0: [10, 10, 10]]), of: plan, succeeded: true)
    let failed = known.adding(measures([0: [20], 1: [1, 1]]), of: plan, succeeded: false)
    #expect(failed.entries.map(\.step.times) == [3, 2])
    #expect(failed.entries[0].step.recent == [10_000, 20_000])
  }

  @Test func stepsThatAreGoneAreForgotten() throws {
    let edited = try planned(Workflow(parallel: [Step("c"), Step("d")]))
    let known = history(["a": 1, "b": 2, "c": 3])
    let after = known.adding(RunMeasures(stepCount: 2), of: edited, succeeded: true)
    #expect(after.entries.map(\.address) == ["c"])
  }

  @Test(arguments: [
    ["a", "b", "c"], ["c", "b", "a"], ["b"], ["x", "c"], ["a", "x", "c"], ["a", "a", "b"], [],
  ])
  func stepsAreFoundInWhateverOrderTheyAreKept(addresses: [String]) {
    let entries = addresses.enumerated().map { index, address in
      DurationHistory.Entry(address, MeasuredStep(recent: [index], times: 1)!)
    }
    let found = DurationHistory(entries).steps(of: plan)
    for (step, known) in zip(plan.steps, found) {
      let place = addresses.firstIndex(of: step.address.text)
      #expect(known?.typical == place)
    }
  }
}
