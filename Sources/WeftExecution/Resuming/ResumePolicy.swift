import Synchronization
import WeftDefinition
import WeftEvents
import WeftPlanning

/// Whether an earlier engine started a group that is reusable now.
enum RecordedStart {
  case started
  case skipped(SkipReason)

  /// The reason why this engine does not start it; `nil` if it does.
  var skip: SkipReason? {
    if case .skipped(let reason) = self { reason } else { nil }
  }
}

/// Decides which steps and groups of a resumed run are reusable: kept as an earlier engine recorded them, and not run
/// again (SPEC §7).
///
/// It decides from the plan, the fold of the journal (``RunState``) and the requested reruns (``RerunSelection``), and
/// has no state of its own but the decisions on services and on loops, each of which is made once. ``RunEngine`` asks it
/// before it starts a step, a group or a loop.
///
/// - A step is reusable if it succeeded or its failure was tolerated.
/// - In a group or loop that succeeded, every step is reusable as it ended, including the losers of a race; only a
///   cleanup that did not succeed stays pending.
/// - Elsewhere, `finally` steps and cleanup steps run again.
/// - What happened in a group before its last attempt does not count.
/// - A step to be rerun on request is not reusable, and neither is a group or loop that contains it.
/// - A step or group of whose values one that has yet to run reads some that are not recorded runs again
///   (``MissingValues``).
/// - A step whose cleanup has started runs again if a step that has yet to run needs it. So does a service, which has been terminated; the cleanup of a step or group, pending or yet to run,
///   needs what the step or any member of the group does. A service that starts again needs what the steps that run do.
///
/// A class, although no decision changes: it is asked several times for each step, and copying it would take a fifth of
/// the time of a resumption.
final class ResumePolicy: Sendable {
  let plan: Plan
  let recorded: RunState
  let rerun: RerunRule
  /// Steps in doubt that the user accepts as done.
  private let accepted: Set<StepAddress>
  /// The direct dependents of each node.
  let dependents: [Int: [Int]]
  /// The step or group that each cleanup step belongs to, by the index of the cleanup step.
  private let cleaned: [Int: Plan.NodeIndex]
  let addresses: PlanAddresses
  /// The whole run.
  let outermost: Instance
  private let blocked: BlockedGroups
  let missing: MissingValues
  /// Whether each service starts again, as far as that is decided.
  let neededServices = Mutex<[StepAddress: Bool]>([:])
  /// Whether each node is done in all elements of a loop that is not done, as far as that is decided.
  let settledNodes = Mutex<[NodeInLoop: Bool]>([:])

  init(plan: Plan, recorded: RunState, rerunning: RerunSelection, missing: MissingValues) {
    (self.plan, self.recorded, self.missing) = (plan, recorded, missing)
    rerun = RerunRule(plan: plan, recorded: recorded, rerunning)
    accepted = rerunning.accepted
    dependents = plan.dependents
    addresses = PlanAddresses(plan)
    outermost = .run(of: plan)
    blocked = BlockedGroups(plan, recorded, addresses)
    cleaned = plan.bodies.cleanups.reduce(into: [:]) { cleaned, cleanup in
      for step in cleanup.value { cleaned[Int(step)] = cleanup.key }
    }
  }

  // MARK: Steps

  /// The recorded end of a step, if it is reusable; `nil` if the step has to run.
  func end(of task: StepTask) -> RecordedStep? {
    end(ofStep: task.index, in: task.instance, isCleanup: task.isCleanup)
  }

  func end(
    ofStep index: Int, in instance: Instance, isCleanup: Bool = false
  ) -> RecordedStep? {
    let step = plan.steps[index]
    let around = enclosingScopes(ofGroup: step.group, in: instance)
    if let group = outermostSucceeded(of: around) {
      if wasUndone(group) { return nil }
      // The cleanup of a step that needs it may be pending.
      if step.isService, isServiceNeeded(step, in: instance) { return nil }
      // Also counts an end from an attempt of an inner group that was to be retried, and was not.
      guard let end = ended(index, in: instance, since: beginning(around: group)) else {
        return nil
      }
      // A cleanup that failed or was cancelled stays pending, whatever is around it.
      let isPending =
        isCleanup
        ? end.isPendingCleanup || hasBegun(sinceCleanup: index, end.number, instance)
        : end.hasSucceeded
          && isUndone(end, of: step, in: instance, with: around, for: .services(nodes(in: group)))
      return isPending ? nil : end
    }
    guard let end = ended(index, in: instance, since: beginning(of: around)), isFirstTime(instance),
      !isCleanup, !plan.isFinal(step.group), end.hasSucceeded
    else { return nil }
    if step.isService, isServiceNeeded(step, in: instance) { return nil }
    if isMissing(index, in: instance) { return nil }
    return isUndone(end, of: step, in: instance, with: around, for: .all) ? nil : end
  }

  /// Whether a cleanup has undone what a step did, and these dependents need it.
  private func isUndone(
    _ end: RecordedStep, of step: PlannedStep, in instance: Instance,
    with around: [EnclosingScope], for dependents: Dependents
  ) -> Bool {
    // The cleanup of a service undoes nothing that outlives it.
    if step.isService { return false }
    return hasBegunCleanup(step.node, in: instance, since: end.number)
      && isNeeded(step.node, in: instance, by: dependents, beforeEndOf: step.group)
      || isUndone(step.node, in: instance, with: around, since: end.number, for: dependents)
  }

  /// Whether the step or group that a cleanup step belongs to started again after that cleanup, or this engine starts the
  /// step again.
  private func hasBegun(sinceCleanup index: Int, _ number: UInt64, _ instance: Instance) -> Bool {
    guard let node = cleaned[index] else { return false }
    if case .step(let step) = plan.nodes[node], startsAgain(Int(step), in: instance) { return true }
    let address = instance.address(of: plan.address(of: node))
    return recorded.steps[address]?.lastStart ?? 0 > number
      || recorded.groups[address]?.lastStart ?? 0 > number
  }

  /// The recorded end of a step, or the fact that a later engine skipped it while in doubt; `nil` if a rerun was
  /// requested.
  private func ended(_ index: Int, in instance: Instance, since beginning: UInt64) -> RecordedStep?
  {
    let address = instance.address(of: plan.steps[index].address)
    let since = max(beginning, rerun.since(index, address))
    guard let known = recorded.step(address, since: since), known.isOver || known.excluded != nil
    else { return nil }
    return known
  }

  /// The recorded state of a step; `nil` if a rerun was requested, or a later attempt of a group voided it.
  private func findRecorded(_ index: Int, in instance: Instance) -> RecordedStep? {
    let step = plan.steps[index]
    let address = instance.address(of: step.address)
    guard let known = recorded.steps[address], known.number > rerun.since(index, address),
      isValid(known.number, in: step.group, instance)
    else { return nil }
    return known
  }

  /// The reason why a step cannot simply start again: it is unknown whether it took effect, and it is not accepted as
  /// done, or it succeeded and its values were not recorded. `nil` if there is no such doubt.
  func doubtFailure(about task: StepTask) -> StepFailure? {
    guard !isRepeatable(task.index), let known = findRecorded(task.index, in: task.instance) else {
      return nil
    }
    if isInDoubt(known, task.step) {
      return known.doubtFailure ?? .inDoubt(known, in: recorded.opening?.run)
    }
    return lossFailure(of: task)
  }

  /// The reason why a step that succeeded cannot simply start again: a value of it that is needed is not recorded.
  func lossFailure(of task: StepTask) -> StepFailure? {
    guard !isRepeatable(task.index), let known = findRecorded(task.index, in: task.instance),
      lacksValues(known, task.address)
    else { return nil }
    return .valuesNotRecorded(of: task.address)
  }

  /// Whether a step succeeded, and a value of it that is needed is not recorded.
  private func lacksValues(_ known: RecordedStep, _ address: StepAddress) -> Bool {
    known.hasSucceeded && missing.addresses.contains(address)
  }

  /// Whether a step starts again whatever an earlier engine did of it.
  private func isRepeatable(_ index: Int) -> Bool {
    let step = plan.steps[index]
    return !step.kind.makesAttempts || step.step.isMadeAgain || plan.isFinal(step.group)
      || plan.bodies.cleanupSteps.contains(index)
  }

  /// Whether it is unknown if a step that is not repeatable took effect.
  private func isInDoubt(_ known: RecordedStep, _ step: PlannedStep) -> Bool {
    known.isInDoubt && !isRemembered(step, known)
  }

  /// Whether it can be found out how far an earlier engine's attempt got, so that it is not in doubt: its program was a job,
  /// and the step will be one.
  private func isRemembered(_ step: PlannedStep, _ known: RecordedStep) -> Bool {
    if known.isLeftInDoubt || known.job == nil { return false }
    return plan.runner(of: step)?.remembersCommands ?? plan.isAdoptable(step)
  }

  /// Whether the user accepts a step in doubt as done.
  func isAccepted(_ task: StepTask) -> Bool { accepted.contains(task.address) }

  /// The steps in doubt that resume does not rerun by itself, in the order of their records: also those that succeeded, and
  /// are in doubt when their values are needed.
  var interrupted: [StepAddress] {
    missing.addresses.union(recorded.inDoubt).filter { address in
      guard let index = addresses.step(at: address), !isRepeatable(index) else { return false }
      let instance = instance(around: address)
      guard let known = findRecorded(index, in: instance),
        !areDone(around: plan.steps[index].group, in: instance)
      else { return false }
      return isInDoubt(known, plan.steps[index]) || lacksValues(known, address)
    }.sorted { recorded.steps[$0]?.number ?? 0 < recorded.steps[$1]?.number ?? 0 }
  }

  /// The recorded moment at which a wait or the time limit of an approval ends; `nil` if it had not begun.
  func waitEnd(of task: StepTask) -> WallTime? {
    guard let known = findRecorded(task.index, in: task.instance), !known.hasSucceeded else {
      return nil
    }
    return known.waitsUntil
  }

  /// The record of an approval for which answers to an earlier question count; `nil` for one that has its answer, or
  /// that is to ask again.
  func openQuestion(of task: StepTask) -> RecordedStep? {
    guard let known = recorded.steps[task.address], known.isUnanswered,
      !isVoid(task.address, known.number)
    else { return nil }
    return known
  }

  // MARK: Groups

  /// Whether a group is reusable: it, or a group around it, succeeded and is not to be rerun.
  func isReusable(_ task: GroupTask) -> Bool { isReusable(EnclosingScope(task)) }

  func isReusable(_ task: LoopTask) -> Bool { isReusable(EnclosingScope(task)) }

  /// Whether the outputs of a recorded group are computed again, because their expressions have changed.
  func isRecomputed(group index: Int, in instance: Instance) -> Bool {
    guard let planned = plan.groups[index].address else { return false }
    let known = recorded.groups[instance.address(of: planned)]
    return known.map { rerun.outputsSince(planned) >= max($0.number, $0.outputsNumber) } ?? false
  }

  /// The recorded end of a group or loop, if it is reusable.
  func end(of task: GroupTask) -> GroupEnd? { end(of: EnclosingScope(task)) }

  func end(of task: LoopTask) -> GroupEnd? { end(of: EnclosingScope(task)) }

  private func end(of scope: EnclosingScope) -> GroupEnd? {
    guard let end = recorded.groups[scope.address]?.end, isReusable(scope) else { return nil }
    return end
  }

  /// Whether an earlier engine started or skipped a reusable group, or one in a reusable group; `nil` if the group is
  /// not reusable and has to be admitted.
  func beginning(of task: GroupTask) -> RecordedStart? { beginning(of: EnclosingScope(task)) }

  func beginning(of task: LoopTask) -> RecordedStart? { beginning(of: EnclosingScope(task)) }

  private func beginning(of group: EnclosingScope) -> RecordedStart? {
    guard isReusable(group) else { return nil }
    let beginning = beginning(around: group)
    if case .skipped(let reason)? = recorded.step(group.address, since: beginning)?.state {
      return .skipped(reason)
    }
    if recorded.group(group.address, since: beginning)?.hasBegun == true { return .started }
    // A group that never started has no record of its own: its steps and inner loops were recorded as skipped.
    let inside = plan.steps(of: group.member).map { plan.steps[$0].address } + groups(in: group)
    let reasons = inside.lazy.compactMap { address -> SkipReason? in
      let address = group.instance.address(of: address)
      guard let known = self.recorded.step(address, since: beginning) else { return nil }
      if case .skipped(let reason) = known.state { return reason }
      return known.excluded
    }
    return reasons.first.map { .skipped($0) } ?? .started
  }

  /// The number of failed attempts before the one in which a run was suspended, and with which it goes on; 0 if the group
  /// starts with all its attempts.
  func attemptsBefore(_ task: GroupTask) -> Int {
    guard recorded.pause != nil, isFirstTime(task.instance),
      let known = recorded.group(task.address, since: beginning(around: EnclosingScope(task))),
      case .started(let start) = known.state
    else { return 0 }
    return start.attempt - 1
  }

  /// Whether a group or loop that an earlier engine started goes on, whatever has happened around it since: it has not
  /// ended, or it failed by a step in doubt, which the decision of a join around it does not abandon.
  ///
  /// - Parameter isJoined: Whether such a join is decided.
  func goesOn(_ task: GroupTask, isJoined: Bool) -> Bool {
    goesOn(EnclosingScope(task), isJoined: isJoined)
  }

  func goesOn(_ task: LoopTask, isJoined: Bool) -> Bool {
    goesOn(EnclosingScope(task), isJoined: isJoined)
  }

  private func goesOn(_ group: EnclosingScope, isJoined: Bool) -> Bool {
    guard let known = recorded.group(group.address, since: beginning(around: group)), known.hasBegun
    else { return false }
    guard let end = known.end else { return true }
    return isJoined && end.failure?.classes.contains(.inDoubt) == true
  }

  /// The failure of a reusable group or loop that failed before anything in it could start, because of its condition, its
  /// inputs or its list; `nil` if there is none. It is not evaluated again.
  func failureAtStart(of task: GroupTask) -> StepFailure? {
    failureAtStart(of: EnclosingScope(task))
  }

  func failureAtStart(of task: LoopTask) -> StepFailure? {
    failureAtStart(of: EnclosingScope(task))
  }

  private func failureAtStart(of group: EnclosingScope) -> StepFailure? {
    guard let end = end(of: group), end.cause == nil, let failure = end.failure else { return nil }
    if group.isLoop { return recorded.groups[group.address]?.elements == nil ? failure : nil }
    return hasStartedMembers(group) ? nil : failure
  }

  /// Whether an earlier engine got as far as the members of a group.
  private func hasStartedMembers(_ group: EnclosingScope) -> Bool {
    let beginning = beginning(around: group)
    let inside = plan.steps(of: group.member).map { plan.steps[$0].address } + groups(in: group)
    return inside.contains { address in
      let address = group.instance.address(of: address)
      if recorded.group(address, since: beginning) != nil { return true }
      guard let known = recorded.step(address, since: beginning) else { return false }
      return known.excluded == nil && known.state != .skipped(.dependencyFailed(group.address))
    }
  }

  /// The members of a race or join that has not ended which succeeded and are reusable, the first to end first: they
  /// decide it before anything in it starts.
  ///
  /// Empty if something in it is to be rerun. A join with a member in doubt is decided, too, although it fails by that.
  func successes(inGroup task: GroupTask) -> [Plan.NodeIndex] {
    let scope = EnclosingScope(task)
    let since = rerun.since(scope, isInside: { isInside($0, scope) })
    let known = plan.groups[task.index].members.compactMap { node -> (Int, number: UInt64)? in
      let node = Int(node)
      return success(ofNode: node, in: task.instance).map { (node, $0) }
    }
    return known.filter { $0.number > since }.sorted { $0.number < $1.number }.map(\.0)
  }

  /// The number of the record by which a reusable step, group or loop has succeeded; `nil` if it has to run.
  private func success(ofNode node: Plan.NodeIndex, in instance: Instance) -> UInt64? {
    let address = instance.address(of: plan.address(of: node))
    let member = PlanMember(at: node, of: plan)
    if plan.fanOut(of: member) == nil, case .step(let index) = member {
      guard let end = end(ofStep: index, in: instance), end.hasSucceeded else { return nil }
      return end.number
    }
    let scope =
      switch member {
      case .group(let index) where plan.fanOut(of: member) == nil:
        EnclosingScope(group: index, instance, address)
      case .group, .step: EnclosingScope(loop: member, instance, address)
      }
    return end(of: scope)?.conclusion == .success ? recorded.groups[address]?.number : nil
  }

  /// Whether an element of a reusable loop never started, because the loop was over before.
  func wasNeverStarted(_ element: Element, of task: LoopTask) -> Bool {
    isReusable(task) && !hasStarted(element, of: task)
  }

  /// Whether an earlier engine started an element of a loop, or skipped it by itself.
  func hasStarted(_ element: Element, of task: LoopTask) -> Bool {
    let address = task.address.element(element.key)
    let beginning = beginning(around: EnclosingScope(task))
    return recorded.step(address, since: beginning) != nil
      || recorded.group(address, since: beginning) != nil
  }

  private func isReusable(_ group: EnclosingScope) -> Bool {
    isOutermostDoneKept(of: [group] + enclosingScopes(of: group))
  }

  /// Whether everything in a group is reusable with it, or with a group around it: steps that have not run stay so.
  func areDone(around group: Int, in instance: Instance) -> Bool {
    isOutermostDoneKept(of: enclosingScopes(ofGroup: group, in: instance))
  }

  /// Whether everything in the outermost of these groups that succeeded is reusable with it.
  private func isOutermostDoneKept(of groups: [EnclosingScope]) -> Bool {
    outermostSucceeded(of: groups).map { !wasUndone($0) } ?? false
  }

  /// The recorded elements of a loop; `nil` if they have to be evaluated again. Of secret elements, only the keys are
  /// recorded: enough for a loop whose elements are all restored.
  func listing(of task: LoopTask) -> RecordedElements? {
    guard let known = recorded.groups[task.address], let elements = known.elements,
      !elements.isSecret || !hasCleanups(task) && isReusable(task),
      isValid(known.listedBy, in: task.group, task.instance),
      known.listedBy
        > rerun.since(EnclosingScope(task), isInside: { isInside($0, EnclosingScope(task)) })
    else { return nil }
    return elements
  }

  private func hasCleanups(_ task: LoopTask) -> Bool {
    task.region.nodes.contains { plan.bodies.cleanups[$0] != nil }
  }

  /// Whether a loop evaluates its secret elements again although it is done: their cleanups may be pending.
  func isListedAgain(_ task: LoopTask) -> Bool {
    hasCleanups(task) && recorded.groups[task.address]?.elements?.isSecret == true
  }

  /// All elements that a loop has had, including former ones: cleanups of those may be pending.
  func allElements(of task: LoopTask) -> RecordedElements {
    RecordedElements(elements: recorded.groups[task.address]?.allElements ?? [], isSecret: false)
  }

  // MARK: Cleanup

  /// Whether the cleanup of a step or group that was started is pending.
  func hasPendingCleanup(_ member: PlanMember, in instance: Instance) -> Bool {
    let node = plan.node(of: member)
    guard plan.bodies.cleanups[node] != nil else { return false }
    let address = instance.address(of: plan.address(of: node))
    let start =
      switch member {
      case .step: recorded.steps[address]?.lastStart ?? 0
      case .group: recorded.groups[address]?.lastStart ?? 0
      }
    return start > 0 && !hasCleanup(node, in: instance, since: start)
  }

  /// Whether an element may contain pending cleanups.
  func mayHavePendingCleanup(_ element: Element, of task: LoopTask) -> Bool {
    plan.closes(in: task.region) && hasStarted(element, of: task)
  }

  /// Whether `finally` of a file that an earlier engine started is pending: a member of it has not succeeded since.
  func hasPendingFinally(_ task: GroupTask) -> Bool {
    guard let file = plan.file(runByGroup: task.index), let final = plan.files[file].finally,
      let known = recorded.groups[task.address], known.lastStart > 0
    else { return false }
    let isOpen = if case .started = known.state { true } else { false }
    guard isOpen || hasStartedMembers(EnclosingScope(task)) else { return false }
    return plan.groups[final].members.contains { node in
      let member = PlanMember(at: Int(node), of: plan)
      let address = task.instance.address(of: plan.address(of: Int(node)))
      if successNumber(address) ?? 0 > known.lastStart { return false }
      if let step = recorded.steps[address] { return isPending(step, since: known.lastStart) }
      // A group that never started: its steps were recorded as skipped.
      return plan.steps(of: member).contains { step in
        let address = task.instance.address(of: plan.steps[step].address)
        return recorded.steps[address].map { isPending($0, since: known.lastStart) } ?? true
      }
    }
  }

  private func isPending(_ known: RecordedStep, since start: UInt64) -> Bool {
    known.isPendingCleanup || known.number < start
  }

  /// Whether a group is reusable and its cleanup was done.
  func isCleaned(_ task: GroupTask) -> Bool {
    guard isReusable(task), let at = successNumber(task.address) else { return false }
    let node = plan.groups[task.index].startNode
    return hasCleanup(node, in: task.instance.aroundAttempts(of: node), since: at)
  }

  /// Whether the cleanup steps of a step or group have ended after a record, and none is pending or to be rerun.
  private func hasCleanup(_ node: Plan.NodeIndex, in instance: Instance, since at: UInt64) -> Bool {
    guard let steps = plan.bodies.cleanups[node] else { return false }
    return steps.allSatisfy { step in
      let address = instance.address(of: plan.steps[Int(step)].address)
      return recorded.steps[address].map {
        !$0.isPendingCleanup && $0.number > max(at, rerun.since(Int(step), address))
      } ?? false
    }
  }

  /// Whether the cleanup of a step or group has started since a record. From then on its effects do not count, whether
  /// the cleanup succeeded or not, and even if it is to be rerun.
  private func hasBegunCleanup(
    _ node: Plan.NodeIndex, in instance: Instance, since at: UInt64
  ) -> Bool {
    guard let steps = plan.bodies.cleanups[node] else { return false }
    return steps.contains { step in
      let address = instance.address(of: plan.steps[Int(step)].address)
      return recorded.steps[address]?.lastStart ?? 0 > at
    }
  }

  /// The number of the record of a group's success; `nil` if it did not succeed.
  func successNumber(_ address: StepAddress) -> UInt64? {
    guard let known = recorded.groups[address], known.hasSucceeded else { return nil }
    return known.number
  }

  /// Whether the group succeeded, and nothing in it has to run again.
  private func isDone(_ group: EnclosingScope) -> Bool {
    guard let at = successNumber(group.address), isFirstTime(group.instance),
      at > beginning(around: group), !blocked.addresses.contains(group.address),
      !missing.around.contains(group.address)
    else { return false }
    return at > rerun.since(group, isInside: { isInside($0, group) })
  }

  /// The outermost of the groups that is done. Everything in it is reusable with it, unless it was undone. What is done
  /// in `finally` runs again with its file.
  func outermostSucceeded(of groups: [EnclosingScope]) -> EnclosingScope? {
    groups.last { isDone($0) && !isFinal($0) }
  }

  private func isFinal(_ scope: EnclosingScope) -> Bool {
    let final = plan.bodies.finallyGroups
    if final.isEmpty { return false }
    let group = plan.innermostGroup(of: scope.member)
    return plan.allEnclosingGroups(ofGroup: group).contains(where: final.contains)
  }

  /// Whether a cleanup undid the group or loop although a step that has yet to run needs it.
  private func wasUndone(_ scope: EnclosingScope) -> Bool {
    if plan.bodies.cleanups.isEmpty { return false }
    guard let at = successNumber(scope.address) else { return false }
    let node = plan.node(of: scope.member)
    return isUndone(
      plan.closingNode(of: node), in: scope.instance.aroundAttempts(of: node),
      with: [scope] + enclosingScopes(of: scope), since: at)
  }

  /// Whether the cleanup of any of these groups, which contain a node, has undone since a record what the node did,
  /// although a step that has yet to run needs that.
  private func isUndone(
    _ node: Plan.NodeIndex, in instance: Instance, with groups: [EnclosingScope], since at: UInt64,
    for dependents: Dependents = .all
  ) -> Bool {
    if plan.bodies.cleanups.isEmpty { return false }
    return groups.contains { group in
      // Cleanups in a loop end with its elements.
      guard !group.isLoop, case .group(let index) = group.member else { return false }
      let start = plan.groups[index].startNode
      return hasBegunCleanup(start, in: group.instance.aroundAttempts(of: start), since: at)
        && isNeeded(
          node, in: instance, by: dependents, beforeEndOf: plan.groups[index].parent)
    }
  }

  private func nodes(in group: EnclosingScope) -> Range<Plan.NodeIndex> {
    let node = plan.node(of: group.member)
    return node..<plan.closingNode(of: node) + 1
  }

  /// The addresses of the groups inside a group. The top level of a file has that of the step that runs it.
  private func groups(in group: EnclosingScope) -> [StepAddress] {
    guard !group.isLoop, case .group(let index) = group.member else { return [] }
    return plan.groups(inGroup: index).dropFirst().compactMap {
      plan.groups[$0].isTopLevel ? nil : plan.groups[$0].address
    }
  }

  /// Whether an address belongs to a step in a group or loop.
  private func isInside(_ address: StepAddress, _ group: EnclosingScope) -> Bool {
    if group.isLoop { return address.isInElement(of: group.address) }
    guard let index = addresses.step(at: address), plan.steps(of: group.member).contains(index)
    else {
      return false
    }
    return group.instance.element.map(address.isInside) ?? true
  }

  /// Whether a rerun of a step was requested after this record of it.
  func isVoid(_ address: StepAddress, _ number: UInt64) -> Bool {
    addresses.step(at: address).map { number <= rerun.since($0, address) } ?? false
  }

  // MARK: Void records

  /// Whether a record is still valid: no later attempt of a group around voided it, and this engine has not tried
  /// such a group again either.
  private func isValid(_ at: UInt64, in group: Int, _ instance: Instance) -> Bool {
    isFirstTime(instance) && at > beginning(of: enclosingScopes(ofGroup: group, in: instance))
  }

  private func beginning(around group: EnclosingScope) -> UInt64 {
    beginning(of: enclosingScopes(of: group))
  }

  /// The number of the record up to which nothing counts in any of these groups: that of their latest retry.
  private func beginning(of groups: [EnclosingScope]) -> UInt64 {
    groups.lazy.compactMap { self.recorded.groups[$0.address]?.startedBy }.max() ?? 0
  }

  /// Whether no group around the instance was tried again by this engine.
  private func isFirstTime(_ instance: Instance) -> Bool {
    instance.outwards.allSatisfy { instance in
      if case .attempt(let number) = instance.kind { number <= 1 } else { true }
    }
  }
}
