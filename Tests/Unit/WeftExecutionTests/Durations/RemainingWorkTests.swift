import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

struct RemainingWorkTests {
  private func remaining(of plan: Plan) throws -> RemainingWork {
    RemainingWork(try #require(plan.expectedDurations), of: plan) { _ in true }
  }

  @Test(
    "it is what the longest path or the slots need, whichever is more",
    arguments: [(1, 16), (2, 9), (100, 9)])
  func theBoundIsTheLargerOfTwo(slots: Int, seconds: Int) throws {
    var left = try remaining(
      of: .expecting(
        Workflow(parallel: [
          Step("chain", steps: [Step("a"), Step("b"), Step("c")]), Step("d"), Step("e"),
        ]), seconds: ["a": 3, "b": 3, "c": 3, "d": 5, "e": 2]))
    #expect(left.remaining(at: .zero, slots: slots) == .seconds(seconds))
  }

  @Test func timeThatPassesIsTakenOffUntilTheStepIsOverdue() throws {
    var left = try remaining(
      of: .expecting(Workflow(steps: [Step("a"), Step("b")]), seconds: ["a": 10, "b": 4]))
    left.started(0, as: 0, at: .seconds(1))
    let shown = [1, 4, 11, 30].map { left.remaining(at: .seconds($0), slots: 4) }
    #expect(shown == [.seconds(14), .seconds(11), .seconds(4), .seconds(4)])
    left.ended(0, as: 0)
    #expect(left.remaining(at: .seconds(31), slots: 4) == .seconds(4))
    left.started(1, as: 1, at: .seconds(31))
    #expect(left.remaining(at: .seconds(33), slots: 4) == .seconds(2))
    left.ended(1, as: 1)
    #expect(left.remaining(at: .seconds(34), slots: 4) == nil)
  }

  @Test func aStepThatIsTriedAgainIsAllLeftAgain() throws {
    var left = try remaining(of: .expecting(Workflow(steps: [Step("a")]), seconds: ["a": 10]))
    left.started(0, as: 0, at: .zero)
    left.paused(0)
    #expect(left.remaining(at: .seconds(9), slots: 1) == .seconds(10))
  }

  @Test func elementsAreLeftOneByOne() throws {
    var step = Step("up")
    step.control.fanOut = .forEach(ForEach(in: .computed(Condition("${{ fromJSON('[]') }}"))))
    var left = try remaining(
      of: .expecting(Workflow(steps: [step]), seconds: ["up": 10], times: ["up": 4]))
    #expect(left.remaining(at: .zero, slots: 2) == .seconds(20))
    left.listed(0..<1, elements: 6)
    #expect(left.remaining(at: .zero, slots: 2) == .seconds(30))
    left.started(0, as: 7, at: .zero)
    left.started(0, as: 8, at: .zero)
    #expect(left.remaining(at: .seconds(4), slots: 2) == .seconds(26))
    left.ended(0, as: 7)
    left.ended(0, as: 8)
    #expect(left.remaining(at: .seconds(10), slots: 2) == .seconds(20))
    left.closed(0..<1)
    #expect(left.remaining(at: .seconds(10), slots: 2) == nil)
  }

  @Test("nothing is told while more than half of what is left was never measured")
  func noEstimateWithFewDurations() throws {
    let workflow = Workflow(parallel: [Step("a"), Step("b"), Step("c"), Step("d")])
    var half = try remaining(of: .expecting(workflow, seconds: ["a": 10, "b": 10]))
    #expect(half.remaining(at: .zero, slots: 1) == .seconds(40))
    half.ended(0, as: 0)
    #expect(half.remaining(at: .zero, slots: 1) == nil)
    half.ended(2, as: 2)
    #expect(half.remaining(at: .zero, slots: 1) == .seconds(20))
  }

  @Test func pendingApprovalHidesTheEstimate() throws {
    var left = try remaining(
      of: .expecting(
        Workflow(steps: [Step("a"), Step("ask", approve: "really?"), Step("b")]),
        seconds: ["a": 1, "b": 2]))
    left.ended(0, as: 0)
    #expect(left.remaining(at: .zero, slots: 1) == nil)
    left.ended(1, as: 1)
    #expect(left.remaining(at: .zero, slots: 1) == .seconds(2))
  }

  @Test func repeatedStepCountsAgain() throws {
    var left = try remaining(
      of: .expecting(Workflow(steps: [Step("a"), Step("b")]), seconds: ["a": 1, "b": 2]))
    left.ended(0, as: 0)
    left.ended(1, as: 1)
    left.repeated(0..<2)
    #expect(left.remaining(at: .zero, slots: 1) == .seconds(3))
  }

  @Test("steps that nobody has asked for are not left")
  func excludedStepDoesNotCount() throws {
    let plan = try Plan.expecting(
      Workflow(steps: [Step("a"), Step("b")]), seconds: ["a": 1, "b": 2], excluding: [1])
    var left = RemainingWork(try #require(plan.expectedDurations), of: plan) { $0 == 0 }
    left.listed(1..<2, elements: 50)
    #expect(left.remaining(at: .zero, slots: 1) == .seconds(1))
  }

  /// Steps start and end as in a run, each taking as long as before: the reported value never grows, and the run never
  /// ends earlier.
  @Test(arguments: 0..<60 as Range<UInt64>)
  func estimateNeverGrows(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let count = Int.random(in: 1...12, using: &random)
    let steps = (0..<count).map { index in
      let needs = (0..<index).filter { _ in Int.random(in: 0..<4, using: &random) == 0 }
      return Step(StepID("s\(index)")!, run: "true", needs: needs.map { Need("s\($0)") })
    }
    let lengths = steps.map { _ in Int.random(in: 1...20, using: &random) }
    let (made, diagnostics) = Planner.plan(Workflow(parallel: steps))
    let known = try lengths.enumerated().map { index, seconds in
      DurationHistory.Entry(
        "s\(index)", try #require(MeasuredStep(recent: [seconds * 1_000_000], times: 1)))
    }
    let plan = try #require(made, "\(diagnostics)").expecting(DurationHistory(known))
    let slots = Int.random(in: 1...3, using: &random)
    let harness = RunHarness(plan, maxParallel: slots)
    var (now, ends, reported) = (0, [String: Int](), [(at: Int, left: Duration)]())
    while let next = harness.running.map({ step -> (Int, String) in
      let index = Int(step.dropFirst()) ?? 0
      ends[step] = ends[step] ?? now + lengths[index]
      return (ends[step] ?? 0, step)
    }).min(by: <) {
      while now < next.0 {
        let left = try #require(harness.run.remainingTime, "at \(now) of \(next)")
        reported.append((now, left))
        now += 1
        harness.time.move(to: .seconds(now))
      }
      harness.executor.exit(next.1)
    }
    #expect(harness.run.remainingTime == nil)
    for (one, next) in zip(reported, reported.dropFirst()) { #expect(next.left <= one.left) }
    for one in reported {
      #expect(.seconds(one.at) + one.left <= .seconds(now), "\(reported) of \(now)")
    }
  }
}
