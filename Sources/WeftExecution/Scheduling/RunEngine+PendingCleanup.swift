import Synchronization
import WeftDefinition
import WeftPlanning

/// Schedules cleanup for loops and retried groups that a previous engine started and this one skips as a whole. Their
/// steps emit no events.
extension RunEngine {
  /// Schedules the pending cleanups of a loop's elements.
  ///
  /// - Parameters:
  ///   - scope: The scope around the loop.
  ///   - keys: The elements that are not skipped.
  func schedulePendingCleanup(
    ofElementsOf task: FanOutTask, _ reason: SkipReason, scope: Int, except keys: Set<String> = []
  ) {
    guard let standing, cleansUp(in: task.part),
      case .success(let elements) = FanOutLister(
        values, task, recorded: standing.allElements(of: task)
      ).listing()
    else { return }
    var task = task
    task.scope = scope
    for index in 0..<elements.count {
      let element = elements[index]
      guard !keys.contains(element.key), standing.mayHavePendingCleanup(element, of: task) else {
        continue
      }
      let frame = open(element, of: elements.count, task, nil)
      schedulePendingCleanup(in: task.part.nodes, of: frame, reason, scope: scope)
      state.withLock { $0.scopes.close(frame.scope, groups: task.part.groups) }
    }
  }

  /// Skips the elements that an earlier engine may have started and that a loop no longer has after its list was
  /// evaluated again.
  func leaveOutFormerElements(of task: FanOutTask, now elements: FanOutListing) {
    guard let standing, standing.listing(of: task) == nil else { return }
    let keys = Set((0..<elements.count).map { elements[$0].key })
    let former = standing.allElements(of: task).elements.map(\.key).filter { !keys.contains($0) }
    guard !former.isEmpty else { return }
    state.withLock { $0.formerElements += former.map { task.address.element($0) } }
    schedulePendingCleanup(
      ofElementsOf: task, .condition(of: task.address), scope: task.outerScope, except: keys)
  }

  /// Schedules the pending cleanups inside a group.
  ///
  /// - Parameter scope: The scope around the group.
  func schedulePendingCleanup(inside task: GroupTask, _ reason: SkipReason, scope: Int) {
    let part = Part(group: task.index, of: plan)
    guard standing != nil, cleansUp(in: part) else { return }
    giveInputs(to: task)
    schedulePendingCleanup(in: part.nodes.dropFirst(), of: task.frame, reason, scope: scope)
  }

  private func cleansUp(in part: Part) -> Bool {
    !plan.bodies.cleanups.isEmpty && part.nodes.contains { plan.bodies.cleanups[$0] != nil }
  }

  private func schedulePendingCleanup(
    in nodes: Range<Plan.NodeIndex>, of frame: Frame, _ reason: SkipReason, scope: Int
  ) {
    var node = nodes.lowerBound
    while node < nodes.upperBound {
      if let loop = loop(at: node, in: frame) {
        schedulePendingCleanup(ofElementsOf: loop, reason, scope: scope)
        node = loop.part.nodes.upperBound
        continue
      }
      switch plan.nodes[node] {
      case .step(let index): note(Int(index), in: frame, reason, scope: scope)
      case .groupStart(let index): note(group: Int(index), in: frame, reason, scope: scope)
      case .groupEnd: break
      }
      node += 1
    }
  }

  private func note(_ step: Int, in frame: Frame, _ reason: SkipReason, scope: Int) {
    let task = StepTask(step, of: plan, in: frame, after: [])
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome), ofNode: task.step.node,
      in: frame)
    guard standing?.hasPendingCleanup(task) == true else { return }
    scheduleCleanup(of: task.step.node, in: frame, scope: scope)
  }

  private func note(group: Int, in frame: Frame, _ reason: SkipReason, scope: Int) {
    let task = GroupTask(group, of: plan, in: frame)
    let node = plan.groups[group].startNode
    giveInputs(to: task)
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome, isGroup: true),
      ofNode: node, in: frame)
    guard standing?.hasPendingCleanup(task) == true else { return }
    scheduleCleanup(of: node, in: frame, scope: scope)
  }

  /// The loop at a node, unless the frame is one of its elements.
  private func loop(at node: Plan.NodeIndex, in frame: Frame) -> FanOutTask? {
    if frame.isElement(of: node) { return nil }
    switch plan.nodes[node] {
    case .step(let index) where plan.steps[Int(index)].hasControl:
      guard plan.steps[Int(index)].control.fanOut != nil else { return nil }
      return FanOutTask(.step(Int(index)), of: plan, in: frame, after: [])
    case .groupStart(let index):
      guard plan.groups[Int(index)].step?.control.fanOut != nil else { return nil }
      return FanOutTask(.group(Int(index)), of: plan, in: frame, after: [])
    case .step, .groupEnd: return nil
    }
  }
}
