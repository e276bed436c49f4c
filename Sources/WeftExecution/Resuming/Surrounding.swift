import WeftDefinition
import WeftPlanning

/// A group around a step, or what it is an element of.
struct Surrounding {
  enum Kind: Equatable {
    case group(Int)
    case fanOut(FanOutTask.Member)
  }

  let kind: Kind
  /// In which it stands.
  let frame: Frame
  let address: StepAddress

  init(_ kind: Kind, _ frame: Frame, _ address: StepAddress) {
    (self.kind, self.frame, self.address) = (kind, frame, address)
  }

  init(_ task: FanOutTask) { self.init(.fanOut(task.member), task.frame, task.address) }
}

/// What is around a step or group in its frame.
extension StandingRule {
  /// The groups around, from the innermost on, and what is run for many; `frame` is one that has them.
  func surroundings(ofGroup group: Int, in frame: Frame) -> [Surrounding] {
    var found: [Surrounding] = []
    var (group, frame) = (group, frame)
    while true {
      // What is outside of the frame's part is in the one around it.
      while !frame.part.groups.contains(group), let parent = frame.parent {
        if case .element = frame.kind, let address = frame.part.address {
          found.append(
            Surrounding(
              .fanOut(frame.part.memberOfFanOut(in: plan)), parent, parent.address(of: address)))
        }
        frame = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(Surrounding(.group(group), frame, frame.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  func surroundings(of inner: Surrounding) -> [Surrounding] {
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
  /// What of the plan is run for many, if this is a part of one element.
  fileprivate func memberOfFanOut(in plan: Plan) -> FanOutTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
  }
}
