import WeftDefinition
import WeftPlanning

/// Whether a group had started in an earlier part of a run.
enum PastBeginning {
  case begun
  case skipped(SkipReason)

  /// Why it does not start now.
  var skip: SkipReason? {
    if case .skipped(let reason) = self { reason } else { nil }
  }
}

/// Decides what of an earlier part of a run stands in a plan, and so is not done again (SPEC §7).
///
/// A step stands if it has succeeded or its failure was tolerated. Inside of a group that has ended well, and of
/// what was run for many, everything stands as it ended: the losers of a race too. What a group had done before
/// it was tried again has not happened. What is done finally, and what cleans up, is done again.
struct StandingRule: Sendable {
  let plan: Plan
  let past: RecordedRun
  let rerun: RerunRule
  /// Steps in doubt that count as done.
  private let accepted: Set<StepAddress>
  /// For each node, those that wait for it.
  let dependents: [Int: [Int]]
  /// For each of them, the step or group that it cleans up after.
  private let cleaned: [Int: Plan.NodeIndex]
  let addresses: PlanAddresses
  private let blocked: BlockedGroups

  init(plan: Plan, past: RecordedRun, anew: StepsAnew = StepsAnew()) {
    (self.plan, self.past) = (plan, past)
    rerun = RerunRule(plan: plan, past: past, anew)
    accepted = anew.accepted
    dependents = plan.dependents
    addresses = PlanAddresses(plan)
    blocked = BlockedGroups(plan, past, addresses)
    cleaned = plan.bodies.cleanups.reduce(into: [:]) { cleaned, cleanup in
      for step in cleanup.value { cleaned[Int(step)] = cleanup.key }
    }
  }

  // MARK: Steps

  /// How a step ended, if that stands.
  func end(of task: StepTask) -> RecordedStep? {
    end(ofStep: task.index, in: task.frame, isCleanup: task.isCleanup)
  }

  private func end(
    ofStep index: Int, in frame: Frame, isCleanup: Bool = false
  ) -> RecordedStep? {
    let step = plan.steps[index]
    let around = surroundings(ofGroup: step.group, in: frame)
    if let group = outermostDone(of: around) {
      if isUndone(group) { return nil }
      // Also what an attempt had left that was to be followed by another, and was not.
      let end = ended(index, in: frame, since: beginning(around: group))
      // A cleanup that failed, or was cancelled, is still to be done, whatever is around it.
      guard isCleanup, let end else { return end }
      return end.isPendingCleanup || hasBegun(sinceCleanup: index, end.number, frame) ? nil : end
    }
    guard let end = ended(index, in: frame, since: beginning(of: around)), isFirstTime(frame),
      !isCleanup, !isFinal(step.group), end.hasSucceeded
    else { return nil }
    let isMissed =
      !isWhole(end, step) || isCleaned(step.node, in: frame, since: end.number)
      || isCleaned(around, since: end.number)
    return isMissed && isNeeded(step.node, in: frame) ? nil : end
  }

  /// Whether what a step cleans up after has begun again since it did.
  private func hasBegun(sinceCleanup index: Int, _ number: UInt64, _ frame: Frame) -> Bool {
    guard let node = cleaned[index] else { return false }
    let address = frame.address(of: plan.address(of: node))
    return past.steps[address]?.lastStart ?? 0 > number
      || past.groups[address]?.lastStart ?? 0 > number
  }

  /// How a step had ended, or that a later engine did not come to it, unless it is to be done again.
  private func ended(_ index: Int, in frame: Frame, since beginning: UInt64) -> RecordedStep? {
    let address = frame.address(of: plan.steps[index].address)
    let since = max(beginning, rerun.since(index, address))
    guard let known = past.step(address, since: since), known.isOver || known.leftOut != nil
    else { return nil }
    return known
  }

  /// What is recorded of a step, unless it is to be done again, or has become void.
  private func recorded(_ index: Int, in frame: Frame) -> RecordedStep? {
    let step = plan.steps[index]
    let address = frame.address(of: step.address)
    guard let known = past.steps[address], known.number > rerun.since(index, address),
      isValid(known.number, in: step.group, frame)
    else { return nil }
    return known
  }

  /// Whether all is recorded that expressions read of a step.
  private func isWhole(_ end: RecordedStep, _ step: PlannedStep) -> Bool {
    guard case .finished(let end, let kept) = end.state else { return true }
    return kept.answers(plan.values.reads(ofNode: step.node), end)
  }

  /// Why a step is not just started again: nobody knows how far it came, or it has succeeded and nobody knows
  /// what it handed on.
  func doubt(about task: StepTask) -> StepFailure? {
    guard !task.isCleanup, !isFinal(task.step.group), task.step.makesAttempts,
      !task.step.step.isMadeAgain,
      let known = recorded(task.index, in: task.frame)
    else { return nil }
    if known.isInDoubt { return .interrupted(in: past.opening?.run) }
    return known.hasSucceeded && !isWhole(known, task.step)
      ? .valuesNotRecorded(of: task.address) : nil
  }

  /// Whether a step counts as done, though nobody knows how far it came.
  func isAccepted(_ task: StepTask) -> Bool { accepted.contains(task.address) }

  /// The steps in doubt that resume does not start again by itself, in the order of their records.
  static func interrupted(_ plan: Plan, _ past: RecordedRun, _ anew: StepsAnew) -> [StepAddress] {
    let rule = StandingRule(plan: plan, past: past, anew: anew)
    return past.inDoubt.filter { address in
      guard let index = rule.addresses.step(at: address), let known = past.steps[address] else {
        return false
      }
      return known.number > rule.rerun.since(index, address) && !plan.steps[index].step.isMadeAgain
    }.sorted { past.steps[$0]?.number ?? 0 < past.steps[$1]?.number ?? 0 }
  }

  /// Until when a step waits that had begun to.
  func waitEnd(of task: StepTask) -> WallTime? {
    guard let known = recorded(task.index, in: task.frame), !known.hasSucceeded else { return nil }
    return known.waitsUntil
  }

  // MARK: Groups

  /// Whether a group has ended well, and that stands.
  func stands(_ task: GroupTask) -> Bool {
    stands(Surrounding(.group(task.index), task.frame, task.address))
  }

  func stands(_ task: FanOutTask) -> Bool { stands(Surrounding(task)) }

  /// How a group ended that has, if that stands.
  func end(of task: GroupTask) -> GroupEnd? {
    guard case .finished(let end)? = past.groups[task.address]?.state, stands(task) else {
      return nil
    }
    return end
  }

  /// Whether something that stands, or is inside of what does, began at all; `nil`: that is to be found out.
  func beginning(of task: GroupTask) -> PastBeginning? {
    beginning(of: Surrounding(.group(task.index), task.frame, task.address))
  }

  func beginning(of task: FanOutTask) -> PastBeginning? { beginning(of: Surrounding(task)) }

  private func beginning(of group: Surrounding) -> PastBeginning? {
    guard stands(group) else { return nil }
    let beginning = beginning(around: group)
    if case .skipped(let reason)? = past.step(group.address, since: beginning)?.state {
      return .skipped(reason)
    }
    if past.group(group.address, since: beginning)?.hasBegun == true { return .begun }
    // A group that never started is told of by its steps, and by what in it would have been run many times.
    let inside = steps(in: group).map { plan.steps[$0].address } + groups(in: group)
    let reasons = inside.lazy.compactMap { address -> SkipReason? in
      let address = group.frame.address(of: address)
      guard let known = past.step(address, since: beginning) else { return nil }
      if case .skipped(let reason) = known.state { return reason }
      return known.leftOut
    }
    return reasons.first.map { .skipped($0) } ?? .begun
  }

  /// Whether an element was never begun in what stands: the whole was over before.
  func wasLeftOut(_ element: Element, of task: FanOutTask) -> Bool {
    stands(task) && !wasBegun(element, of: task)
  }

  private func wasBegun(_ element: Element, of task: FanOutTask) -> Bool {
    let address = task.address.element(element.key)
    let beginning = beginning(around: Surrounding(task))
    return past.step(address, since: beginning) != nil
      || past.group(address, since: beginning) != nil
  }

  private func stands(_ group: Surrounding) -> Bool {
    outermostDone(of: [group] + surroundings(of: group)).map { !isUndone($0) } ?? false
  }

  /// For what something is run, as it was found out before.
  func listing(of task: FanOutTask) -> RecordedElements? {
    guard let known = past.groups[task.address], let elements = known.elements,
      !elements.isSecret, isValid(known.listedBy, in: task.group, task.frame),
      known.listedBy > rerun.since(Surrounding(task), isInside: { isInside($0, Surrounding(task)) })
    else { return nil }
    return elements
  }

  /// All elements that a loop has had, also those that it has no more: they may have to be cleaned up after.
  func allElements(of task: FanOutTask) -> RecordedElements {
    RecordedElements(elements: past.groups[task.address]?.allElements ?? [], isSecret: false)
  }

  // MARK: Clean-up

  /// Whether a step that was started has not been cleaned up after.
  func owesCleanup(_ task: StepTask) -> Bool {
    guard plan.bodies.cleanups[task.step.node] != nil,
      let start = past.steps[task.address]?.lastStart, start > 0
    else { return false }
    return !hasCleanup(task.step.node, in: task.frame, since: start)
  }

  /// Whether a group that was started has not been cleaned up after.
  func owesCleanup(_ task: GroupTask) -> Bool {
    let node = plan.groups[task.index].startNode
    guard plan.bodies.cleanups[node] != nil,
      let start = past.groups[task.address]?.lastStart, start > 0
    else { return false }
    return !hasCleanup(node, in: task.frame.aroundAttempts(of: node), since: start)
  }

  /// Whether something in an element may have been started that has not been cleaned up after.
  func mayOweCleanup(_ element: Element, of task: FanOutTask) -> Bool {
    task.part.nodes.contains { plan.bodies.cleanups[$0] != nil } && wasBegun(element, of: task)
  }

  /// Whether a group stands that has been cleaned up after.
  func isCleaned(_ task: GroupTask) -> Bool {
    guard stands(task), let at = doneSince(task.address) else { return false }
    let node = plan.groups[task.index].startNode
    return hasCleanup(node, in: task.frame.aroundAttempts(of: node), since: at)
  }

  /// Whether the cleanup steps of a step or group have done since a record what they do, and none is to run again.
  private func hasCleanup(_ node: Plan.NodeIndex, in frame: Frame, since at: UInt64) -> Bool {
    guard let steps = plan.bodies.cleanups[node] else { return false }
    return steps.allSatisfy { step in
      let address = frame.address(of: plan.steps[Int(step)].address)
      return past.steps[address].map {
        !$0.isPendingCleanup && $0.number > max(at, rerun.since(Int(step), address))
      } ?? false
    }
  }

  /// Whether the cleanup steps of a step or group have undone it since a record. They have, even if they are to run
  /// again.
  private func isCleaned(_ node: Plan.NodeIndex, in frame: Frame, since at: UInt64) -> Bool {
    guard let steps = plan.bodies.cleanups[node] else { return false }
    return steps.allSatisfy { step in
      let address = frame.address(of: plan.steps[Int(step)].address)
      return past.steps[address].map { $0.hasSucceeded && $0.number > at } ?? false
    }
  }

  /// The number of the record by which a group had ended well; `nil` if it had not.
  func doneSince(_ address: StepAddress) -> UInt64? {
    guard let known = past.groups[address], case .finished(let end) = known.state,
      end.conclusion == .success
    else { return nil }
    return known.number
  }

  /// Whether it has ended well, and nothing in it is to be done again.
  private func isDone(_ group: Surrounding) -> Bool {
    guard let at = doneSince(group.address), isFirstTime(group.frame),
      at > beginning(around: group), !blocked.addresses.contains(group.address)
    else { return false }
    return at > rerun.since(group, isInside: { isInside($0, group) })
  }

  /// The outermost of groups that has ended well: all that is in it stands with it, unless it is undone.
  private func outermostDone(of groups: [Surrounding]) -> Surrounding? {
    groups.last(where: isDone)
  }

  /// Whether it has been cleaned up after though something needs it that is still to be done.
  private func isUndone(_ group: Surrounding) -> Bool {
    guard let at = doneSince(group.address), case .group(let index) = group.kind else {
      return false
    }
    let frame = group.frame.aroundAttempts(of: plan.groups[index].startNode)
    return isCleaned([group] + surroundings(of: group), since: at)
      && isNeeded(plan.groups[index].endNode, in: frame)
  }

  /// Whether any of these groups has been cleaned up after since: that undoes what was done in it.
  private func isCleaned(_ groups: [Surrounding], since at: UInt64) -> Bool {
    if plan.bodies.cleanups.isEmpty { return false }
    return groups.contains { group in
      guard case .group(let index) = group.kind else { return false }
      let node = plan.groups[index].startNode
      return isCleaned(node, in: group.frame.aroundAttempts(of: node), since: at)
    }
  }

  private func steps(in group: Surrounding) -> Range<Int> {
    switch group.kind {
    case .group(let index), .fanOut(.group(let index)): plan.steps(inGroup: index)
    case .fanOut(.step(let index)): index..<index + 1
    }
  }

  /// Groups in a group.
  private func groups(in group: Surrounding) -> [StepAddress] {
    guard case .group(let index) = group.kind else { return [] }
    return plan.groups(inGroup: index).dropFirst().compactMap { plan.groups[$0].address }
  }

  /// Whether an address is of something in a group.
  private func isInside(_ address: StepAddress, _ group: Surrounding) -> Bool {
    if case .fanOut = group.kind { return address.isInElement(of: group.address) }
    guard let index = addresses.step(at: address), steps(in: group).contains(index) else { return false }
    return group.frame.element.map(address.isInside) ?? true
  }

  /// Whether someone has asked to run a step again since it was recorded.
  func isVoid(_ address: StepAddress, _ number: UInt64) -> Bool {
    addresses.step(at: address).map { number <= rerun.since($0, address) } ?? false
  }

  // MARK: What is void

  /// Whether what was recorded then has not been undone since by another attempt of a group around it, and
  /// whether this is the attempt that goes on.
  private func isValid(_ at: UInt64, in group: Int, _ frame: Frame) -> Bool {
    isFirstTime(frame) && at > beginning(of: surroundings(ofGroup: group, in: frame))
  }

  private func beginning(around group: Surrounding) -> UInt64 {
    beginning(of: surroundings(of: group))
  }

  /// The number of the record before which nothing counts in all of these groups.
  private func beginning(of groups: [Surrounding]) -> UInt64 {
    groups.lazy.compactMap { past.groups[$0.address]?.begunBy }.max() ?? 0
  }

  /// Whether no group around is being tried again since the run has been gone on with.
  private func isFirstTime(_ frame: Frame) -> Bool {
    var next: Frame? = frame
    while let frame = next {
      if case .attempt(let number) = frame.kind, number > 1 { return false }
      next = frame.parent
    }
    return true
  }

  func isFinal(_ group: Int) -> Bool {
    let final = plan.bodies.finallyGroups
    return !final.isEmpty && plan.enclosingGroups(ofGroup: group).contains(where: final.contains)
  }

}

extension RecordedStep {
  /// Whether a cleanup step has ended without having done what it does.
  fileprivate var isPendingCleanup: Bool {
    if case .skipped(let reason) = state { return reason.holdsBack }
    return !hasSucceeded
  }
}
