import WeftPlanning

extension Frame {
  /// The scope around a group.
  func scope(around group: Int, of plan: Plan) -> Int {
    scope(ofGroup: plan.groups[group].parent ?? 0)
  }

  /// Whether the frame is one of the elements of this step, or of this group by its start.
  func isElement(of node: Plan.NodeIndex) -> Bool {
    guard case .element = kind else { return false }
    return part.member == node
  }
}

extension Frame {
  /// The frame in which a group has its attempts; itself if it is not one of them.
  func aroundAttempts(of node: Plan.NodeIndex) -> Frame {
    guard case .attempt = kind, part.member == node, let parent else { return self }
    return parent
  }
}

extension Frame {
  /// The innermost limit around the members of a group.
  func limit(ofGroup group: Int, in plan: Plan) -> Int? {
    var frame = self
    while let parent = frame.parent {
      if case .element = frame.kind, frame.part.groups.contains(group) {
        return frame.limits[group]
      }
      frame = parent
    }
    return plan.limit(ofGroup: group)
  }

  /// A step of an element waits for a slot.
  func stepQueued() {
    fanOut?.stepQueued()
    parent?.stepQueued()
  }

  /// It does not wait any more.
  func stepAnswered() {
    fanOut?.stepAnswered()
    parent?.stepAnswered()
  }
}

extension Plan {
  /// The innermost limit around the members of a group, as ``SlotQueue`` numbers them.
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
