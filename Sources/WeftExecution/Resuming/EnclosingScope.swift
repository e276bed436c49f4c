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
  let frame: Frame
  let address: StepAddress

  init(_ kind: Kind, _ frame: Frame, _ address: StepAddress) {
    (self.kind, self.frame, self.address) = (kind, frame, address)
  }

  init(_ task: FanOutTask) { self.init(.fanOut(task.member), task.frame, task.address) }
}

/// The groups and loops around a step or group.
extension ResumePolicy {
  /// The groups around a group and the group itself, and the loops around them, from the innermost outwards.
  ///
  /// - Parameter frame: A frame that contains the group.
  func surroundings(ofGroup group: Int, in frame: Frame) -> [EnclosingScope] {
    var found: [EnclosingScope] = []
    var (group, frame) = (group, frame)
    while true {
      // The groups outside the frame's region are in its parent.
      while !frame.part.groups.contains(group), let parent = frame.parent {
        if case .element = frame.kind, let address = frame.part.address {
          found.append(
            EnclosingScope(
              .fanOut(frame.part.memberOfFanOut(in: plan)), parent, parent.address(of: address)))
        }
        frame = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(EnclosingScope(.group(group), frame, frame.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  func surroundings(of inner: EnclosingScope) -> [EnclosingScope] {
    switch inner.kind {
    case .group(let index):
      surroundings(ofGroup: plan.groups[index].parent ?? 0, in: inner.frame)
    case .fanOut(.group(let index)):
      surroundings(ofGroup: plan.groups[index].parent ?? 0, in: inner.frame)
    case .fanOut(.step(let index)): surroundings(ofGroup: plan.steps[index].group, in: inner.frame)
    }
  }
}

extension Part {
  /// The loop whose element has this region.
  fileprivate func memberOfFanOut(in plan: Plan) -> FanOutTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
  }
}
