import WeftDefinition
import WeftPlanning

/// A step or a group that is run once for each of many elements: each is a frame of its own.
struct FanOutTask: Sendable {
  enum Member: Sendable, Hashable {
    case step(Int)
    case group(Int)
  }

  let member: Member
  let frame: Frame
  let part: Part
  let address: StepAddress
  /// The step, or the group by its start.
  let node: Plan.NodeIndex
  /// The group that it is in.
  let group: Int
  /// The scope around it, and its own, which is there once it has started.
  let outerScope: Int
  var scope = 0
  let fanOut: FanOut
  let failedBefore: Bool
  /// What a node is after that holds back those who wait for success; each element asks, if it looks for itself.
  let hindrance: NodeResult?

  /// Where the report has it as a whole; `nil` of a group, and of what the plan does not know by its address.
  var place: Int? {
    guard case .step(let index) = member, !frame.isInElement else { return nil }
    return index
  }

  init(_ member: Member, of plan: Plan, in frame: Frame, after results: NodeResults) {
    self.member = member
    self.frame = frame
    failedBefore = results.contains(where: \.hasFailed)
    hindrance = results.first(where: \.holdsBack)
    let control: StepControl?
    switch member {
    case .step(let index):
      part = Part(step: index, of: plan)
      group = plan.steps[index].group
      control = plan.steps[index].control
    case .group(let index):
      part = Part(group: index, of: plan)
      group = plan.groups[index].parent ?? 0
      control = plan.groups[index].step?.control
    }
    guard let node = part.member, let planned = part.address, let fanOut = control?.fanOut else {
      preconditionFailure("what is run for many elements says for which")
    }
    self.node = node
    self.fanOut = fanOut
    address = frame.address(of: planned)
    outerScope = frame.scope(ofGroup: group)
  }
}
