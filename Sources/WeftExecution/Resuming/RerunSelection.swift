package import WeftEvents
package import WeftPlanning

/// The reruns that a person requests when resuming a run, and the steps in doubt that this person accepts.
///
/// ``RerunRule`` applies it. `weft resume` fills it in from `--rerun` and related options, and the library from its
/// arguments.
package struct RerunSelection: Sendable {
  /// Steps by their index in the plan: rerun in every instance.
  package var steps: Set<Int>
  /// Steps of single loop elements.
  package var addresses: Set<StepAddress>

  /// Steps in doubt to be accepted as done: they fail with the class ``ErrorClass/inDoubt``, and the failure is
  /// tolerated.
  package var accepted: Set<StepAddress> = []

  package init(steps: Set<Int> = [], addresses: Set<StepAddress> = []) {
    (self.steps, self.addresses) = (steps, addresses)
  }

  /// The steps that were running when the engine was killed and that resume does not rerun by itself, since they are
  /// not idempotent. In the order in which they started.
  package func interrupted(of recorded: RunState, in plan: Plan) -> [StepAddress] {
    ResumePolicy(plan: plan, recorded: recorded, rerunning: self).interrupted
  }

  /// The addresses to record: a requested rerun stays in force until the steps have run, under any engine.
  package func addresses(in plan: Plan) -> [StepAddress] {
    (steps.map { plan.steps[$0].address } + addresses).sorted { $0.text < $1.text }
  }
}

/// Decides which records of a step are void because a rerun of the step was requested, now or at the start of an
/// earlier engine.
///
/// It keeps, for each step with a requested rerun, the number of the last record that is void. ``ResumePolicy`` holds
/// it.
struct RerunRule: Sendable {
  private var steps: [Int: UInt64] = [:]
  private var addresses: [StepAddress: UInt64] = [:]
  /// For each group of the plan, the largest number of the steps in it.
  private var groups: [Int: UInt64] = [:]

  init(plan: Plan, recorded: RunState, _ now: RerunSelection) {
    addresses = recorded.rerunSince
    for address in now.addresses { addresses[address] = recorded.number }
    if !addresses.isEmpty {
      for (index, step) in plan.steps.enumerated() {
        if let number = addresses.removeValue(forKey: step.address) { steps[index] = number }
      }
    }
    for step in now.steps { steps[step] = recorded.number }
    for (step, number) in steps {
      for group in plan.allEnclosingGroups(ofGroup: plan.steps[step].group) {
        groups[group] = max(groups[group] ?? 0, number)
      }
    }
  }

  /// The number of the last void record of a step; 0 if none is void.
  func since(_ step: Int, _ address: StepAddress) -> UInt64 {
    max(steps[step] ?? 0, addresses[address] ?? 0)
  }

  /// The number of the last record of a group or loop that is void; 0 if none is. A group is not done while a step in
  /// it has to rerun.
  ///
  /// - Parameter isInside: Whether an address is that of a step in it.
  func since(_ group: EnclosingScope, isInside: (StepAddress) -> Bool) -> UInt64 {
    let own =
      switch group.kind {
      case .group(let index), .fanOut(.group(let index)): groups[index] ?? 0
      case .fanOut(.step(let index)): steps[index] ?? 0
      }
    return addresses.reduce(own) { isInside($1.key) ? max($0, $1.value) : $0 }
  }
}
