import Testing
import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning
import WeftTestKit

struct ExpectedDurationsTests {
  private func expected(
    _ workflow: Workflow, _ history: DurationHistory
  ) throws -> (Plan, ExpectedDurations) {
    let plan = try planned(workflow).expecting(history)
    return (plan, try #require(plan.expectedDurations))
  }

  private func path(_ plan: Plan, _ expected: ExpectedDurations) -> [String] {
    expected.criticalPath(of: plan).map { plan.steps[$0].address.text }
  }

  @Test func noDurationsAreExpectedWithoutEarlierRuns() throws {
    let plan = try planned(Workflow(steps: [Step("a"), Step("b")]))
    #expect(plan.expecting(DurationHistory()).expectedDurations == nil)
    #expect(plan.expecting(history(["x": 5])).expectedDurations == nil)
    #expect(plan.startWeight(ofStep: 0) == 2)
  }

  @Test func theCriticalPathIsTheLongestInTimeAndNotInSteps() throws {
    let (plan, expected) = try expected(
      Workflow(parallel: [
        Step("many", steps: [Step("a"), Step("b"), Step("c")]), Step("long"),
        Step("end", needs: ["many", "long"]),
      ]), history(["a": 10, "b": 10, "c": 10, "long": 500, "end": 5]))
    #expect(path(plan, expected) == ["long", "end"])
    #expect(expected.longestPath == 505_000)
    #expect(plan.startWeight(ofStep: 3) == 505 && plan.startWeight(ofStep: 0) == 35)
  }

  @Test func thePathGoesThroughGroupsAndTakesTheFirstOfEqualOnes() throws {
    let (plan, expected) = try expected(
      Workflow(steps: [
        Step("a"), Step("g", parallel: [Step("b"), Step("h", steps: [Step("c"), Step("d")])]),
        Step("e"),
      ]), history(["a": 1, "b": 4, "c": 2, "d": 2, "e": 1]))
    #expect(path(plan, expected) == ["a", "b", "e"])
    #expect(expected.longestPath == 6_000)
  }

  @Test func aStepThatWasNeverMeasuredIsTakenToBeTypical() throws {
    let (_, expected) = try expected(
      Workflow(parallel: [Step("a"), Step("b"), Step("c"), Step("new")]),
      history(["a": 1, "b": 20, "c": 3000]))
    #expect(expected.steps.map(\.each) == [1_000, 20_000, 3_000_000, 20_000])
    #expect(expected.steps.map(\.basis) == [.measured, .measured, .measured, .guessed])
    #expect(expected.guessedCount == 1)
  }

  @Test func waitsUseThePlanAndApprovalsAreUnknown() throws {
    let moment = WallMoment(nanoseconds: 0, text: "1970-01-01T00:00:00Z")
    let (_, expected) = try expected(
      Workflow(steps: [
        Step("a"), Step("nap", wait: .duration(.seconds(90))), Step("ask", approve: "really?"),
        Step("night", wait: .until(moment)),
      ]), history(["a": 1, "nap": 7, "ask": 7, "night": 7]))
    #expect(expected.steps.map(\.each) == [1_000, 90_000_000, 0, 0])
    #expect(
      expected.steps.map(\.basis) == [.measured, .planned, .unforeseeable, .unforeseeable])
  }

  @Test(arguments: [(nil, 10), (3, 40), (1, 100), (100, 10)] as [(Int?, Int)])
  func elementsLastAsLongAsTheirOwnLimitMakesThem(limit: Int?, milliseconds: Int) throws {
    let elements = JSONValue.array((0..<10).map { .number(JSONNumber($0)) })
    var step = Step("up")
    step.control.fanOut = .forEach(ForEach(in: .values(elements), maxParallel: limit))
    let (_, expected) = try expected(Workflow(steps: [step]), history(["up": 10]))
    #expect(expected.steps[0].times == 10)
    #expect(expected.longestPath == milliseconds * 1000)
  }

  @Test func unknownListIsExpectedAsLongAsBefore() throws {
    var step = Step("up")
    step.control.fanOut = .forEach(
      ForEach(in: .computed(Condition("${{ fromJSON('[1]') }}")), maxParallel: 2))
    let known = DurationHistory([
      DurationHistory.Entry("up", MeasuredStep(recent: [1_000], times: 7)!)
    ])
    let (_, expected) = try expected(Workflow(steps: [step]), known)
    #expect(expected.steps[0].times == 7 && expected.steps[0].span == 4_000)
  }

  @Test func skippedStepHasNoExpectedDuration() throws {
    let plan = try planned(Workflow(steps: [Step("a"), Step("b"), Step("c")]))
    let history = history(["a": 1, "b": 100, "c": 10])
    let excluded = try #require(plan.excluding([1]).expecting(history).expectedDurations)
    #expect(excluded.longestPath == 11_000)
    let cached = plan.expecting(cached: [plan.steps[1].node: CacheForecast(.cached)])
    #expect(cached.expecting(history).expectedDurations?.longestPath == 11_000)
    let skipped = DurationHistory([
      DurationHistory.Entry("a", MeasuredStep(recent: [1_000], times: 1)!),
      DurationHistory.Entry("b", MeasuredStep(recent: [9_000], times: 0)!),
    ])
    #expect(plan.expecting(skipped).expectedDurations?.steps.map(\.times) == [1, 0, 1])
  }

  @Test func extremeDurationsDoNotOverflow() throws {
    let plan = try planned(Workflow(steps: (0..<1000).map { Step(StepID("s\($0)")!) }))
    let endless = DurationHistory(
      plan.steps.map {
        DurationHistory.Entry($0.address.text, MeasuredStep(recent: [.max], times: .max)!)
      })
    let expected = try #require(plan.expecting(endless).expectedDurations)
    #expect(expected.longestPath == 1000 * MeasuredStep.longest)
    #expect(plan.expecting(endless).startWeight(ofStep: 0) == .max)
  }

  /// Compares with all paths, one by one.
  @Test(arguments: 0..<100 as Range<UInt64>)
  func theCriticalPathIsOneOfTheLongestOfAllPaths(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let plan = try planned(RandomWorkflow(using: &random).workflow)
    let known = DurationHistory(
      plan.steps.map { step in
        let time = Int.random(in: 0...9, using: &random) * 1000
        return DurationHistory.Entry(step.address.text, MeasuredStep(recent: [time], times: 1)!)
      })
    guard let expected = plan.expecting(known).expectedDurations else { return }
    var longest = Array(repeating: 0, count: plan.nodes.count)
    for node in plan.topologicalOrder.map(Int.init) {
      let before = plan.dependencies[node].map { longest[Int($0)] }.max() ?? 0
      guard case .step(let step) = plan.nodes[node] else {
        longest[node] = before
        continue
      }
      longest[node] = before + expected.steps[Int(step)].span
    }
    #expect(expected.longestPath == longest.max() ?? 0)
    let path = expected.criticalPath(of: plan)
    #expect(path.reduce(0) { $0 + expected.steps[$1].span } == expected.longestPath)
    for (one, next) in zip(path, path.dropFirst()) {
      #expect(plan.isReachable(plan.steps[next].node, from: plan.steps[one].node))
    }
  }
}

extension Plan {
  /// Whether one node waits for a different one, directly or indirectly.
  fileprivate func isReachable(_ node: Int, from start: Int) -> Bool {
    var open = [node]
    var seen: Set<Int> = []
    while let next = open.popLast() {
      if next == start { return true }
      if seen.insert(next).inserted { open += dependencies[next].map(Int.init) }
    }
    return false
  }
}
