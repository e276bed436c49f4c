import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The end of the run, or of a nested file: pending cleanups, then `finally`.
extension RunEngine {
  /// Ends the run after all members of the top level have ended: pending cleanups, then `finally`.
  func close(after members: [NodeResult]) -> Future<Void, Never> {
    // Cleanups and `finally` have time limits of their own.
    let timer = state.withLock { state in
      state.isClosing = true
      return state.runTimer
    }
    timer?.cancel()
    let cleaned = cleanUp(in: 0, after: members) ?? Future(value: ())
    return cleaned.flatMap { [self] in
      let hasFailed = state.withLock { $0.scopes.firstFault != nil }
      let run = FileRun(file: 0, instance: instance, scope: 0, closed: 0)
      return runFinally(of: run, hasFailed: hasFailed)
    }
  }

  /// Runs `finally` of a nested file, whose members have ended.
  func close(_ task: GroupTask) -> Future<Void, Never> {
    guard let file = plan.file(runByGroup: task.index) else { return Future(value: ()) }
    // `finally` has a time limit of its own.
    endTimeLimit(of: task.scope)
    let hasFailed = state.withLock { $0.scopes.firstFault(ofFile: task.scope) != nil }
    let run = FileRun(file: file, instance: task.instance, scope: task.scope, closed: task.scope)
    return runFinally(of: run, hasFailed: hasFailed).map { [self] in
      respond(to: state.withLock { $0.scopes.endClosing(ofFile: task.scope) })
    }
  }

  private func runFinally(of file: FileRun, hasFailed: Bool) -> Future<Void, Never> {
    guard let index = plan.files[file.file].finally else { return Future(value: ()) }
    let region = PlanRegion(group: index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.openFinally(
        region.groups, of: plan, inFile: file.scope, closing: file.closed,
        addresses: file.instance.address(of:))
      state.closeImmediately(scope)
      return scope
    }
    let inner = Instance(attempt: 1, of: region, in: file.instance, scope: scope)
    let task = GroupTask(index, of: plan, in: inner)
    return run(task, failedBefore: hasFailed).map { [self] outcome in
      report(task, outcome)
      let survives = outcome.verdict.conclusion == .success
      state.withLock { state in
        if !survives, let fault = state.scopes.boundaryFault(of: scope) {
          state.scopes.failedAtTheEnd(fault, inFile: file.scope)
        }
      }
    }
  }

  /// Cancels `finally` and cleanups too.
  func cancelClosing() {
    let responses = state.withLock { $0.scopes.cancelDetached($0.immediateCancelReason) }
    for response in responses { respond(to: response) }
  }
}

extension RunEngine.State {
  /// The reason for killing the run at once: the signal that cancelled it, or a request. A time limit or a failure
  /// does not ask for that.
  var immediateCancelReason: CancelReason {
    if case .signal(let signal)? = scopes.runCancellation { .signal(signal) } else { .requested }
  }

  /// Cancels a scope for `finally` or cleanups right away if the run is being killed, so that nothing starts in it.
  mutating func closeImmediately(_ scope: Int) {
    if killsAtOnce { _ = scopes.cancel(scope, immediateCancelReason) }
  }
}

/// Makes the events of this engine agree with the journal when the run ends: each recorded step either counts as it
/// ended, or its record is marked as outdated.
extension RunEngine {
  /// Reports the steps that succeeded under an earlier engine and have no event under this one: cleanups that were
  /// not repeated, and members of loops and groups that were skipped as a whole. Every other step without an event is
  /// recorded as outdated.
  func settleSteps() {
    let (missed, outdated) = unreportedSteps
    for step in missed {
      events.publish(
        .stepRestored(step.address, step.end), step: logOwners.planIndex(of: step.address))
    }
    recordOutdated(outdated)
  }

  /// The counts of a run that is suspended, which makes no further events: with the steps that ``settleSteps()`` would
  /// report. Services have been terminated.
  func countsWhileSuspended(_ counts: OutcomeCounts) -> OutcomeCounts {
    unreportedSteps.missed.reduce(into: counts) { counts, step in
      if resumePolicy?.recorded.steps[step.address]?.isServing == true { return }
      counts.restored += 1
      counts.add(step.end)
    }
  }

  /// The recorded steps without an event under this engine: those that count as they succeeded, in the order of their
  /// records, and those that do not count.
  private var unreportedSteps:
    (missed: [(address: StepAddress, number: UInt64, end: StepEnd)], outdated: Set<StepAddress>)
  {
    guard let resumePolicy else { return ([], events.voidSteps) }
    let reported = events.reportedSteps
    let recorded = resumePolicy.recorded
    var missed: [(address: StepAddress, number: UInt64, end: StepEnd)] = []
    var outdated = reported.void
    let planned = Set(plan.steps.map(\.address) + plan.groups.compactMap(\.address))
    var retried = recorded.groups.mapValues(\.startedBy).filter { $0.value > 0 }
    for group in reported.retriedGroups { retried[group] = .max }
    var attempts = LaterAttempts(plan, since: retried, exemptingCleanup: false)
    let former = state.withLock { $0.formerElements }
    let isVoid = { (step: RecordedStep, address: StepAddress) in
      resumePolicy.isVoid(address, step.number) || former.contains(where: address.isInside)
    }
    for (address, step) in recorded.steps where !reported.current.contains(address) {
      if case .finished(let end, _) = step.state, step.hasSucceeded,
        !reported.void.contains(address), planned.contains(address.outermostLoop ?? address),
        !isVoid(step, address), !attempts.isVoid(address, reported: step.number)
      {
        missed.append((address, step.number, end))
      } else {
        outdated.insert(address)
      }
    }
    return (missed.sorted { $0.number < $1.number }, outdated)
  }

  private func recordOutdated(_ steps: Set<StepAddress>) {
    let sorted = steps.sorted { $0.text < $1.text }
    for start in stride(from: 0, to: sorted.count, by: 256) {
      events.record(.outdated(Array(sorted[start..<min(start + 256, sorted.count)])))
    }
  }
}

/// A pending cleanup: the cleanup steps of a step or group that was started.
struct Cleanup: Sendable {
  /// The node of the step, or the start of the group.
  let node: Plan.NodeIndex
  let instance: Instance
  /// Indices in the plan.
  let steps: Range<Int32>
}

/// A file whose `finally` runs: the workflow itself, or one that a step runs.
struct FileRun: Sendable {
  let file: Int
  let instance: Instance
  /// The scope of the step that runs the file, 0 for the workflow: a failure of `finally` fails it. For a file that this
  /// engine skips, that of the file around it.
  let scope: Int
  /// The scope whose end `finally` follows: that of the file, or the one around a file that this engine skips.
  let closed: Int
}

/// Something to be undone when the group around it ends.
enum PendingCleanup: Sendable {
  case steps(Cleanup)
  /// `finally` of a file that an earlier engine started and this one skips, and the node of the step that runs the file.
  case finally(FileRun, node: Plan.NodeIndex)
  /// A service to be terminated, by its instance number, and its node.
  case service(Int, node: Plan.NodeIndex)
}

extension [PendingCleanup] {
  /// The order in which what started in this order is undone: the last first, except that a service ends after
  /// everything that needs it.
  func undoingOrder(_ needs: (PendingCleanup, Plan.NodeIndex) -> Bool) -> [PendingCleanup] {
    var order: [PendingCleanup] = []
    for pending in self {
      guard case .service(_, let node) = pending else {
        order.insert(pending, at: 0)
        continue
      }
      // A group may have started before a service that a step in it needs.
      let last = order.lastIndex { needs($0, node) }
      order.insert(pending, at: last.map { $0 + 1 } ?? 0)
    }
    return order
  }
}

/// The cleanups of steps and groups that were started.
extension RunEngine {
  /// Records that a step or group started, so that its cleanup is pending until the group around it ends.
  func scheduleCleanup(of node: Plan.NodeIndex, in instance: Instance, scope: Int) {
    guard !plan.bodies.cleanups.isEmpty, let steps = plan.bodies.cleanups[node] else { return }
    state.withLock { state in
      state.cleanups[state.scopes.groupScope(around: scope), default: []].append(
        .steps(Cleanup(node: node, instance: instance, steps: steps)))
    }
  }

  /// Schedules the cleanup of a step that an earlier engine started and this one does not, if it is pending.
  func schedulePendingCleanup(of task: StepTask) {
    schedulePendingCleanup(of: .step(task.index), in: task.instance, scope: task.scope)
  }

  func schedulePendingCleanup(of task: GroupTask) {
    let instance = task.instance.aroundAttempts(of: plan.groups[task.index].startNode)
    let scope = instance.scope(around: task.index, of: plan)
    schedulePendingCleanup(of: .group(task.index), in: instance, scope: scope)
  }

  private func schedulePendingCleanup(
    of member: PlanMember, in instance: Instance, scope: Int
  ) {
    guard let resumePolicy, resumePolicy.hasPendingCleanup(member, in: instance) else { return }
    scheduleCleanup(of: plan.node(of: member), in: instance, scope: scope)
  }

  /// Runs the pending cleanups of a group, the last started first, one after another; `nil` if there are none.
  ///
  /// - Parameter members: The results of the group's members, all of which have ended.
  func cleanUp(in scope: Int, after members: [NodeResult]) -> Future<Void, Never>? {
    guard
      !plan.bodies.cleanups.isEmpty || !plan.bodies.services.isEmpty || resumePolicy != nil,
      let cleanups = state.withLock({ $0.cleanups.removeValue(forKey: scope) })
    else { return nil }
    let closing = state.withLock { state in
      let closing = state.scopes.openClosing(of: plan, in: scope)
      state.closeImmediately(closing)
      return closing
    }
    // Cleanups and the ends of services have limits of their own.
    endTimeLimit(of: scope)
    let hasFailed = members.contains(where: \.hasFailed)
    let order = cleanups.undoingOrder { [plan] pending, service in
      let node =
        switch pending {
        case .steps(let cleanup): cleanup.node
        case .service(_, let node), .finally(_, let node): node
        }
      return plan.bodies.services.isNeeded(service, by: plan.closingNode(of: node), in: plan)
    }
    return order.reduce(Future<Void, Never>(value: ())) { before, pending in
      switch pending {
      case .service(let number, _): before.flatMap { [self] in stopService(number) }
      // Failures around the file do not count in it.
      case .finally(let file, _):
        before.flatMap { [self] in runFinally(of: file, hasFailed: false) }
      case .steps(let cleanup):
        cleanup.steps.reduce(before) { before, step in
          before.flatMap { [self] in
            cleanUp(
              Int(step), of: cleanup, scope: closing,
              after: resultOfClosed(scope, for: cleanup, hasFailed: hasFailed))
          }
        }
      }
    }.map { [self] in
      state.withLock { state in
        state.scopes.close(closing)
        // The next attempt of the group starts them again.
        state.failedServices = state.failedServices.filter { $0.value != scope }
      }
    }
  }

  /// The result of a group for the cleanup of a member: a failure, or a cancellation if the member has lost a race.
  private func resultOfClosed(
    _ scope: Int, for cleanup: Cleanup, hasFailed: Bool
  ) -> NodeResult {
    state.withLock { state in
      // The result of a service as a member of the group is that it was ready.
      let hasFailed = hasFailed || state.failedServices.values.contains(scope)
      let hasLost = !hasFailed && state.groups.hasLost(cleanup.node, in: scope)
      return NodeResult(
        conclusion: hasLost ? .cancelled : .success, causingStep: nil, blocksDependents: false,
        failedBefore: hasFailed)
    }
  }

  /// Ends the time limit of a group whose members have ended.
  func endTimeLimit(of scope: Int) {
    state.withLock { $0.groups.endTimeLimit(scope) }?.cancel()
  }

  private func cleanUp(
    _ index: Int, of cleanup: Cleanup, scope: Int, after closed: NodeResult
  ) -> Future<Void, Never> {
    let before = NodeResults.one(closed)
    let task = StepTask(
      index, of: plan, in: cleanup.instance, scope: scope, isCleanup: true, after: before)
    return Future(launch(task, after: before, startsAlways: true)).map { [self] _ in
      state.withLock { $0.scopes.endCleanup(in: scope) }
    }
  }
}

/// Schedules cleanup, and `finally` of nested files, for loops and groups that a previous engine started and this one skips
/// as a whole. Their other steps emit no events.
extension RunEngine {
  /// Schedules the pending cleanups of a loop's elements.
  ///
  /// - Parameters:
  ///   - scope: The scope around the loop.
  ///   - keys: The elements that are not skipped.
  func schedulePendingCleanup(
    ofElementsOf task: LoopTask, _ reason: SkipReason, scope: Int, except keys: Set<String> = []
  ) {
    guard let resumePolicy, plan.closes(in: task.region),
      case .success(let elements) = LoopLister(
        values, task, recorded: resumePolicy.allElements(of: task)
      ).listing()
    else { return }
    var task = task
    task.scope = scope
    for index in 0..<elements.count {
      let element = elements[index]
      guard !keys.contains(element.key), resumePolicy.mayHavePendingCleanup(element, of: task)
      else {
        continue
      }
      let instance = open(element, of: elements.count, task, nil)
      schedulePendingCleanup(in: task.region.nodes, of: instance, reason, scope: scope)
      state.withLock { $0.scopes.close(instance.scope, groups: task.region.groups) }
    }
  }

  /// Skips the elements that an earlier engine may have started and that a loop no longer has after its list was
  /// evaluated again.
  func skipFormerElements(of task: LoopTask, now elements: LoopListing) {
    guard let resumePolicy, resumePolicy.listing(of: task) == nil else { return }
    let keys = Set((0..<elements.count).map { elements[$0].key })
    let former = resumePolicy.allElements(of: task).elements.map(\.key).filter {
      !keys.contains($0)
    }
    guard !former.isEmpty else { return }
    state.withLock { $0.formerElements += former.map { task.address.element($0) } }
    schedulePendingCleanup(
      ofElementsOf: task, .condition(of: task.address), scope: task.outerScope, except: keys)
  }

  /// Schedules the pending cleanups inside a group.
  ///
  /// - Parameter scope: The scope around the group.
  func schedulePendingCleanup(inside task: GroupTask, _ reason: SkipReason, scope: Int) {
    let region = PlanRegion(group: task.index, of: plan)
    guard resumePolicy != nil, plan.closes(in: region) else { return }
    giveInputs(to: task)
    schedulePendingFinally(of: task, scope: scope)
    schedulePendingCleanup(in: region.nodes.dropFirst(), of: task.instance, reason, scope: scope)
  }

  /// Schedules `finally` of a file that an earlier engine started, if it is pending. It runs after the cleanups in the file,
  /// which are scheduled later.
  private func schedulePendingFinally(of task: GroupTask, scope: Int) {
    guard let file = plan.file(runByGroup: task.index),
      resumePolicy?.hasPendingFinally(task) == true
    else { return }
    let node = plan.groups[task.index].startNode
    state.withLock { state in
      let closed = state.scopes.groupScope(around: scope)
      let run = FileRun(
        file: file, instance: task.instance, scope: state.scopes.file(of: closed), closed: closed)
      state.cleanups[closed, default: []].append(.finally(run, node: node))
    }
  }

  /// Whether a group is `finally` of a file, and pending: its steps run again, with their cleanups.
  private func isPendingFinally(_ index: Int, in instance: Instance) -> Bool {
    guard plan.bodies.finallyGroups.contains(index),
      let caller = plan.files.first(where: { $0.finally == index })?.caller
    else { return false }
    return resumePolicy?.hasPendingFinally(GroupTask(caller, of: plan, in: instance)) ?? false
  }

  private func schedulePendingCleanup(
    in nodes: Range<Plan.NodeIndex>, of instance: Instance, _ reason: SkipReason, scope: Int
  ) {
    var node = nodes.lowerBound
    while node < nodes.upperBound {
      if let loop = loop(at: node, in: instance) {
        schedulePendingCleanup(ofElementsOf: loop, reason, scope: scope)
        node = loop.region.nodes.upperBound
        continue
      }
      switch plan.nodes[node] {
      case .step(let index):
        values.record(.skipped(reason), ofNode: node, in: instance)
        schedulePendingCleanup(of: .step(Int(index)), in: instance, scope: scope)
      case .groupStart(let index):
        if isPendingFinally(Int(index), in: instance) {
          node = plan.groups[Int(index)].endNode
          break
        }
        let group = GroupTask(Int(index), of: plan, in: instance)
        giveInputs(to: group)
        values.record(.skipped(reason, .group), ofNode: node, in: instance)
        schedulePendingCleanup(of: .group(Int(index)), in: instance, scope: scope)
        schedulePendingFinally(of: group, scope: scope)
      case .groupEnd: break
      }
      node += 1
    }
  }

  /// The loop at a node, unless the instance is one of its elements.
  private func loop(at node: Plan.NodeIndex, in instance: Instance) -> LoopTask? {
    let member = PlanMember(at: node, of: plan)
    guard plan.node(of: member) == node, plan.fanOut(of: member) != nil,
      !instance.isElement(of: node)
    else { return nil }
    return LoopTask(member, of: plan, in: instance, after: [])
  }
}
