import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReports
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Reports of the runs that seeds describe: their times keep to the sizes of the run, and their causes to the plan.
@Suite struct ReportingTests {
  @Test func noMoreSlotsAreUsedThanThereAre() async {
    _ = await Seeds.map { seed -> Void? in
      let made = RandomWorkflow.make(seed: seed, .all)
      guard let simulation = Simulation(seed: seed, made, in: .init(isRecorded: true)) else {
        return nil
      }
      let timeline = RunTimeline(simulation)
      #expect(timeline.laneCount <= simulation.maxParallel, "seed \(seed)")
      for series in [timeline.slots] + timeline.pools {
        let most = series.points.map(\.used).max() ?? 0
        #expect(most <= series.capacity ?? 0, "\(series.name), seed \(seed)")
      }
    }
  }

  @Test func everyCauseIsTheLastDependencyThatEnded() async {
    let counts = await Seeds.map { seed -> Int? in
      guard let simulation = ReportingTests.simulationOfFile(seed: seed) else { return nil }
      if Seeds.isOne { simulation.made.report([RunPart(events: simulation.events)]) }
      let checker = CauseChecker(simulation)
      if !checker.violations.isEmpty {
        Issue.record("seed \(seed): \(checker.violations.prefix(5).joined(separator: "; "))")
      }
      return checker.count
    }
    #expect(Seeds.count < Seeds.few || counts.reduce(0, +) > counts.count)
  }

  @Test(
    "the cause in a loop of a retried group, another step of which ended in a later attempt",
    arguments: [7751])
  func pastDefectsOfCausesStayFixed(seed: UInt64) throws {
    let simulation = try #require(ReportingTests.simulationOfFile(seed: seed))
    #expect(CauseChecker(simulation).violations == [])
  }

  /// A run of a nested file, of which each step is held up by steps of that file, and by those before it.
  private static func simulationOfFile(seed: UInt64) -> Simulation? {
    var made = RandomWorkflow.make(seed: seed, .all)
    let file = (["f", "file", "nested", "a-long-name"] as [StepID])[Int(seed % 4)]
    made.workflow = Workflow(steps: [
      Step("info", run: ["i"]), Step(file, workflow: made.workflow), Step("end", run: ["e"]),
    ])
    return Simulation(seed: seed, made, prefix: "\(file)/", in: .init(isRecorded: true))
  }
}

extension ReportingTests {
  /// The number of steps does not grow with the steps that are reached: the journal has the sizes of loops.
  @Test func theNumberOfStepsIsKnownWithoutThePlan() async {
    let counts = await Seeds.map { seed -> Int? in
      let made = RandomWorkflow.make(seed: seed, .all)
      // Whether cleanups run is only known with the plan.
      guard let simulation = Simulation(seed: seed, made, in: .init(isRecorded: true)),
        simulation.plan.bodies.cleanupSteps.isEmpty
      else { return nil }
      let addresses = PlanAddresses(simulation.plan)
      var (state, count) = (RunState(), 0)
      for record in simulation.journal {
        state.apply(record)
        // The number of steps in a group that was skipped as a whole is only known with the plan, too.
        if state.steps.addresses.contains(where: { addresses.group(at: $0) != nil }) { break }
        // The same of one that failed at its start.
        if state.groups.values.contains(where: { $0.end?.failsAtStart == true }) { break }
        // Nor are elements that a loop in a group left out which tolerated that.
        let tolerates = state.groups.values.contains { known in
          known.end.map { $0.outcome != $0.conclusion } ?? false
        }
        if tolerates, state.loops.contains(where: { $0.notStarted > 0 }) { break }
        let (known, planned) = (state.stepCount(), state.stepCount(simulation.plan))
        guard known == planned else {
          Issue.record("seed \(seed): \(known ?? 0) steps, and \(planned ?? 0) with the plan")
          break
        }
        count += 1
      }
      return count
    }
    #expect(Seeds.count < Seeds.few || counts.reduce(0, +) > counts.count)
  }
}

extension Simulation {
  /// The records of its journal.
  fileprivate var journal: [RunRecord] {
    let opening = RecordOpening(
      run: RunID("simulated"), resumption: 0, workflow: nil, file: nil, hash: nil, nested: [],
      inputs: [])
    let all =
      [(RunRecord.Kind.opened(opening), Duration.zero)] + records.map { ($0.kind, $0.elapsed) }
    return all.enumerated().map { number, record in
      RunRecord(
        number: UInt64(number + 1), at: WallTime(nanoseconds: 0).advanced(by: record.1), record.0)
    }
  }
}

extension RunTimeline {
  fileprivate init(_ simulation: Simulation) {
    var builder = TimelineBuilder()
    for record in simulation.journal { builder.apply(record) }
    let pools =
      simulation.plan.pools.map { ($0.name, $0.slots) }
      + (simulation.made.machine?.pools ?? []).map { ($0.name, $0.slots) }
    self.init(builder, capacities: Dictionary(pools, uniquingKeysWith: { $1 }))
  }
}

/// Compares the causes of a report with the edges of the plan.
private struct CauseChecker {
  private(set) var violations: [String] = []
  /// The number of causes.
  private(set) var count = 0

  init(_ simulation: Simulation) {
    let (plan, timeline) = (simulation.plan, RunTimeline(simulation))
    var recorded = RunState()
    for record in simulation.journal { recorded.apply(record) }
    let chain = CriticalChain(timeline, plan, recorded.groups)
    let addresses = PlanAddresses(plan)
    let nodes = timeline.steps.map { addresses.step(at: $0.address).map { plan.steps[$0].node } }
    let ran = Set(
      timeline.steps.indices.compactMap { timeline.steps[$0].done == nil ? nil : nodes[$0] })
    let entered = Set(
      timeline.steps.filter { $0.done != nil }
        .compactMap { addresses.innermostGroup(at: $0.address) }
        .flatMap { plan.allEnclosingGroups(ofGroup: $0) })
    let elements = timeline.steps.map { addresses.elements(around: $0.address) }
    // A cleanup may end after what its step made possible, and a loser after its race.
    let isOptional = timeline.steps.map { step in
      guard let index = addresses.step(at: step.address) else { return true }
      return plan.bodies.cleanupSteps.contains(index)
        || plan.allEnclosingGroups(ofGroup: plan.steps[index].group).contains {
          plan.groups[$0].endsEarly
        }
    }
    for (index, step) in timeline.steps.enumerated() {
      guard let node = nodes[index], let ready = step.lastExecution.first?.start else { continue }
      let before = plan.ancestors(of: node)
      // A group that ends with a skipped step ends, for reports, with the last of its steps that ran.
      let reached = plan.ancestors(of: node) { node in
        switch plan.nodes[node] {
        case .step: !ran.contains(node)
        case .groupStart(let group): !entered.contains(Int(group))
        default: false
        }
      }
      func isDependency(_ other: Int) -> Bool {
        guard let node = nodes[other], let done = timeline.steps[other].done else { return false }
        return before.contains(node) && done <= ready
          && elements[other].allSatisfy { elements[index][$0.key] ?? $0.value == $0.value }
      }
      guard let cause = chain.predecessor(of: index) else {
        if let missing = timeline.steps.indices.first(where: isDependency) {
          violations.append("\(step.address) has no cause, as \(timeline.steps[missing].address)")
        }
        continue
      }
      count += 1
      let name = timeline.steps[cause].address
      if !isDependency(cause) { violations.append("\(step.address) does not need \(name)") }
      for later in timeline.steps.indices
      where !isOptional[cause] && !isOptional[later] && isDependency(later)
        && reached.contains(nodes[later]!)
        && timeline.steps[later].done! > timeline.steps[cause].done!
      {
        violations.append(
          "\(step.address) started after \(timeline.steps[later].address), not \(name)")
      }
    }
  }
}

extension PlanAddresses {
  /// The elements around a step, by the addresses of their loops in the plan.
  fileprivate func elements(around address: StepAddress) -> [StepAddress: StepAddress] {
    var found: [StepAddress: StepAddress] = [:]
    var next = address.innermostElement
    while let element = next, let loop = element.loop {
      found[planned(loop)] = element
      next = loop.innermostElement
    }
    return found
  }
}

extension Plan {
  /// The nodes that a node needs, directly or through others, except for gaps.
  fileprivate func ancestors(
    of node: NodeIndex, notThrough isGap: (NodeIndex) -> Bool = { _ in false }
  ) -> Set<NodeIndex> {
    var found: Set<NodeIndex> = []
    var next = dependencies[node].map(NodeIndex.init)
    while let node = next.popLast() {
      if found.insert(node).inserted, !isGap(node) {
        next += dependencies[node].map(NodeIndex.init)
      }
    }
    return found
  }
}
