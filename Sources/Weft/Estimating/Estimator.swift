import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// Rehearses a run again and again, each time with one thing changed, and compares.
struct Estimator {
  /// The plan, as a run would start it.
  let plan: Plan
  let addresses: PlanAddresses
  let samples: [RunSample]
  let durations: StepDurations
  let configuration: EngineConfiguration
  /// The factors by which steps are faster than they were, by index.
  let speeds: [Double]

  private static let fasterBy = 2.0
  private static let shownSpeedUps = 5
  /// Limits that cost less than this part of the time are not reported.
  private static let relevance = 0.01
  /// The most limits of groups and loops that are tried.
  private static let triedLimits = 20

  /// The number of rehearsals for each purpose; fewer for large plans.
  private var rounds: Int { plan.steps.count > 20_000 ? 3 : RunSample.limit }

  // MARK: Rehearsals

  private func rehearse(
    _ maxParallel: Int?, _ change: (inout Change) -> Void = { _ in }
  ) throws(EstimateError) -> (result: RunRehearsal.Result, way: EarlierWay) {
    var changed = Change(plan: plan, speeds: speeds, maxParallel: maxParallel)
    change(&changed)
    let way = EarlierWay(
      changed.plan, addresses, samples, lifting: changed.unlimitedLoops)
    var configuration = configuration
    configuration.resources.capacity = changed.capacity
    let rehearsal = RunRehearsal(
      plan: changed.plan, configuration: configuration, way: way, durations: durations,
      speeds: changed.speeds, choice: changed.choice)
    guard let result = rehearsal.run(maxParallel: changed.maxParallel) else { throw .standstill }
    return (result, way)
  }

  /// Whatever may differ between two rehearsals.
  private struct Change {
    var plan: Plan
    var speeds: [Double]
    var maxParallel: Int?
    /// `nil` for that of this machine.
    var capacity: MachineCapacity?
    var choice = StepDurations.Choice.typical
    var unlimitedLoops: Set<StepAddress> = []
  }

  /// - Parameters:
  ///   - wanted: The numbers of steps at once; `nil` for the default of a run.
  ///   - earlier: Returns the run beside which a prediction can be judged.
  func estimate(
    _ wanted: [Int?], _ basis: Estimate.Basis, earlier: (Int?) -> (Int, Estimate.EarlierRun)?
  ) throws(EstimateError) -> Estimate {
    let (first, way) = try rehearse(wanted[0])
    var results = [first]
    for maxParallel in wanted.dropFirst() {
      let result = try rehearse(maxParallel).result
      if !results.contains(where: { $0.maxParallel == result.maxParallel }) {
        results.append(result)
      }
    }
    if !results.contains(where: { earlier($0.maxParallel) != nil }), let (other, _) = earlier(nil) {
      results.append(try rehearse(other).result)
    }
    var predictions: [Estimate.Prediction] = []
    for result in results {
      predictions.append(
        Estimate.Prediction(
          maxParallel: result.maxParallel, duration: result.duration,
          range: try range(around: result), outcome: result.end.outcome,
          earlier: earlier(result.maxParallel)?.1))
    }
    let path = RehearsedPath(first, of: plan)
    return Estimate(
      predictions: predictions, criticalPath: path.links, finalDelay: path.finalDelay,
      limits: try limits(of: first), speedUps: try speedUps(first, path),
      basis: complete(basis, with: way.assumptions))
  }

  /// The spread of the predictions with the durations of each earlier run.
  private func range(
    around result: RunRehearsal.Result
  ) throws(EstimateError) -> ClosedRange<Duration>? {
    let measured = samples.indices.filter { samples[$0].hasMeasured }
    guard measured.count > 1 else { return nil }
    var all: [Duration] = []
    for run in measured.prefix(rounds) {
      all.append(try rehearse(result.maxParallel) { $0.choice = .run(run) }.result.duration)
    }
    all.sort()
    let rank = { (share: Double) in all[Int((share * Double(all.count - 1)).rounded())] }
    return min(rank(0.1), result.duration)...max(rank(0.9), result.duration)
  }

  // MARK: Limits

  private func limits(of result: RunRehearsal.Result) throws(EstimateError) -> [Estimate.Limit] {
    let base = result.maxParallel
    var tried: [(Estimate.Limit.Kind, lift: (inout Change) -> Void)] = [
      (.slots(base), { $0.maxParallel = WorkflowLimits.maxParallel })
    ]
    for pool in plan.pools {
      tried.append((.pool(pool.name), { $0.plan = $0.plan.lifting(pool: pool.name) }))
    }
    if plan.requestsResources { tried.append((.resources, { $0.capacity = .unlimited })) }
    for (address, lift) in maxParallels.prefix(Estimator.triedLimits) {
      tried.append((.maxParallel(of: address), lift))
    }
    var found: [Estimate.Limit] = []
    for (kind, lift) in tried {
      let without = try rehearse(base, lift).result.duration
      if isRelevant(result.duration - without, of: result) {
        found.append(Estimate.Limit(kind: kind, without: without))
      }
    }
    if found.isEmpty, tried.count > 1 {
      let without = try rehearse(base) { change in
        for (_, lift) in tried { lift(&change) }
      }.result.duration
      if isRelevant(result.duration - without, of: result) {
        found.append(Estimate.Limit(kind: .all, without: without))
      }
    }
    return found.sorted { $0.without < $1.without }
  }

  private func isRelevant(_ gain: Duration, of result: RunRehearsal.Result) -> Bool {
    gain > .zero && gain >= result.duration * Estimator.relevance
  }

  /// The groups and loops with `maxParallel`, and what lifts it.
  private var maxParallels: [(StepAddress, (inout Change) -> Void)] {
    var found: [(StepAddress, (inout Change) -> Void)] = []
    for (index, group) in plan.groups.enumerated() {
      guard let address = group.address, !group.isTopLevel else { continue }
      if group.maxParallel != nil {
        found.append((address, { $0.plan = $0.plan.lifting(limitOfGroup: index) }))
      }
      if group.step?.control.fanOut?.hasLimit == true {
        found.append((address, { $0.unlimitedLoops.insert(address) }))
      }
    }
    for step in plan.steps where step.hasControl && step.control.fanOut?.hasLimit == true {
      found.append((step.address, { $0.unlimitedLoops.insert(step.address) }))
    }
    return found
  }

  // MARK: Speed-ups

  private func speedUps(
    _ result: RunRehearsal.Result, _ path: RehearsedPath
  ) throws(EstimateError) -> [Estimate.SpeedUp] {
    var work: [Int: Duration] = [:]
    for attempt in result.attempts {
      work[attempt.step, default: .zero] += attempt.end - attempt.start
    }
    // Where slots are scarce, a long step matters though it is not on the path.
    let candidates = longest(path.work, rounds - 2) + longest(work, rounds / 2)
    var found: [Estimate.SpeedUp] = []
    var seen: Set<Int> = []
    for step in candidates where seen.insert(step).inserted {
      let duration = try rehearse(result.maxParallel) { $0.speeds[step] *= Estimator.fasterBy }
        .result.duration
      if duration < result.duration {
        found.append(Estimate.SpeedUp(step: plan.steps[step].address, duration: duration))
      }
    }
    return Array(found.sorted { $0.duration < $1.duration }.prefix(Estimator.shownSpeedUps))
  }

  private func longest(_ work: [Int: Duration], _ count: Int) -> [Int] {
    work.filter { $0.value > .zero }
      .sorted { $0.value == $1.value ? $0.key < $1.key : $0.value > $1.value }
      .prefix(count).map(\.key)
  }

  // MARK: Assumptions

  private func complete(
    _ basis: Estimate.Basis, with found: EarlierWay.Assumptions
  ) -> Estimate.Basis {
    let steps = { (steps: Set<Int>) in steps.sorted().map { plan.steps[$0].address } }
    let names = { (names: Set<StepAddress>) in names.sorted { $0.text < $1.text } }
    var basis = basis
    basis.runs = samples.filter(\.hasMeasured).map(\.run)
    basis.unmeasured = steps(found.unmeasured)
    basis.assumed = durations.assumption
    basis.unforeseeable = steps(found.unforeseeable)
    let cached = plan.steps.map(\.address).filter(found.cached.contains)
    basis.cached = cached + names(found.cached.subtracting(cached))
    basis.conditions = names(found.conditions)
    basis.openConditions = names(found.openConditions)
    basis.loops = names(Set(found.loops.keys))
    basis.openLoops = names(found.openLoops)
    basis.failures = names(Set(found.failures.keys)).map {
      Estimate.PredictedFailure(step: $0, failure: found.failures[$0]!)
    }
    return basis
  }
}

extension FanOut {
  /// Whether it limits how many elements run at once.
  var hasLimit: Bool { maxParallel != nil }
}
