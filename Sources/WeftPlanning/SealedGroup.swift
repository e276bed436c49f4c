import WeftDefinition

/// A group whose members mean nothing outside of it: they run several times, or are ended early.
struct SealedGroup: Sendable, Hashable {
  enum Reason: String, Sendable, Hashable {
    case retry, race, join, forEach, matrix
  }

  var address: String
  var reason: Reason
  /// Whether it can be named at all.
  var hasID: Bool
}

extension PlannedGroup {
  /// Whether its members can be named only inside of it.
  package var isSealed: Bool { sealing != nil }

  /// Whether it is over when some of its members have succeeded.
  package var endsEarly: Bool {
    guard let step, case .group(let group) = step.action else { return false }
    return group.order == .race || group.join != .all
  }

  /// Whether its inside is run apart from what is around it, be it once: as the steps of another file are.
  package var isRunApart: Bool { isRepeated || step?.runsAnotherFile == true }

  /// Whether its inside is run any number of times.
  package var isRepeated: Bool {
    guard let step, step.hasControl else { return false }
    return step.control.fanOut != nil || !step.control.retry.isEmpty
  }

  var sealing: SealedGroup.Reason? {
    guard let step, case .group(let group) = step.action else { return nil }
    if step.hasControl {
      switch step.control.fanOut {
      case .forEach: return .forEach
      case .matrix: return .matrix
      case nil: break
      }
      if !step.control.retry.isEmpty { return .retry }
    }
    if group.order == .race { return .race }
    return group.join == .all ? nil : .join
  }
}

extension Outline {
  /// The outermost sealed group that stands around one node and not around the other.
  func sealedGroup(
    around target: Plan.NodeIndex, butNotAround node: Plan.NodeIndex?
  ) -> SealedGroup? {
    guard hasSealedGroups else { return nil }
    var sealed: SealedGroup?
    var next = group(around: target)
    while let index = next {
      let group = groups[index]
      // What is around a file hides nothing from what is in it.
      next = group.isTopLevel ? nil : group.parent
      guard let reason = group.sealing, let address = group.address else { continue }
      // Its own outputs are made of what is inside.
      if let node, group.startNode <= node, node < group.endNode { continue }
      sealed = SealedGroup(
        address: address.text, reason: reason, hasID: group.step?.id != nil)
    }
    return sealed
  }

  /// The group that a step, or a group by its start, is a member of.
  private func group(around node: Plan.NodeIndex) -> Int? {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].group
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].parent
    }
  }
}

extension SealedGroup {
  /// What to name instead.
  var help: String {
    guard hasID else { return "give that group an \"id\", and name it by that" }
    return switch reason {
    case .forEach, .matrix:
      "it is run once for each element: name \"\(address)\", whose \"results\" have all of them"
    case .retry: "it may be run several times: name \"\(address)\", and hand on its \"outputs\""
    case .race:
      "only one of its members wins: name \"\(address)\", whose \"winner\" and \"outputs\" are those"
        + " of the winner"
    case .join: "not all of its members need to end: name \"\(address)\""
    }
  }
}
