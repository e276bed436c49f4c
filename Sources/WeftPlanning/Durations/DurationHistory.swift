import WeftDefinition

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
    let mean = measured > 0 ? [microseconds / Int(measured)] : []
    return MeasuredStep(
      recent: (known?.recent ?? []) + mean,
      times: succeeded ? times ?? known?.times ?? 0 : known?.times ?? Int(ended))
  }

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
