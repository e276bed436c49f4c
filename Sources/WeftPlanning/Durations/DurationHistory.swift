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
  private var times: Int? { ended > 0 ? Int(ended) : isLeftOut ? 0 : nil }
}
