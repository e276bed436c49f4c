package import WeftPlanning

/// What is to be done again though it has been done.
package struct StepsAnew: Sendable {
  /// In the plan: in whatever frame.
  package var steps: Set<Int>
  /// In one frame: elements of what is run for many.
  package var addresses: Set<StepAddress>

  /// Steps in doubt that count as done: they fail as such, and their failure is accepted.
  package var accepted: Set<StepAddress> = []

  package init(steps: Set<Int> = [], addresses: Set<StepAddress> = []) {
    (self.steps, self.addresses) = (steps, addresses)
  }

  /// The steps of a run that were running when its engine was killed, which resume does not run again by itself: they
  /// are not idempotent. In the order in which they began.
  package func interrupted(of past: RecordedRun, in plan: Plan) -> [StepAddress] {
    StandingRule.interrupted(plan, past, self)
  }

  /// The addresses to record: the choice holds until the steps have run, in whatever engine.
  package func addresses(in plan: Plan) -> [StepAddress] {
    (steps.map { plan.steps[$0].address } + addresses).sorted { $0.text < $1.text }
  }
}

/// Until when records of steps are void, because someone asked to run the steps again: now, or when an earlier
/// engine began.
struct RerunRule: Sendable {
  private var steps: [Int: UInt64] = [:]
  private var addresses: [StepAddress: UInt64] = [:]
  /// The latest of all steps in a group of the plan.
  private var groups: [Int: UInt64] = [:]

  init(plan: Plan, past: RecordedRun, _ now: StepsAnew) {
    addresses = past.rerunSince
    for address in now.addresses { addresses[address] = past.number }
    if !addresses.isEmpty {
      for (index, step) in plan.steps.enumerated() {
        if let number = addresses.removeValue(forKey: step.address) { steps[index] = number }
      }
    }
    for step in now.steps { steps[step] = past.number }
    for (step, number) in steps {
      for group in plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {
        groups[group] = max(groups[group] ?? 0, number)
      }
    }
  }

  /// The number of the last record that is void, of a step; 0: none is.
  func since(_ step: Int, _ address: StepAddress) -> UInt64 {
    max(steps[step] ?? 0, addresses[address] ?? 0)
  }

  /// The same for a group or loop, which is not done while a step in it is to run again.
  ///
  /// - Parameter isInside: Whether an address is of something in it.
  func since(_ group: Surrounding, isInside: (StepAddress) -> Bool) -> UInt64 {
    let own =
      switch group.kind {
      case .group(let index), .fanOut(.group(let index)): groups[index] ?? 0
      case .fanOut(.step(let index)): steps[index] ?? 0
      }
    return addresses.reduce(own) { isInside($1.key) ? max($0, $1.value) : $0 }
  }
}
