import WeftDefinition
import WeftPlanning

/// Groups that were tried again, each with a number since when: what was told before of a step inside has not happened.
struct LaterAttempts {
  private let plan: Plan
  private(set) var since: [StepAddress: UInt64]
  /// Where the plan has a step, or a loop that can be skipped as a whole: the group around it.
  private lazy var groups = places()
  private let sparesCleanup: Bool

  /// - Parameter sparesCleanup: Whether what has cleaned up has, whatever follows.
  init(_ plan: Plan, since: [StepAddress: UInt64] = [:], sparingCleanup sparesCleanup: Bool) {
    (self.plan, self.since, self.sparesCleanup) = (plan, since, sparesCleanup)
  }

  mutating func begin(_ group: StepAddress, at number: UInt64) { since[group] = number }

  /// Whether a later attempt of a group around the step has made void what was told of it then.
  mutating func makeVoid(_ step: StepAddress, told number: UInt64) -> Bool {
    guard !since.isEmpty, let place = groups[planned(step)] else { return false }
    let elements = elements(around: step)
    for group in plan.allEnclosingGroups(ofGroup: place) {
      guard let known = address(of: group, in: elements), let begun = since[known] else { continue }
      if number <= begun { return true }
    }
    return false
  }

  private mutating func planned(_ address: StepAddress) -> StepAddress {
    if !address.hasElement { return address }
    let groups = groups
    return address.planned { groups[$0] != nil }
  }

  /// The elements that an address is in, the outermost first.
  private func elements(around address: StepAddress) -> [StepAddress] {
    var found: [StepAddress] = []
    var next = address.innermostElement
    while let element = next {
      found.append(element)
      next = element.loop?.innermostElement
    }
    return found.reversed()
  }

  /// The address of a group around something in these elements; `nil` if it is in more of them.
  private func address(of group: Int, in elements: [StepAddress]) -> StepAddress? {
    guard let planned = plan.groups[group].address else { return nil }
    let loops = plan.allEnclosingGroups(ofGroup: group).compactMap { index -> StepAddress? in
      let group = plan.groups[index]
      return group.step?.hasControl == true && group.step?.control.fanOut != nil
        ? group.address : nil
    }
    guard let loop = loops.first else { return planned }
    guard loops.count <= elements.count else { return nil }
    return elements[loops.count - 1].inElement(planned, of: loop)
  }

  private mutating func places() -> [StepAddress: Int] {
    var places: [StepAddress: Int] = [:]
    let cleanups =
      sparesCleanup ? Set(plan.bodies.cleanups.values.joined().map(Int.init)) : []
    for (index, step) in plan.steps.enumerated() where !cleanups.contains(index) {
      places[step.address] = step.group
    }
    for group in plan.groups where !group.isTopLevel {
      if let address = group.address { places[address] = group.parent }
    }
    return places
  }
}
