import WeftDefinition
import WeftDiagnostics

/// The services of a plan, and what needs them.
package struct PlannedServices: Sendable {
  /// Indices into ``Plan/steps``.
  package let steps: [Int]
  /// The services that a node needs, directly or not, if it is in the group in which the service runs.
  package private(set) var needed: [Int32: [Int32]] = [:]
  /// The nodes that need a service, by its node.
  private var usersOf: [Plan.NodeIndex: [Plan.NodeIndex]] = [:]
  /// The nodes that depend directly on each service, by its node.
  private var dependents: [Plan.NodeIndex: [Plan.NodeIndex]] = [:]

  package var isEmpty: Bool { steps.isEmpty }
  /// Whether a service takes slots of pools, or resources.
  package let keepPools: Bool

  /// The nodes that need a service, directly or not, and are in the group in which it runs.
  package func users(of service: Plan.NodeIndex) -> [Plan.NodeIndex] { usersOf[service] ?? [] }

  /// Whether a node needs a service in whose group it is; the end of a group needs what its members need.
  package func isNeeded(
    _ service: Plan.NodeIndex, by node: Plan.NodeIndex, in plan: Plan
  ) -> Bool {
    needed[Int32(node)]?.contains { plan.steps[Int($0)].node == service } ?? false
  }

  init(_ outline: Outline, _ dependencies: PlanEdges) {
    steps = outline.steps.indices.filter { outline.steps[$0].isService }
    keepPools = steps.contains { outline.steps[$0].takesPools }
    guard !steps.isEmpty else { return }
    var all: [Plan.NodeIndex: [Plan.NodeIndex]] = [:]
    // A cleanup needs what its step needs; it waits for more than that.
    for node in outline.nodes.indices where !outline.isCleanup(node) {
      for need in dependencies[node] { all[Int(need), default: []].append(node) }
    }
    for index in steps {
      let service = outline.steps[index]
      dependents[service.node] = all[service.node]
      let group = outline.groups[service.group]
      var (seen, next) = (Set([service.node]), [service.node])
      while let node = next.popLast() {
        for dependent in all[node] ?? []
        where dependent > group.startNode && dependent < group.endNode
          && !outline.isFinal(dependent, inside: service.group) && seen.insert(dependent).inserted
        {
          needed[Int32(dependent), default: []].append(Int32(index))
          usersOf[service.node, default: []].append(dependent)
          next.append(dependent)
        }
      }
    }
  }
}

extension Outline {
  fileprivate func isCleanup(_ node: Plan.NodeIndex) -> Bool {
    if case .step(let index) = nodes[node] { cleanedUp[index] != nil } else { false }
  }

  /// Whether a node is in `finally` of a file inside a group, and so runs after the services of that group have ended.
  fileprivate func isFinal(_ node: Plan.NodeIndex, inside group: Int) -> Bool {
    if finallyGroups.isEmpty { return false }
    var next =
      switch nodes[node] {
      case .step(let index): steps[Int(index)].group
      case .groupStart(let index), .groupEnd(let index): Int(index)
      }
    while next != group, next > 0 {
      if finallyGroups.contains(next) { return true }
      next = groups[next].parent ?? 0
    }
    return false
  }
}

/// Checks that whatever needs a service is in the group in which the service runs: the service is terminated when that
/// group ends.
extension PlannedServices {
  func problems(in outline: Outline) -> [PlacedProblem] {
    var found = FoundProblems()
    for index in steps {
      let service = outline.steps[index]
      let group = outline.groups[service.group]
      let subject = outline.member(at: service.node).subject
      let users = (dependents[service.node] ?? []).filter { $0 != group.endNode }
      if users.isEmpty {
        found.append(.uselessService(subject), at: service.node, in: outline)
      }
      // Steps outside of a file can only be in its `finally`.
      guard group.address != nil, !group.isTopLevel else { continue }
      for node in users where !(group.startNode...group.endNode).contains(node) {
        let user = outline.member(at: node)
        guard user.step.needs?.contains(where: { $0.name == service.id?.text }) == true else {
          continue
        }
        let around = outline.member(at: group.startNode).subject
        found.append(
          .serviceOutside(user.subject, service: subject, in: around), at: node, in: outline)
      }
    }
    return found.problems
  }
}

extension FoundProblems {
  fileprivate mutating func append(
    _ problem: Diagnostic, at node: Plan.NodeIndex, in outline: Outline
  ) {
    file = outline.file(of: node)
    self.node = node
    append(problem, outline.member(at: node).step.place.value?.step)
  }
}

extension Diagnostic {
  fileprivate static func serviceOutside(
    _ subject: OutlineMember.Subject, service: OutlineMember.Subject,
    in group: OutlineMember.Subject
  ) -> Diagnostic {
    problem(
      "W0230", of: subject, "needs \(service), which is terminated when \(group) ends",
      key: "needs", help: "put both into one group, or move the service out of the group")
  }

  fileprivate static func uselessService(_ subject: OutlineMember.Subject) -> Diagnostic {
    var warning = problem(
      "W0231", of: subject, "is a service that no step waits for", key: "service",
      help: "name it in \"needs\" of the steps that use it, or they may start before it is ready")
    warning.severity = .warning
    return warning
  }
}
