import WeftDefinition
import WeftEvents
import WeftPlanning

/// A step or a group of the plan.
enum PlanMember: Sendable, Hashable {
  case step(Int)
  case group(Int)

  /// The member at a node: a step, or the group that starts or ends there.
  init(at node: Plan.NodeIndex, of plan: Plan) {
    switch plan.nodes[node] {
    case .step(let index): self = .step(Int(index))
    case .groupStart(let index), .groupEnd(let index): self = .group(Int(index))
    }
  }
}

extension PlanAddresses {
  /// The step or group at an address, whichever instance it is of.
  func member(at address: StepAddress) -> PlanMember? {
    step(at: address).map { .step($0) } ?? group(at: address).map { .group($0) }
  }
}

extension Plan {
  /// The node of a step, or of the start of a group.
  func node(of member: PlanMember) -> NodeIndex {
    switch member {
    case .step(let index): steps[index].node
    case .group(let index): groups[index].startNode
    }
  }

  /// The texts of a step or group that contain expressions.
  func texts(of member: PlanMember) -> ArraySlice<PlannedText> {
    switch member {
    case .step(let index): values.texts(ofStep: index)
    case .group(let index): values.texts(ofGroup: index)
    }
  }

  /// The loop of a step or group; `nil` if it is none.
  func fanOut(of member: PlanMember) -> FanOut? {
    switch member {
    case .step(let index): steps[index].isLoop ? steps[index].control.fanOut : nil
    case .group(let index): groups[index].step?.control.fanOut
    }
  }

  /// A group itself, or the group that contains a step: the innermost one whose `env` an expression of it reads.
  func innermostGroup(of member: PlanMember) -> Int {
    switch member {
    case .step(let index): steps[index].group
    case .group(let index): index
    }
  }

  /// Whether the `if` of a loop is evaluated for each element.
  func isEvaluatedPerElement(_ member: PlanMember) -> Bool {
    switch member {
    case .step(let index): isEvaluatedPerElement(step: index)
    case .group(let index): isEvaluatedPerElement(group: index)
    }
  }

  /// A step, or the steps inside a group, at any depth.
  func steps(of member: PlanMember) -> Range<Int> {
    switch member {
    case .step(let index): index..<index + 1
    case .group(let index): steps(inGroup: index)
    }
  }
}
