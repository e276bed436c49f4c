import WeftDefinition

/// The expected durations of a plan's steps, from earlier runs. In microseconds.
///
/// A step that was never measured is expected to take the median of those that were.
package struct ExpectedDurations: Sendable, Hashable {
  package enum Basis: Sendable, Hashable {
    /// Measured in earlier runs.
    case measured
    /// Never measured.
    case guessed
    /// Defined by the plan.
    case planned
    /// Unknown in advance: it waits for a person or for a point in time.
    case unforeseeable
  }

  package struct Step: Sendable, Hashable {
    /// The duration of one instance.
    package var each: Int
    /// The number of instances.
    package var times: Int
    /// The duration of all instances together, if only the limits of the loops around them apply.
    package var span: Int
    package var basis: Basis
  }

  /// The expected durations, by step of the plan.
  package let steps: [Step]
  /// For each node, the duration of the longest path from it to an end of the graph, including itself.
  package let below: [Int]

  /// - Returns: `nil` if no step of the plan was measured.
  package init?(of plan: Plan, after history: DurationHistory) {
    guard !history.isEmpty else { return nil }
    let known = history.steps(of: plan)
    let typical = known.compactMap { $0?.typical }.sorted()
    guard !typical.isEmpty else { return nil }
    let guess = typical[typical.count / 2]
    let counts = InstanceCounts(of: plan)
    let hasForecast = plan.forecast.decidesSteps
    let steps = plan.steps.indices.map { index in
      let step = plan.steps[index]
      var expected = Step(step, known[index], guess)
      expected.times = known[index]?.times == 0 ? 0 : counts.times(of: step) ?? expected.times
      if hasForecast, plan.certainlyDoesNotRun(step) { expected.times = 0 }
      expected.limit(atOnce: counts.atOnce(of: step))
      return expected
    }
    self.steps = steps
    let paths = plan.pathEdges
    below = CriticalPath.below(each: plan.nodes, paths.edges, paths.order) {
      steps[Int($0)].span
    }
  }

  /// The duration of the longest path: the run takes at least that long, however many steps run at once.
  package var longestPath: Int { below.max() ?? 0 }

  /// The steps of the longest path, in path order.
  package func criticalPath(of plan: Plan) -> [Int] {
    let paths = plan.pathEdges
    return CriticalPath.steps(through: plan.nodes, paths.edges, paths.order, below: below) {
      steps[Int($0)].span
    }
  }

  /// The number of steps that will run and were measured, or have a duration that the workflow defines.
  package var measuredCount: Int {
    steps.count { $0.basis != .guessed && $0.times > 0 && $0.each > 0 }
  }

  /// The number of steps that will run and were never measured.
  package var guessedCount: Int { steps.count { $0.basis == .guessed && $0.times > 0 } }
}

extension ExpectedDurations.Step {
  fileprivate init(_ step: PlannedStep, _ known: MeasuredStep?, _ guess: Int) {
    (times, span) = (known?.times ?? 1, 0)
    switch step.action.forecast {
    case .planned(let duration): (each, basis) = (duration.measuredMicroseconds, .planned)
    case .unforeseeable: (each, basis) = (0, .unforeseeable)
    case .measured: (each, basis) = known.map { ($0.typical, .measured) } ?? (guess, .guessed)
    }
  }

  fileprivate mutating func limit(atOnce: Int?) {
    let rounds = times == 0 ? 0 : (times - 1) / max(1, atOnce ?? times) + 1
    let (product, overflows) = each.multipliedReportingOverflow(by: rounds)
    span = overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }

  /// The duration of all instances, one after the other.
  package var work: Int {
    let (product, overflows) = each.multipliedReportingOverflow(by: times)
    return overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }
}

extension Plan {
  /// The plan with durations from earlier runs; unchanged if there are none.
  package func expecting(_ history: DurationHistory) -> Plan {
    guard let durations = ExpectedDurations(of: self, after: history) else { return self }
    var plan = self
    plan.forecast.durations = durations
    return plan
  }

  /// The durations from earlier runs; `nil` if there are none.
  package var expectedDurations: ExpectedDurations? { forecast.durations }

  /// The start priority of a ready step: of several, the one with the highest weight starts first. The weight is the
  /// longest path from the step, in milliseconds if durations of earlier runs are known, otherwise in steps.
  package func startWeight(ofStep index: Int) -> Int32 {
    let node = steps[index].node
    guard let durations = forecast.durations else { return stepsBelow[node] }
    return Int32(clamping: durations.below[node] / 1000)
  }

  /// Whether it is known before the run that a step will not run.
  fileprivate func certainlyDoesNotRun(_ step: PlannedStep) -> Bool {
    let known = forecast(of: step)
    return known.isSkipped || known.cached?.verdict == .cached
  }
}

extension PlanForecast {
  /// Whether it predicts of any step that it will not run.
  fileprivate var decidesSteps: Bool {
    !conditions.isEmpty || !excluded.isEmpty || !cached.isEmpty
  }
}

/// The number of instances of each step, and how many of them run at once, as far as known before the run.
struct InstanceCounts {
  /// The product of the loops around a step; `nil` if the number of elements of one is unknown.
  fileprivate struct Factors {
    var times: Int? = 1
    /// The number of instances that the limits of the loops allow at once.
    var atOnce: Int? = 1
  }

  private let plan: Plan
  /// The factors for the contents of each group.
  private let ofGroups: [Factors]
  /// For the node of each cleanup step, that of the step, or the start of the group, that it cleans up.
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  /// Whether the plan has any loop.
  let hasLoops: Bool

  init(of plan: Plan) {
    self.plan = plan
    var ofGroups: [Factors] = []
    var hasLoops = plan.steps.contains(where: \.isLoop)
    for group in plan.groups {
      let around = group.parent.map { ofGroups[$0] } ?? Factors()
      let fanOut = group.step?.control.fanOut
      hasLoops = hasLoops || fanOut != nil
      ofGroups.append(
        fanOut.map { around.inside($0, of: plan.forecast(of: group).elements) } ?? around)
    }
    self.ofGroups = ofGroups
    cleanedUp = plan.cleanedUpNodes()
    self.hasLoops = hasLoops
  }

  /// The number of instances of a step; `nil` if it is unknown.
  func times(of step: PlannedStep) -> Int? { factors(of: step).times }

  /// The number of instances that run at once if there are slots for all; `nil` if it is unknown.
  func atOnce(of step: PlannedStep) -> Int? { factors(of: step).atOnce }

  private func factors(of step: PlannedStep) -> Factors {
    let around = ofGroups[step.group]
    guard hasLoops else { return around }
    if let owner = cleanedUp[step.node] {
      // Cleanups of elements run one at a time.
      guard plan.step(at: owner)?.control.fanOut != nil else { return around }
      return Factors(
        times: product(around.times, forecast(of: owner).elements), atOnce: around.atOnce)
    }
    guard step.hasControl, let fanOut = step.control.fanOut else { return around }
    return around.inside(fanOut, of: plan.forecast(of: step).elements)
  }
}

/// The product of two counts; `nil` if one is unknown, or it is too large.
private func product(_ one: Int?, _ other: Int?) -> Int? {
  guard let one, let other else { return nil }
  let (product, overflows) = one.multipliedReportingOverflow(by: other)
  return overflows || product > 1 << 40 ? nil : product
}

extension InstanceCounts {
  private func forecast(of owner: Plan.NodeIndex) -> NodeForecast {
    switch plan.nodes[owner] {
    case .step(let index): plan.forecast(of: plan.steps[Int(index)])
    case .groupStart(let index), .groupEnd(let index): plan.forecast(of: plan.groups[Int(index)])
    }
  }
}

extension InstanceCounts.Factors {
  fileprivate func inside(_ fanOut: FanOut, of elements: Int?) -> Self {
    let limit: Int? = if case .forEach(let loop) = fanOut { loop.maxParallel } else { nil }
    return Self(
      times: product(times, elements),
      atOnce: product(atOnce, limit.map { min($0, elements ?? $0) } ?? elements))
  }
}

/// The durations of a workflow's steps in earlier runs.
///
/// Steps are identified by their addresses. A step whose definition changed keeps its durations: they are wrong for a
/// run or two at most, and affect only the start order and an estimate.
package struct DurationHistory: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package var address: String
    package var step: MeasuredStep

    package init(_ address: String, _ step: MeasuredStep) {
      self.address = address
      self.step = step
    }
  }

  /// The entries, in the order of the plan that was run last.
  package let entries: [Entry]

  package init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  package var isEmpty: Bool { entries.isEmpty }

  /// The measurements of each step of a plan; `nil` if there are none.
  package func steps(of plan: Plan) -> [MeasuredStep?] {
    var known: [MeasuredStep?] = []
    known.reserveCapacity(plan.steps.count)
    // Usually the plan is unchanged, and no address has to be looked up.
    var next = 0
    var places: [String: Int]?
    for step in plan.steps {
      let address = step.address.text
      if next < entries.count, entries[next].address == address {
        known.append(entries[next].step)
        next += 1
        continue
      }
      if places == nil { places = self.places }
      let place = places?[address]
      known.append(place.map { entries[$0].step })
      if let place { next = place + 1 }
    }
    return known
  }

  private var places: [String: Int] {
    Dictionary(
      entries.enumerated().map { ($1.address, $0) }, uniquingKeysWith: { first, _ in first })
  }

  /// Returns the history after one more run; steps that the plan no longer has are dropped.
  ///
  /// - Parameter succeeded: Whether the run succeeded: only then is the number of instances of each step known.
  package func adding(_ run: RunMeasures, of plan: Plan, succeeded: Bool) -> DurationHistory {
    let known = steps(of: plan)
    var entries: [Entry] = []
    entries.reserveCapacity(plan.steps.count)
    for (index, step) in plan.steps.enumerated() {
      guard let measured = run.steps[index].added(to: known[index], succeeded: succeeded) else {
        continue
      }
      entries.append(Entry(step.address.text, measured))
    }
    return DurationHistory(entries)
  }
}

extension RunMeasures.Step {
  fileprivate func added(to known: MeasuredStep?, succeeded: Bool) -> MeasuredStep? {
    MeasuredStep(
      recent: (known?.recent ?? []) + (mean.map { [$0] } ?? []),
      times: succeeded ? times ?? known?.times ?? 0 : known?.times ?? Int(ended))
  }

  /// The microseconds per instance; `nil` if none was measured.
  fileprivate var mean: Int? { measured > 0 ? microseconds / Int(measured) : nil }

  /// `nil` if the run made no decision about the step.
  private var times: Int? { ended > 0 ? Int(ended) : isExcluded ? 0 : nil }
}

/// The durations of a step in earlier runs. A plan has one entry per step, also for the steps of loops.
package struct MeasuredStep: Sendable, Hashable {
  /// Microseconds per instance in each of the last runs in which the step succeeded, the newest last; for a step in a
  /// loop, the mean.
  package let recent: [Int]
  /// The number of instances that ended in the last successful run; 0 if its condition skipped it there.
  package let times: Int

  /// The number of runs that are kept.
  package static let recentLimit = 5
  /// The maximum duration, twelve days; longer ones count as this, so that no sum over a plan overflows.
  package static let longest = 1 << 40

  /// - Returns: `nil` if nothing was measured, or the values are impossible.
  package init?(recent: [Int], times: Int) {
    guard !recent.isEmpty, recent.allSatisfy({ $0 >= 0 }), times >= 0 else { return nil }
    self.recent = recent.suffix(MeasuredStep.recentLimit).map { min($0, MeasuredStep.longest) }
    self.times = times
  }

  /// Returns the durations without those of one run; `nil` if there are no others.
  package func without(_ microseconds: Int) -> MeasuredStep? {
    var others = recent
    if let place = others.lastIndex(of: microseconds) { others.remove(at: place) }
    return MeasuredStep(recent: others, times: times)
  }

  /// The median, so that one run on a busy machine, or with a cold cache, has little weight.
  package var typical: Int { recent.sorted()[recent.count / 2] }
}

/// The durations that one run measures. A pure fold: the run reports each step that ended.
///
/// Only steps that ran and succeeded are measured. Results that resume reused, cached results and failures do not show
/// how long a step takes.
package struct RunMeasures: Sendable, Hashable {
  struct Step: Sendable, Hashable {
    /// The sum of all measured durations.
    var microseconds = 0
    var measured: Int32 = 0
    /// The number of instances that ended, measured or not.
    var ended: Int32 = 0
    /// Whether it was skipped by its own condition or one around it.
    var isExcluded = false
  }

  /// The measurements, by step of the plan.
  private(set) var steps: [Step]

  package init(stepCount: Int) {
    steps = Array(repeating: Step(), count: stepCount)
  }

  /// Records the end of a step or of one of its instances.
  ///
  /// - Parameter duration: The duration of the last attempt; `nil` if it is not a measurement.
  package mutating func ended(_ step: Int, after duration: Duration?) {
    steps[step].ended += 1
    guard let duration else { return }
    steps[step].microseconds += duration.measuredMicroseconds
    steps[step].measured += 1
  }

  /// The microseconds per instance of each step; `nil` for one that was not measured.
  package var means: [Int?] { steps.map(\.mean) }

  package mutating func excluded(_ step: Int) { steps[step].isExcluded = true }
}

extension Duration {
  /// The duration in microseconds, truncated, from 0 to ``MeasuredStep/longest``.
  package var measuredMicroseconds: Int {
    let (seconds, attoseconds) = components
    guard seconds < MeasuredStep.longest / 1_000_000 else { return MeasuredStep.longest }
    guard seconds >= 0 else { return 0 }
    return max(0, Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000))
  }
}

extension PlannedStep {
  /// Whether its duration can be learned from runs: not if the plan defines it, or if it waits for a person or a point
  /// in time.
  package var canBeMeasured: Bool { action.forecast == .measured }
}
