import WeftEvents
import WeftPlanning

/// The scopes and parallel limits around a group, as seen from one frame. ``RunEngine`` reads them when it starts a group
/// or opens an element.
extension Instance {
  /// The scope that encloses a group.
  func scope(around group: Int, of plan: Plan) -> Int {
    scope(ofGroup: plan.groups[group].parent ?? 0)
  }

  /// Whether the frame is an element of the loop at this node: a step, or the start of a group.
  func isElement(of node: Plan.NodeIndex) -> Bool {
    guard case .element = kind else { return false }
    return region.member == node
  }
}

extension Instance {
  /// The frame that contains the attempts of a group; the frame itself if it is not one of them.
  func aroundAttempts(of node: Plan.NodeIndex) -> Instance {
    guard case .attempt = kind, region.member == node, let parent else { return self }
    return parent
  }
}

extension Instance {
  /// The innermost parallel limit that applies to the members of a group.
  func limit(ofGroup group: Int, in plan: Plan) -> Int? {
    var instance = self
    while let parent = instance.parent {
      if case .element = instance.kind, instance.region.groups.contains(group) {
        return instance.limits[group]
      }
      instance = parent
    }
    return plan.limit(ofGroup: group)
  }

  /// Tells the loops around the frame that a step of an element began to wait for a slot.
  func stepQueued() {
    fanOut?.stepQueued()
    parent?.stepQueued()
  }

  /// Tells the loops around the frame that a step of an element stopped waiting for a slot.
  func stepAnswered() {
    fanOut?.stepAnswered()
    parent?.stepAnswered()
  }
}

extension Plan {
  /// The innermost parallel limit that applies to the members of a group, as ``SlotQueue`` numbers them.
  fileprivate func limit(ofGroup group: Int) -> Int? {
    var next: Int? = group
    while let group = next, group > 0 {
      if groups[group].maxParallel != nil {
        return groups[1..<group].count { $0.maxParallel != nil }
      }
      next = groups[group].parent
    }
    return nil
  }
}
