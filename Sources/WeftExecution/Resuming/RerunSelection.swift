import WeftDefinition
package import WeftEvents
import WeftExpressions
package import WeftPlanning

/// The reruns that a person requests when resuming a run, and the steps in doubt that this person accepts.
///
/// ``RerunRule`` applies it. `weft resume` fills it in from `--rerun` and related options, and the library from its
/// arguments.
package struct RerunSelection: Sendable {
  /// Steps by their index in the plan: rerun in every instance.
  package var steps: Set<Int>
  /// Steps of single loop elements, and groups whose outputs are computed again.
  package var addresses: Set<StepAddress>

  /// Steps in doubt to be accepted as done: they fail with the class ``ErrorClass/inDoubt``, and the failure is
  /// tolerated.
  package var accepted: Set<StepAddress> = []

  package init(steps: Set<Int> = [], addresses: Set<StepAddress> = []) {
    (self.steps, self.addresses) = (steps, addresses)
  }

  /// Leaves out the cleanup steps that are not named themselves. A cleanup runs again with the step or group that it
  /// belongs to, if that starts; a loser of a race may not.
  package mutating func leaveOutCleanups(of plan: Plan, except names: [String]) {
    if plan.bodies.cleanups.isEmpty { return }
    let names = Set(names)
    steps = steps.filter { step in
      !plan.bodies.cleanupSteps.contains(step) || names.contains(plan.steps[step].address.text)
    }
    let planned = PlanAddresses(plan)
    addresses = addresses.filter { address in
      guard let step = planned.step(at: address) else { return true }
      return !plan.bodies.cleanupSteps.contains(step) || names.contains(address.text)
    }
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

extension RerunSelection {
  /// Adds the steps of elements that loops did not have, or had with another value, or have no more. With them, the loops
  /// list their elements again; the others are reusable.
  ///
  /// - Parameter loops: Loops whose lists, which are written in the file, have changed.
  /// - Returns: The loops that were compared, and those of which the elements are not known before they run.
  package mutating func addElements(
    of loops: [StepAddress], in plan: Plan, after recorded: RunState
  ) -> (compared: [StepAddress], unknown: [StepAddress]) {
    var (compared, unknown): ([StepAddress], [StepAddress]) = ([], [])
    if loops.isEmpty { return ([], []) }
    let policy = ResumePolicy(
      plan: plan, recorded: recorded, rerunning: RerunSelection(), missing: MissingValues())
    for loop in loops {
      if let elements = policy.relistedElements(of: loop) {
        addresses.formUnion(elements)
        compared.append(loop)
      } else {
        unknown.append(loop)
      }
    }
    return (compared, unknown)
  }
}

extension RerunSelection {
  /// Adds the steps that an edit has added, and those that it has moved into other groups and that have not succeeded: a
  /// group that was done is not any more with a member that has yet to run.
  package mutating func addMembers(
    added: [StepAddress], moved: Set<StepAddress>, in plan: Plan, after recorded: RunState
  ) {
    if added.isEmpty, moved.isEmpty { return }
    let known = PlanAddresses(plan)
    let new = added.compactMap { known.step(at: $0) }
    steps.formUnion(new.filter { !plan.bodies.cleanupSteps.contains($0) })
    for (address, step) in recorded.steps where moved.contains(known.planned(address)) {
      guard !step.hasSucceeded, let index = known.step(at: address),
        !plan.bodies.cleanupSteps.contains(index)
      else { continue }
      addresses.insert(address)
    }
  }
}

extension Plan {
  /// These groups, and the groups around them whose outputs read theirs, directly or through groups in between.
  package func groups(recomputedWith addresses: [StepAddress]) -> Set<StepAddress> {
    if addresses.isEmpty { return [] }
    let (known, readers) = (PlanAddresses(self), ValueReaders(self))
    return addresses.reduce(into: []) { found, address in
      guard let group = known.group(at: address) else { return }
      found.insert(address)
      var recomputed = [groups[group].startNode]
      for outer in allEnclosingGroups(ofGroup: group).dropFirst()
      where recomputed.contains(where: { readers[$0].contains(.group(outer)) }) {
        recomputed.append(groups[outer].startNode)
        if let address = groups[outer].address { found.insert(address) }
      }
    }
  }
}

extension ResumePolicy {
  /// The steps of the elements that are new, changed or gone in any recorded instance of a loop; `nil` if the elements are
  /// not known, or only their order has changed. An element is also changed if it has another index, and something in
  /// the loop reads that.
  fileprivate func relistedElements(of loop: StepAddress) -> [StepAddress]? {
    guard let member = addresses.member(at: loop),
      case .forEach(let list)? = plan.fanOut(of: member),
      let elements = LoopElements(literal: list, plan.texts(of: member))
    else { return nil }
    let region = PlanRegion(member, of: plan)
    let readsIndex = readsIndex(in: region)
    let now = (0..<elements.count).map { (elements.key(at: $0), elements.value(at: $0)) }
    var found: [StepAddress] = []
    for (address, group) in recorded.groups where addresses.planned(address) == loop {
      guard let before = group.elements else { continue }
      if before.isSecret { return nil }
      let indices = Dictionary(
        before.elements.enumerated().map { ($1.key, $0) }, uniquingKeysWith: { first, _ in first })
      let kept = now.enumerated().filter { index, element in
        guard let earlier = indices[element.0] else { return false }
        return before.elements[earlier].value == element.1 && (!readsIndex || earlier == index)
      }
      let keys = Set(kept.map(\.element.0))
      let changed = now.map(\.0).filter { !keys.contains($0) }
      let gone = before.elements.map(\.key).filter { key in !now.contains { $0.0 == key } }
      if changed.isEmpty, gone.isEmpty {
        if before.elements.map(\.key) != now.map(\.0) { return nil }
        continue
      }
      for key in changed + gone {
        let element = instance(around: address.element(key))
        found += region.steps.map { element.address(of: plan.steps[$0].address) }
      }
    }
    return found
  }

  /// Whether anything in the region of a loop reads the index of an element, other than its key.
  private func readsIndex(in region: PlanRegion) -> Bool {
    let members = region.steps.map { PlanMember.step($0) } + region.groups.map { .group($0) }
    return members.contains { member in
      plan.texts(of: member).contains { text in
        text.site != .elementKey
          && text.template.expressions.contains {
            $0.references.contains { $0.valueContext == .index }
          }
      }
    }
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

  /// The number of the last record of a group whose outputs are to be computed again; 0 if they are not.
  ///
  /// - Parameter planned: Its address in the plan.
  func outputsSince(_ planned: StepAddress) -> UInt64 { addresses[planned] ?? 0 }

  /// The number of the last record of a group or loop that is void; 0 if none is. A group is not done while a step in
  /// it has to rerun.
  ///
  /// - Parameter isInside: Whether an address is that of a step in it.
  func since(_ group: EnclosingScope, isInside: (StepAddress) -> Bool) -> UInt64 {
    let own =
      switch group.member {
      case .group(let index): groups[index] ?? 0
      case .step(let index): steps[index] ?? 0
      }
    return addresses.reduce(own) { isInside($1.key) ? max($0, $1.value) : $0 }
  }
}
