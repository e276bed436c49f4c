import WeftDefinition

/// The plan regions: the contents of loops, retried groups and other files, and `finally`.
///
/// The graph of a plan has every step once. A run walks through the nodes of one region at a time, and through those of
/// a repeated group once for each instance.
package struct PlannedBodies: Sendable {
  package struct Body: Sendable {
    /// The nodes directly in it, each after its dependencies.
    package fileprivate(set) var order: [Int32] = []
    /// Whether anything in it waits for something outside.
    package fileprivate(set) var waitsForOutside = false
  }

  /// The region of the whole run; if it is the only one, the plan's own order.
  package private(set) var root = Body()
  /// The regions of groups, by group.
  package private(set) var ofGroups: [Int: Body] = [:]
  /// The cleanup steps of each step or, by its start, group.
  package let cleanups: [Plan.NodeIndex: Range<Int32>]
  /// The indices of all cleanup steps.
  package let cleanupSteps: Set<Int>
  /// The members of groups that may end before all their members: the group and the member, by the node whose future
  /// settles with the member's outcome.
  package private(set) var raceMembers: [Int32: (group: Int, member: Int32)] = [:]
  /// The `finally` group of the workflow that is planned.
  package let finallyGroup: Int?
  /// The `finally` groups of all files.
  package let finallyGroups: Set<Int>
  package let services: PlannedServices

  /// Whether anything in a region waits for something outside of it.
  package var waitForOutside: Bool { ofGroups.values.contains(where: \.waitsForOutside) }

  init(
    of outline: Outline, _ dependencies: PlanEdges, in order: [Int32], _ services: PlannedServices
  ) {
    self.services = services
    cleanups = outline.cleanups
    cleanupSteps = Set(outline.cleanups.values.joined().map(Int.init))
    finallyGroup = outline.files[0].finally
    finallyGroups = outline.finallyGroups
    for (index, group) in outline.groups.enumerated() where group.endsEarly {
      for member in group.members {
        let end = outline.hasOwnRegion(at: Int(member)) ? Int(member) : outline.end(of: Int(member))
        raceMembers[Int32(end)] = (index, member)
      }
    }
    let apart = outline.groups.indices.filter {
      outline.finallyGroups.contains($0) || outline.groups[$0].hasOwnRegion
    }
    guard !apart.isEmpty || !outline.cleanups.isEmpty else {
      root.order = order
      return
    }
    for group in apart { ofGroups[group] = Body() }
    var bodyOfGroup = Array(repeating: 0, count: outline.groups.count)
    for index in outline.groups.indices.dropFirst() {
      bodyOfGroup[index] =
        ofGroups[index] == nil ? bodyOfGroup[outline.groups[index].parent ?? 0] : index
    }
    for node in order {
      guard let body = outline.body(of: Int(node), bodyOfGroup) else { continue }
      if body == 0 { root.order.append(node) } else { ofGroups[body]?.order.append(node) }
    }
    recordOutsideNeeds(outline, dependencies)
  }

  private mutating func recordOutsideNeeds(_ outline: Outline, _ dependencies: PlanEdges) {
    for index in ofGroups.keys {
      let group = outline.groups[index]
      let order = ofGroups[index]?.order ?? []
      ofGroups[index]?.waitsForOutside = order.contains { node in
        dependencies[Int(node)].contains { $0 < group.startNode || $0 > group.endNode }
      }
    }
  }
}

extension Outline {
  fileprivate func hasOwnRegion(at node: Plan.NodeIndex) -> Bool {
    guard case .groupStart(let index) = nodes[node] else { return false }
    return groups[Int(index)].hasOwnRegion
  }

  /// The region that a node runs in; `nil` for nodes that run by themselves: cleanup steps, `finally`, and the end of a
  /// group with its own region, whose start represents the whole group.
  fileprivate func body(of node: Plan.NodeIndex, _ bodyOfGroup: [Int]) -> Int? {
    switch nodes[node] {
    case .step(let index):
      return cleanedUp[index] == nil ? bodyOfGroup[steps[Int(index)].group] : nil
    case .groupStart(let index):
      if finallyGroups.contains(Int(index)) { return nil }
      return bodyOfGroup[groups[Int(index)].parent ?? 0]
    case .groupEnd(let index):
      return bodyOfGroup[Int(index)] == Int(index) ? nil : bodyOfGroup[Int(index)]
    }
  }
}

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

  /// Whether failures in it need not fail the run.
  package var isBoundary: Bool {
    isRepeated || endsEarly || (step.map { $0.allowFailure != .none } ?? false)
      || step?.computed[.allowFailure] != nil
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
    var next: Int? = group(around: target)
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
