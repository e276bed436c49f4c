import Synchronization
import WeftDefinition
import WeftPlanning

/// What an earlier part of the run has begun, and this one leaves out as a whole: a loop, or a group that would be
/// tried again. What is in it is told of nowhere, and is cleaned up after all the same.
extension LiveRun {
  /// - Parameter scope: Around the loop.
  func noteOwedCleanup(ofElementsOf task: FanOutTask, _ reason: SkipReason, scope: Int) {
    guard let standing, cleansUp(in: task.part), let recorded = standing.listing(of: task),
      case .success(let elements) = FanOutLister(values, task, recorded: recorded).listing()
    else { return }
    var task = task
    task.scope = scope
    for index in 0..<elements.count {
      let element = elements[index]
      guard standing.mayOweCleanup(element, of: task) else { continue }
      let frame = open(element, of: elements.count, task, nil)
      noteOwedCleanup(in: task.part.nodes, of: frame, reason, scope: scope)
      state.withLock { $0.scopes.close(frame.scope, groups: task.part.groups) }
    }
  }

  /// - Parameter scope: Around the group.
  func noteOwedCleanup(inside task: GroupTask, _ reason: SkipReason, scope: Int) {
    let part = Part(group: task.index, of: plan)
    guard standing != nil, cleansUp(in: part) else { return }
    noteOwedCleanup(in: part.nodes.dropFirst(), of: task.frame, reason, scope: scope)
  }

  private func cleansUp(in part: Part) -> Bool {
    !plan.bodies.cleanups.isEmpty && part.nodes.contains { plan.bodies.cleanups[$0] != nil }
  }

  private func noteOwedCleanup(
    in nodes: Range<Plan.NodeIndex>, of frame: Frame, _ reason: SkipReason, scope: Int
  ) {
    var node = nodes.lowerBound
    while node < nodes.upperBound {
      if let loop = loop(at: node, in: frame) {
        noteOwedCleanup(ofElementsOf: loop, reason, scope: scope)
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
    guard standing?.owesCleanup(task) == true else { return }
    noteCleanup(of: task.step.node, in: frame, scope: scope)
  }

  private func note(group: Int, in frame: Frame, _ reason: SkipReason, scope: Int) {
    let task = GroupTask(group, of: plan, in: frame)
    let node = plan.groups[group].startNode
    values.record(
      NodeValues(outcome: reason.outcome, conclusion: reason.outcome, isGroup: true),
      ofNode: node, in: frame)
    guard standing?.owesCleanup(task) == true else { return }
    noteCleanup(of: node, in: frame, scope: scope)
  }

  /// Reports, at the end of a part of the run, the steps that succeeded in an earlier part and have no event in this
  /// one: cleanups that were not repeated, and members of loops and groups that were skipped as a whole. They count as
  /// they ended.
  func restoreWhatWasNotReached() {
    guard let standing else { return }
    let told = Set(report.steps.lazy.filter { $0.state != .pending }.map(\.address))
    let planned = Set(plan.steps.map(\.address) + plan.groups.compactMap(\.address))
    let voids = VoidRecords(plan, standing.past)
    let missed = standing.past.steps.filter { address, step in
      step.hasSucceeded && !told.contains(address)
        && planned.contains(address.outermostLoop ?? address)
        && !voids.contain(address, step.number) && !standing.isVoid(address, step.number)
    }
    for (address, step) in missed.sorted(by: { $0.value.number < $1.value.number }) {
      guard case .finished(let end, _) = step.state else { continue }
      state.withLock { state in
        state.scopes.count(in: 0) { counts in
          counts.restored += 1
          counts.add(end)
        }
      }
      events.publish(.stepRestored(address, end), step: planIndex(of: address))
    }
  }

  /// What is run for many at a node, unless the frame is one of its elements.
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

/// Which records are void because a group around the step was tried again after them.
private struct VoidRecords {
  /// Groups that were tried again, each with the number of the record that says so.
  private let retried: [(group: StepAddress, since: UInt64)]
  /// The group of each step and loop that the plan has by its address, and every group.
  private var groups: [StepAddress: Int] = [:]
  private let plan: Plan

  init(_ plan: Plan, _ past: RecordedRun) {
    self.plan = plan
    retried = past.groups.filter { $0.value.begunBy > 0 }.map { ($0.key, $0.value.begunBy) }
    guard !retried.isEmpty else { return }
    for step in plan.steps { groups[step.address] = step.group }
    for (index, group) in plan.groups.enumerated() {
      if let address = group.address { groups[address] = index }
    }
  }

  /// A record in the same element as a group that was tried again counts as inside of that group.
  func contain(_ step: StepAddress, _ number: UInt64) -> Bool {
    retried.contains { group, since in
      guard number <= since else { return false }
      if step.isInside(group) { return true }
      if let element = group.innermostElement { return step.isInside(element) }
      guard let inner = groups[step.outermostLoop ?? step], let outer = groups[group] else {
        return false
      }
      return plan.enclosingGroups(ofGroup: inner).contains(outer)
    }
  }
}
