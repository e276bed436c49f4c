import WeftDefinition

/// How long the steps of a plan will take if they take as long as in earlier runs. In microseconds.
///
/// A step that was never measured is taken to last as long as the typical one of those that were.
package struct ExpectedDurations: Sendable, Hashable {
  package enum Basis: Sendable, Hashable {
    /// It took so long before.
    case measured
    /// It was never measured.
    case guessed
    /// The plan says how long it takes.
    case planned
    /// It waits for a person, or for a moment: nobody can say.
    case unforeseeable
  }

  package struct Step: Sendable, Hashable {
    /// Of one time.
    package var each: Int
    /// How many times it is run.
    package var times: Int
    /// Of all times together, if nothing holds them back but the limits of what makes many of it.
    package var span: Int
    package var basis: Basis
  }

  /// By step of the plan.
  package let steps: [Step]
  /// For each node the time of the longest path from it to an end of the graph, itself included.
  package let below: [Int]

  /// - Returns: `nil` where nothing is known of any step of the plan.
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
      if hasForecast, plan.isSparedSurely(step) { expected.times = 0 }
      expected.limit(atOnce: counts.atOnce(of: step))
      return expected
    }
    self.steps = steps
    below = CriticalPath.below(each: plan.nodes, plan.dependencies, plan.topologicalOrder) {
      steps[Int($0)].span
    }
  }

  /// The time of the longest path: however many run at once, the run takes as long.
  package var longestPath: Int { below.max() ?? 0 }

  /// The steps of the longest path, in the order in which they follow each other.
  package func criticalPath(of plan: Plan) -> [Int] {
    CriticalPath.steps(
      through: plan.nodes, plan.dependencies, plan.topologicalOrder, below: below
    ) { steps[Int($0)].span }
  }

  /// How many steps that will be run have been measured, or have a duration that the workflow says.
  package var measuredCount: Int {
    steps.count { $0.basis != .guessed && $0.times > 0 && $0.each > 0 }
  }

  /// How many steps that will be run have never been measured.
  package var guessedCount: Int { steps.count { $0.basis == .guessed && $0.times > 0 } }
}

extension ExpectedDurations.Step {
  fileprivate init(_ step: PlannedStep, _ known: MeasuredStep?, _ guess: Int) {
    (times, span) = (known?.times ?? 1, 0)
    switch step.action {
    case .wait(.duration(let duration)):
      (each, basis) = (duration.measuredMicroseconds, .planned)
    case .compute, .group, .workflow: (each, basis) = (0, .planned)
    case .approve, .wait(.until), .wait(.computedMoment): (each, basis) = (0, .unforeseeable)
    case .run, .use, .http, .wait(.computedDuration):
      (each, basis) = known.map { ($0.typical, .measured) } ?? (guess, .guessed)
    }
  }

  fileprivate mutating func limit(atOnce: Int?) {
    let rounds = times == 0 ? 0 : (times - 1) / max(1, atOnce ?? times) + 1
    let (product, overflows) = each.multipliedReportingOverflow(by: rounds)
    span = overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }

  /// Of all times together, one after the other.
  package var work: Int {
    let (product, overflows) = each.multipliedReportingOverflow(by: times)
    return overflows ? MeasuredStep.longest : min(product, MeasuredStep.longest)
  }
}

extension Plan {
  /// The plan with what earlier runs say about its steps; as it is, where they say nothing.
  package func expecting(_ history: DurationHistory) -> Plan {
    guard let durations = ExpectedDurations(of: self, after: history) else { return self }
    var plan = self
    plan.forecast.durations = durations
    return plan
  }

  /// What earlier runs say; `nil` where there are none.
  package var expectedDurations: ExpectedDurations? { forecast.durations }

  /// Which of several ready steps starts first: the one with more of this. It is the longest path below
  /// it, in milliseconds where durations of earlier runs are known, else in steps.
  package func startWeight(ofStep index: Int) -> Int32 {
    let node = steps[index].node
    guard let durations = forecast.durations else { return stepsBelow[node] }
    return Int32(clamping: durations.below[node] / 1000)
  }

  /// Whether it is known before the run that a step will not be run.
  fileprivate func isSparedSurely(_ step: PlannedStep) -> Bool {
    let known = forecast(of: step)
    return known.isSkipped || known.cached?.verdict == .cached
  }
}

extension PlanForecast {
  /// Whether it says of any step that it will not be run.
  fileprivate var decidesSteps: Bool {
    !conditions.isEmpty || !leftOut.isEmpty || !cached.isEmpty
  }
}
