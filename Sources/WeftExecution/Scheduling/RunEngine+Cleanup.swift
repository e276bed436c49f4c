import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A pending cleanup: the cleanup steps of a step or group that was started.
struct Cleanup: Sendable {
  let instance: Instance
  /// Indices in the plan.
  let steps: Range<Int32>
}

/// The cleanups of steps and groups that were started.
extension RunEngine {
  /// Records that a step or group started, so that its cleanup is pending until the group around it ends.
  func scheduleCleanup(of node: Plan.NodeIndex, in instance: Instance, scope: Int) {
    guard !plan.bodies.cleanups.isEmpty, let steps = plan.bodies.cleanups[node] else { return }
    state.withLock { state in
      state.cleanups[state.scopes.groupScope(around: scope), default: []].append(
        Cleanup(instance: instance, steps: steps))
    }
  }

  /// Schedules the cleanup of a step that an earlier engine started and this one does not, if it is pending.
  func schedulePendingCleanup(of task: StepTask) {
    guard let resumePolicy, resumePolicy.hasPendingCleanup(task) else { return }
    scheduleCleanup(of: task.step.node, in: task.instance, scope: task.scope)
  }

  func schedulePendingCleanup(of task: GroupTask) {
    guard let resumePolicy, resumePolicy.hasPendingCleanup(task) else { return }
    let node = plan.groups[task.index].startNode
    let instance = task.instance.aroundAttempts(of: node)
    scheduleCleanup(of: node, in: instance, scope: instance.scope(around: task.index, of: plan))
  }

  /// Runs the pending cleanups of a group, the last started first, one after another; `nil` if there are none.
  ///
  /// - Parameter members: The results of the group's members, all of which have ended.
  func cleanUp(in scope: Int, after members: [NodeResult]) -> Future<Void, Never>? {
    guard !plan.bodies.cleanups.isEmpty,
      let cleanups = state.withLock({ $0.cleanups.removeValue(forKey: scope) })
    else { return nil }
    let closing = state.withLock { state in
      let closing = state.scopes.openClosing(of: plan, in: scope)
      state.closeImmediately(closing)
      return closing
    }
    let hasFailed = members.contains(where: \.hasFailed)
    return cleanups.reversed().reduce(Future<Void, Never>(value: ())) { before, cleanup in
      cleanup.steps.reduce(before) { before, step in
        before.flatMap { [self] in
          cleanUp(Int(step), in: cleanup.instance, scope: closing, hasFailed: hasFailed)
        }
      }
    }.map { [self] in
      state.withLock { $0.scopes.close(closing) }
    }
  }

  private func cleanUp(
    _ index: Int, in instance: Instance, scope: Int, hasFailed: Bool
  ) -> Future<Void, Never> {
    let before = NodeResults.one(
      NodeResult(conclusion: .success, causingStep: nil, failedBefore: hasFailed))
    let task = StepTask(
      index, of: plan, in: instance, scope: scope, isCleanup: true, after: before)
    return Future(launch(task, after: before, startsAlways: true)).map { [self] _ in
      state.withLock { $0.scopes.endCleanup(in: scope) }
    }
  }
}

/// Schedules cleanup for loops and retried groups that a previous engine started and this one skips as a whole. Their
/// steps emit no events.
extension RunEngine {
  /// Schedules the pending cleanups of a loop's elements.
  ///
  /// - Parameters:
  ///   - scope: The scope around the loop.
  ///   - keys: The elements that are not skipped.
  func schedulePendingCleanup(
    ofElementsOf task: LoopTask, _ reason: SkipReason, scope: Int, except keys: Set<String> = []
  ) {
    guard let resumePolicy, cleansUp(in: task.region),
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
    guard resumePolicy != nil, cleansUp(in: region) else { return }
    giveInputs(to: task)
    schedulePendingCleanup(in: region.nodes.dropFirst(), of: task.instance, reason, scope: scope)
  }

  private func cleansUp(in region: PlanRegion) -> Bool {
    !plan.bodies.cleanups.isEmpty && region.nodes.contains { plan.bodies.cleanups[$0] != nil }
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
      case .step(let index): record(Int(index), in: instance, reason, scope: scope)
      case .groupStart(let index): record(group: Int(index), in: instance, reason, scope: scope)
      case .groupEnd: break
      }
      node += 1
    }
  }

  private func record(_ step: Int, in instance: Instance, _ reason: SkipReason, scope: Int) {
    let task = StepTask(step, of: plan, in: instance, after: [])
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome), ofNode: task.step.node,
      in: instance)
    guard resumePolicy?.hasPendingCleanup(task) == true else { return }
    scheduleCleanup(of: task.step.node, in: instance, scope: scope)
  }

  private func record(group: Int, in instance: Instance, _ reason: SkipReason, scope: Int) {
    let task = GroupTask(group, of: plan, in: instance)
    let node = plan.groups[group].startNode
    giveInputs(to: task)
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome, shape: .group),
      ofNode: node, in: instance)
    guard resumePolicy?.hasPendingCleanup(task) == true else { return }
    scheduleCleanup(of: node, in: instance, scope: scope)
  }

  /// The loop at a node, unless the instance is one of its elements.
  private func loop(at node: Plan.NodeIndex, in instance: Instance) -> LoopTask? {
    if instance.isElement(of: node) { return nil }
    switch plan.nodes[node] {
    case .step(let index) where plan.steps[Int(index)].hasControl:
      guard plan.steps[Int(index)].control.fanOut != nil else { return nil }
      return LoopTask(.step(Int(index)), of: plan, in: instance, after: [])
    case .groupStart(let index):
      guard plan.groups[Int(index)].step?.control.fanOut != nil else { return nil }
      return LoopTask(.group(Int(index)), of: plan, in: instance, after: [])
    case .step, .groupEnd: return nil
    }
  }
}
