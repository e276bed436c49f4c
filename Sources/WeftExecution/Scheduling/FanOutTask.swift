import WeftDefinition
import WeftPlanning

/// One execution of a loop: a step or a group that is run once for each element, each in a frame of its own.
///
/// ``RunEngine`` makes one when the dependencies of the loop have settled.
struct FanOutTask: Sendable {
  enum Member: Sendable, Hashable {
    case step(Int)
    case group(Int)
  }

  let member: Member
  let instance: Instance
  let region: PlanRegion
  let address: StepAddress
  /// The node of the step, or of the start of the group.
  let node: Plan.NodeIndex
  /// The group that contains the loop.
  let group: Int
  /// The enclosing scope, and the loop's own, which is opened when the loop starts.
  let outerScope: Int
  var scope = 0
  let fanOut: FanOut
  let failedBefore: Bool
  /// The result of a dependency that blocks dependents. Elements get it as a dependency of their own, for those that
  /// start in spite of a failure.
  let hindrance: NodeResult?

  /// The position of the loop in the report; `nil` for a group, and for a loop inside an element, which is not in the
  /// plan by its address.
  var place: Int? {
    guard case .step(let index) = member, !instance.isInElement else { return nil }
    return index
  }

  init(_ member: Member, of plan: Plan, in instance: Instance, after results: NodeResults) {
    self.member = member
    self.instance = instance
    failedBefore = results.contains(where: \.hasFailed)
    hindrance = results.first(where: \.holdsBack)
    let control: StepControl?
    switch member {
    case .step(let index):
      region = PlanRegion(step: index, of: plan)
      group = plan.steps[index].group
      control = plan.steps[index].control
    case .group(let index):
      region = PlanRegion(group: index, of: plan)
      group = plan.groups[index].parent ?? 0
      control = plan.groups[index].step?.control
    }
    guard let node = region.member, let planned = region.address, let fanOut = control?.fanOut
    else {
      preconditionFailure("what is run for many elements says for which")
    }
    self.node = node
    self.fanOut = fanOut
    address = instance.address(of: planned)
    outerScope = instance.scope(ofGroup: group)
  }
}
