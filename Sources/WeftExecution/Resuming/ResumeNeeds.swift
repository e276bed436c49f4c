import Synchronization
import WeftDefinition
package import WeftEvents
import WeftExpressions
package import WeftPlanning

/// Decides whether the result of a step or group is still needed by a step that has yet to run.
///
/// ``ResumePolicy`` asks it before it reruns something whose values are not recorded, or whose effects were
/// undone by a cleanup, and ``OutputVerification`` before it checks files.
extension ResumePolicy {
  /// The dependents that make a rerun necessary.
  enum Dependents {
    case all
    /// Only services that start again, of these nodes: other steps of a group that is done do not run, done or not.
    case services(Range<Plan.NodeIndex>)
  }

  /// Whether a direct or indirect dependent of a node is not done, or is a service that starts again.
  ///
  /// - Parameter group: A group at whose end a cleanup undoes what the node does: the dependents of the group do not
  ///   count. `nil` if all count.
  func isNeeded(
    _ node: Plan.NodeIndex, in instance: Instance, by dependents: Dependents = .all,
    beforeEndOf group: Int? = nil
  ) -> Bool {
    var nodes = plan.nodes.indices
    if case .services(let range) = dependents {
      if plan.bodies.services.isEmpty { return false }
      nodes = range
    }
    var (seen, next) = (Set([node]), [node])
    if let group { seen.insert(plan.groups[group].endNode) }
    while let node = next.popLast() {
      for dependent in self.dependents[node] ?? []
      where nodes.contains(dependent) && seen.insert(dependent).inserted {
        switch dependents {
        case .all: if hasYetToRun(dependent, seenFrom: instance) { return true }
        case .services: if isServiceNeeded(atNode: dependent, seenFrom: instance) { return true }
        }
        next.append(dependent)
      }
    }
    return false
  }

  /// Whether a step is not done, or is a service that starts again, as seen from an instance.
  func hasYetToRun(_ node: Plan.NodeIndex, seenFrom instance: Instance) -> Bool {
    !isSettled(node, seenFrom: instance) || isServiceNeeded(atNode: node, seenFrom: instance)
  }

  /// Whether a node is a service that was ready and starts again, in any element of loops inside an instance.
  private func isServiceNeeded(atNode node: Plan.NodeIndex, seenFrom inner: Instance) -> Bool {
    guard !plan.bodies.services.isEmpty, case .step(let index) = plan.nodes[node],
      plan.steps[Int(index)].isService
    else { return false }
    let service = plan.steps[Int(index)]
    return anySucceeded(Int(index), seenFrom: inner) { isServiceNeeded(service, in: $0) }
  }

  /// Whether a step that has succeeded starts again nevertheless, for example because a cleanup has undone it; in any
  /// element of loops inside an instance.
  func startsAgain(_ index: Int, seenFrom instance: Instance) -> Bool {
    !plan.bodies.cleanups.isEmpty
      && anySucceeded(index, seenFrom: instance) { startsAgain(index, in: $0) }
  }

  func startsAgain(_ index: Int, in instance: Instance) -> Bool {
    succeeded(index, in: instance) && end(ofStep: index, in: instance) == nil
  }

  /// Whether a step has succeeded and meets a condition, in any element of loops inside an instance.
  private func anySucceeded(
    _ index: Int, seenFrom inner: Instance, where isMeant: (Instance) -> Bool
  ) -> Bool {
    let node = plan.steps[index].node
    let instance = inner.around(node)
    if outermostLoop(around: index, below: instance) == nil {
      return succeeded(index, in: instance) && isMeant(instance)
    }
    return starts(of: node).contains { address, _ in
      (instance.element.map(address.isInside) ?? true)
        && recorded.steps[address]?.hasSucceeded == true
        && isMeant(self.instance(around: address))
    }
  }

  /// Whether a step that needs a service, directly or not, may run, or is still to be cleaned up.
  ///
  /// Such a step may itself run for a service that depends on it, and so on. Dependents come later in the plan, so the
  /// recursion ends, and each service is decided once.
  func isServiceNeeded(_ service: PlannedStep, in instance: Instance) -> Bool {
    let address = instance.address(of: service.address)
    if let known = neededServices.withLock({ $0[address] }) { return known }
    let isNeeded = hasUser(service, in: instance)
    neededServices.withLock { $0[address] = isNeeded }
    return isNeeded
  }

  private func hasUser(_ service: PlannedStep, in instance: Instance) -> Bool {
    plan.bodies.services.users(of: service.node).contains { node in
      let around = instance.around(node)
      switch plan.nodes[node] {
      case .groupStart: return false
      case .groupEnd(let group):
        return hasPendingCleanup(of: plan.groups[Int(group)].startNode, inside: instance)
          || isCleanedAgain(Int(group), inside: instance)
      case .step(let index):
        if hasPendingCleanup(of: node, inside: instance) { return true }
        if areDone(around: plan.steps[Int(index)].group, in: around) { return false }
        if let loop = outermostLoop(around: Int(index), below: around) {
          let address = around.address(of: plan.address(of: plan.node(of: loop)))
          let done = successNumber(address) ?? 0
          if isRerun(Int(index), inside: address, of: around, since: done) { return true }
        } else {
          let task = StepTask(Int(index), of: plan, in: around, after: [])
          if end(of: task) != nil { return false }
          if succeeded(Int(index), in: around) { return true }
        }
        return !isSettled(node, seenFrom: instance, asking: Set(StatusFunction.allCases))
      }
    }
  }

  /// Whether a rerun of a step, or of any instance of it inside an instance, was requested since a record of it or of a
  /// loop or group around it.
  private func isRerun(
    _ index: Int, inside loop: StepAddress, of instance: Instance, since number: UInt64
  ) -> Bool {
    let scope = EnclosingScope(loop: .step(index), instance, loop)
    let since = rerun.since(scope) {
      addresses.step(at: $0) == index && (instance.element.map($0.isInside) ?? true)
    }
    return since > 0 && since >= number
  }

  /// Whether a cleanup of a step or group is pending, in any element of loops inside an instance.
  private func hasPendingCleanup(of node: Plan.NodeIndex, inside instance: Instance) -> Bool {
    guard let cleanups = plan.bodies.cleanups[node] else { return false }
    return starts(of: node).contains { address, start in
      (instance.element.map(address.isInside) ?? true)
        && cleanups.contains { isPending(cleanup: Int($0), of: address, since: start) }
    }
  }

  /// Whether a group with a cleanup has begun and is not done, in any element of loops inside an instance: its cleanup,
  /// which needs what its members need, runs again although some of them are done.
  private func isCleanedAgain(_ group: Int, inside instance: Instance) -> Bool {
    let node = plan.groups[group].startNode
    guard plan.bodies.cleanups[node] != nil else { return false }
    return starts(of: node).contains { address, _ in
      (instance.element.map(address.isInside) ?? true)
        && recorded.groups[address]?.hasBegun == true
        && !areDone(around: group, in: self.instance(around: address))
    }
  }

  /// Whether a cleanup step of a recorded step or group is pending since its start.
  private func isPending(
    cleanup index: Int, of address: StepAddress, since start: UInt64
  ) -> Bool {
    start > 0
      && !addresses.instances(of: plan.steps[index].address, around: address).contains {
        let since = max(start, rerun.since(index, $0))
        return recorded.steps[$0].map { !$0.isPendingCleanup && $0.number > since } ?? false
      }
  }

  /// The recorded steps and groups with a pending cleanup step whose address in the plan is none of these.
  fileprivate func stepsWithPendingCleanup(except known: Set<StepAddress>) -> [StepAddress] {
    plan.bodies.cleanups.sorted { $0.key < $1.key }.flatMap { node, cleanups in
      let lost = cleanups.filter { !known.contains(plan.steps[Int($0)].address) }
      if lost.isEmpty { return [StepAddress]() }
      return starts(of: node).filter { address, start in
        lost.contains { isPending(cleanup: Int($0), of: address, since: start) }
      }.map(\.0)
    }
  }

  /// The recorded instances of a step or group, each with the number of its last start. A loop has its elements.
  private func starts(of node: Plan.NodeIndex) -> [(StepAddress, UInt64)] {
    switch plan.nodes[node] {
    case .step(let index):
      recorded.steps.filter { addresses.step(at: $0.address) == Int(index) }
        .map { ($0.address, $0.step.lastStart) }
    case .groupStart(let group), .groupEnd(let group):
      recorded.groups.filter { address, _ in
        addresses.group(at: address) == Int(group)
          && (!plan.groups[Int(group)].isLoop || address.loop != nil)
      }.map { ($0.key, $0.value.lastStart) }
    }
  }

  /// Whether a step is recorded as a success, reusable or not.
  func succeeded(_ index: Int, in instance: Instance) -> Bool {
    recorded.steps[instance.address(of: plan.steps[index].address)]?.hasSucceeded ?? false
  }

  /// Whether a condition skipped a step or a group around it, and may be true now: it calls one of these functions, or a
  /// step before it has yet to run.
  private func mayBeAdmitted(
    _ index: Int, in instance: Instance, asking functions: Set<StatusFunction>
  ) -> Bool {
    guard isSkippedByCondition(index, in: instance) else { return false }
    if asks(functions, index) { return true }
    let node = plan.steps[index].node
    var (seen, next) = (Set([node]), [node])
    while let node = next.popLast() {
      for need in plan.dependencies[node] where seen.insert(Int(need)).inserted {
        guard case .step(let index) = plan.nodes[Int(need)] else {
          next.append(Int(need))
          continue
        }
        let around = instance.around(Int(need))
        if !hasEnded(Int(index), in: around)
          || asks(functions, Int(index)) && isSkippedByCondition(Int(index), in: around)
        {
          return true
        }
        next.append(Int(need))
      }
    }
    return false
  }

  /// Whether the condition of a step, or of a group around it, calls one of these functions.
  private func asks(_ functions: Set<StatusFunction>, _ index: Int) -> Bool {
    let groups = plan.allEnclosingGroups(ofGroup: plan.steps[index].group)
    return ([plan.values.texts(ofStep: index)] + groups.map { plan.values.texts(ofGroup: $0) })
      .contains { StartCondition($0)?.functions.isDisjoint(with: functions) == false }
  }

  private func isSkippedByCondition(_ index: Int, in instance: Instance) -> Bool {
    guard !isClosing(index), success(ofStep: index, in: instance) == nil,
      case .condition? = skip(ofStep: index, in: instance)?.reason
    else { return false }
    return !isDone(around: index, in: instance)
  }

  /// Whether a node is done, by itself or with a group around it, as seen from an instance outside of inner loops: with a
  /// loop, or in each of its elements. One that a condition has skipped is not if it may run now.
  ///
  /// - Parameter functions: Those whose value may be a different one now.
  private func isSettled(
    _ node: Plan.NodeIndex, seenFrom inner: Instance,
    asking functions: Set<StatusFunction> = [.cancelled]
  ) -> Bool {
    guard case .step(let index) = plan.nodes[node] else { return true }
    let instance = inner.around(node)
    if hasEnded(Int(index), in: instance) {
      return !mayBeAdmitted(Int(index), in: instance, asking: functions)
    }
    guard let member = outermostLoop(around: Int(index), below: instance) else { return false }
    return isSettled(
      node, inElementsOf: LoopTask(member, of: plan, in: instance, after: []), asking: functions)
  }

  /// Whether a node is done in each element of a loop that is not done. Decided once for each node of a loop: many steps
  /// may ask, and a loop may have many elements.
  private func isSettled(
    _ node: Plan.NodeIndex, inElementsOf loop: LoopTask, asking functions: Set<StatusFunction>
  ) -> Bool {
    guard let listing = listing(of: loop) else { return false }
    let key = NodeInLoop(loop: loop.address, node: node, functions: functions)
    if let known = settledNodes.withLock({ $0[key] }) { return known }
    // The last elements are the first that are not done.
    let isSettled = listing.elements.reversed().allSatisfy { element in
      self.isSettled(
        node, seenFrom: instance(around: loop.address.element(element.key)), asking: functions)
    }
    settledNodes.withLock { $0[key] = isSettled }
    return isSettled
  }

  /// A node of the plan, in a loop of a run, and the functions whose value may be a different one now.
  struct NodeInLoop: Hashable {
    let loop: StepAddress
    let node: Plan.NodeIndex
    let functions: Set<StatusFunction>
  }

  /// Whether a group around a step has succeeded, in which steps that have not run stay so.
  private func isDone(around index: Int, in instance: Instance) -> Bool {
    outermostSucceeded(of: enclosingScopes(ofGroup: plan.steps[index].group, in: instance)) != nil
  }

  /// Whether the records of a step, or of what is around it, show that it succeeded or needs no results.
  private func hasEnded(_ index: Int, in instance: Instance) -> Bool {
    if isClosing(index) { return true }
    if isMissing(index, in: instance) { return false }
    // A step that its own `if` skips needs no results.
    let known =
      success(ofStep: index, in: instance)
      ?? skip(ofStep: index, in: instance).flatMap { skip in
        skip.reason.blocksDependents ? nil : (skip.address, skip.number)
      }
    if let known, !isRerun(index, inside: known.address, of: instance, since: known.number) {
      return true
    }
    return isDone(around: index, in: instance)
  }

  /// Whether it is a cleanup or in `finally`: such a step runs after the others, and reads nothing of them.
  private func isClosing(_ index: Int) -> Bool {
    plan.isFinal(plan.steps[index].group) || plan.bodies.cleanupSteps.contains(index)
  }

  /// The recorded success of a step, or of the outermost loop around it.
  private func success(
    ofStep index: Int, in instance: Instance
  ) -> (address: StepAddress, number: UInt64)? {
    if let loop = outermostLoop(around: index, below: instance) {
      let address = instance.address(of: plan.address(of: plan.node(of: loop)))
      return successNumber(address).map { (address, $0) }
    }
    let address = instance.address(of: plan.steps[index].address)
    guard let known = recorded.steps[address], known.hasSucceeded else { return nil }
    return (address, known.number)
  }

  /// The recorded skip of a step, or of the outermost group or loop around it that was skipped as a whole since.
  private func skip(
    ofStep index: Int, in instance: Instance
  ) -> (address: StepAddress, reason: SkipReason, number: UInt64)? {
    let own = instance.address(of: plan.steps[index].address)
    let last = recorded.steps[own]?.number ?? 0
    let around = enclosingScopes(ofGroup: plan.steps[index].group, in: instance).map(\.address)
    return ([own] + around).lazy.compactMap { [recorded] address in
      guard let known = recorded.steps[address], known.number >= last,
        case .skipped(let reason) = known.state
      else { return nil }
      return (address, reason, known.number)
    }.last
  }

  /// The outermost loop around a step, or of the step itself, that does not contain the instance.
  private func outermostLoop(around index: Int, below instance: Instance) -> PlanMember? {
    var found: PlanMember?
    let step = plan.steps[index]
    if step.isLoop, !instance.isElement(of: step.node) {
      found = .step(index)
    }
    for group in plan.allEnclosingGroups(ofGroup: step.group) where group > 0 {
      let node = plan.groups[group].startNode
      if instance.isElement(of: node) || !instance.region.groups.contains(group) { break }
      if plan.groups[group].isLoop { found = .group(group) }
    }
    return found
  }
}

extension Plan {
  /// The steps and groups of an earlier version of the workflow whose cleanup is pending, and no longer exists.
  package func cleanupsLost(from old: Plan, after recorded: RunState) -> [StepAddress] {
    ResumePolicy(plan: old, recorded: recorded)
      .stepsWithPendingCleanup(except: Set(steps.map(\.address)))
  }
}
