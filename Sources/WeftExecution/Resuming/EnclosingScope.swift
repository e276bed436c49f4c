import WeftDefinition
import WeftPlanning

/// A group or loop around a step, with the frame that contains it.
struct EnclosingScope {
  enum Kind: Equatable {
    case group(Int)
    case fanOut(FanOutTask.Member)
  }

  let kind: Kind
  /// The frame that contains the group or loop.
  let instance: Instance
  let address: StepAddress

  init(_ kind: Kind, _ instance: Instance, _ address: StepAddress) {
    (self.kind, self.instance, self.address) = (kind, instance, address)
  }

  init(_ task: FanOutTask) { self.init(.fanOut(task.member), task.instance, task.address) }
}

/// The groups and loops around a step or group.
extension ResumePolicy {
  /// The groups around a group and the group itself, and the loops around them, from the innermost outwards.
  ///
  /// - Parameter frame: A frame that contains the group.
  func enclosingScopes(ofGroup group: Int, in instance: Instance) -> [EnclosingScope] {
    var found: [EnclosingScope] = []
    var (group, instance) = (group, instance)
    while true {
      // The groups outside the frame's region are in its parent.
      while !instance.region.groups.contains(group), let parent = instance.parent {
        if case .element = instance.kind, let address = instance.region.address {
          found.append(
            EnclosingScope(
              .fanOut(instance.region.memberOfFanOut(in: plan)), parent, parent.address(of: address)
            ))
        }
        instance = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(EnclosingScope(.group(group), instance, instance.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  func enclosingScopes(of inner: EnclosingScope) -> [EnclosingScope] {
    switch inner.kind {
    case .group(let index):
      enclosingScopes(ofGroup: plan.groups[index].parent ?? 0, in: inner.instance)
    case .fanOut(.group(let index)):
      enclosingScopes(ofGroup: plan.groups[index].parent ?? 0, in: inner.instance)
    case .fanOut(.step(let index)):
      enclosingScopes(ofGroup: plan.steps[index].group, in: inner.instance)
    }
  }
}

extension PlanRegion {
  /// The loop whose element has this region.
  fileprivate func memberOfFanOut(in plan: Plan) -> FanOutTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
  }
}
