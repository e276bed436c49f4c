import WeftDefinition

/// A group whose members cannot be named from outside: they run several times, or may be ended early.
struct OpaqueGroup: Sendable, Hashable {
  enum Reason: String, Sendable, Hashable {
    case retry, race, join, forEach, matrix
  }

  var address: String
  var reason: Reason
  /// Whether it has an id by which it can be named.
  var hasID: Bool
}

extension PlannedGroup {
  /// Whether its members can be named only from inside.
  package var isSealed: Bool { sealing != nil }

  /// Whether it ends when some of its members have succeeded.
  package var endsEarly: Bool {
    guard let step, case .group(let group) = step.action else { return false }
    return group.order == .race || group.join != .all
  }

  /// Whether its contents are a plan region of their own, even if that runs once: the steps of another file are.
  package var hasOwnRegion: Bool { isRepeated || step?.action.kind == .workflow }

  /// Whether its contents may run several times.
  package var isRepeated: Bool {
    guard let step, step.hasControl else { return false }
    return step.control.fanOut != nil || !step.control.retry.isEmpty
  }

  var sealing: OpaqueGroup.Reason? {
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
  /// The outermost sealed group that contains one node and not the other.
  func sealedGroup(
    around target: Plan.NodeIndex, excludingThoseAround node: Plan.NodeIndex?
  ) -> OpaqueGroup? {
    guard hasSealedGroups else { return nil }
    var sealed: OpaqueGroup?
    var next = group(around: target)
    while let index = next {
      let group = groups[index]
      // Groups around a file hide nothing from its contents.
      next = group.isTopLevel ? nil : group.parent
      guard let reason = group.sealing, let address = group.address else { continue }
      // The outputs of a group are computed from its contents.
      if let node, group.startNode <= node, node < group.endNode { continue }
      sealed = OpaqueGroup(
        address: address.text, reason: reason, hasID: group.step?.id != nil)
    }
    return sealed
  }

  /// The group of which a step, or a group by its start, is a member.
  private func group(around node: Plan.NodeIndex) -> Int? {
    switch nodes[node] {
    case .step(let index): steps[Int(index)].group
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].parent
    }
  }
}

extension OpaqueGroup {
  /// The remedy: what to name instead.
  var help: String {
    guard hasID else { return "give that group an \"id\", and refer to it" }
    return switch reason {
    case .forEach, .matrix:
      "it runs once for each element: name \"\(address)\", whose \"results\" have all elements"
    case .retry: "it may run several times: name \"\(address)\", and read its \"outputs\""
    case .race:
      "only one of its members wins: name \"\(address)\", whose \"winner\" and \"outputs\" are those"
        + " of the winner"
    case .join: "not all of its members need to end: name \"\(address)\""
    }
  }
}

/// The role of a step that runs at the end of something else, so that no other step can wait for it.
enum FinalizerScope: Sendable, Hashable {
  case finally
  /// A cleanup step of the step or group with this address.
  case cleanup(of: String)
}

extension Outline {
  /// The reason why a step or group runs too late to be named by another; `nil` if it does not.
  ///
  /// Steps in `finally` may name each other, and so may cleanup steps of the same step or group.
  ///
  /// - Parameter node: The node that names it; `nil` for the workflow.
  func finalizerScope(_ target: Plan.NodeIndex, to node: Plan.NodeIndex?) -> FinalizerScope? {
    if case .step(let index) = nodes[target], !cleanedUp.isEmpty, let cleaned = cleanedUp[index] {
      if case .step(let reader)? = node.map({ nodes[$0] }), cleanedUp[reader] == cleaned {
        return nil
      }
      return .cleanup(of: member(at: cleaned).address.text)
    }
    guard let finally = files[file(of: target)].finally, contains(target, finally) else {
      return nil
    }
    if let node, contains(node, finally) { return nil }
    return .finally
  }

  private func contains(_ node: Plan.NodeIndex, _ group: Int) -> Bool {
    groups[group].startNode <= node && node <= groups[group].endNode
  }
}

extension FinalizerScope {
  /// Describes the named step, for messages.
  var reason: String {
    switch self {
    case .finally: "runs in \"finally\", after everything else"
    case .cleanup(let address): "is a cleanup of \"\(address)\""
    }
  }

  var help: String {
    switch self {
    case .finally: "move it into \"finally\" too, or move the other step out of it"
    case .cleanup: "make it a separate step that others can wait for"
    }
  }
}
