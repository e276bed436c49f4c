/// What earlier runs of a workflow have told about how long its steps take.
///
/// Steps are known by their addresses. One whose definition has changed keeps what it had: it is wrong for a run
/// or two at most, and nothing but an order and an estimate hangs on it.
package struct DurationHistory: Sendable, Hashable {
  package struct Entry: Sendable, Hashable {
    package var address: String
    package var step: MeasuredStep

    package init(_ address: String, _ step: MeasuredStep) {
      self.address = address
      self.step = step
    }
  }

  /// In the order of the plan that was run last.
  package let entries: [Entry]

  package init(_ entries: [Entry] = []) {
    self.entries = entries
  }

  package var isEmpty: Bool { entries.isEmpty }

  /// What is known of each step of a plan.
  package func steps(of plan: Plan) -> [MeasuredStep?] {
    var known: [MeasuredStep?] = []
    known.reserveCapacity(plan.steps.count)
    // Mostly the plan is the same as it was, and no name need be looked for.
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

  /// The same after one more run; what the plan does not have any more is forgotten.
  ///
  /// - Parameter succeeded: Whether the run did: only then is it known how often each step is run.
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

  /// `nil` if the run came to no decision about it.
  private var times: Int? { ended > 0 ? Int(ended) : isLeftOut ? 0 : nil }
}
