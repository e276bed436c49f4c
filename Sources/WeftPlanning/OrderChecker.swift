import WeftDefinition
import WeftDiagnostics

/// Finds members of `steps` that do not wait for the member before them, because their `needs` replaces the order of
/// the list.
struct OrderChecker<Graph: StepGraph> {
  /// A member and the one before it, by their nodes; for a group, its start.
  struct Gap: Hashable {
    var member: Plan.NodeIndex
    var previous: Plan.NodeIndex
    /// Whether a later member relies on the order of the list, and none waits for the previous member.
    var isProbablyMistaken: Bool
  }

  private let graph: Graph
  private var search: DependencySearch

  init(_ graph: Graph, _ edges: PlanEdges) {
    self.graph = graph
    search = DependencySearch(edges, among: graph.nodes.count)
  }

  mutating func gaps() -> [Gap] {
    var gaps: [Gap] = []
    for group in graph.groups where group.order == .steps && group.members.count > 1 {
      let needs = group.members.map { graph.step(at: Int($0))?.needs }
      for index in needs.indices.dropFirst() where needs[index] != nil {
        let (member, previous) = (Int(group.members[index]), Int(group.members[index - 1]))
        guard search.waits(member, for: graph.end(of: previous)) == false else { continue }
        gaps.append(
          Gap(
            member: member, previous: previous,
            isProbablyMistaken: needs[(index + 1)...].contains { $0 == nil }
              && search.waits(
                anyOf: group.members[(index + 1)...].map { Int32(graph.end(of: Int($0))) },
                for: graph.end(of: previous)) == false
          ))
      }
    }
    return gaps
  }
}

/// Finds out which nodes wait for others, directly or not.
struct DependencySearch {
  private let edges: PlanEdges
  /// The number of edges that may still be visited, which keeps checks linear in the size of the plan.
  private var edgesLeft: Int

  init(_ edges: PlanEdges, among nodes: Int) {
    self.edges = edges
    edgesLeft = 10 * (nodes + edges.count) + 1000
  }

  /// - Returns: `nil` if it would take too long to find out.
  mutating func waits(_ node: Plan.NodeIndex, for wanted: Plan.NodeIndex) -> Bool? {
    waits(anyOf: [Int32(node)], for: wanted)
  }

  /// - Returns: `nil` if it would take too long to find out.
  mutating func waits(anyOf nodes: [Int32], for wanted: Plan.NodeIndex) -> Bool? {
    var seen: Set<Int32> = []
    var open = nodes
    while let next = open.popLast() {
      for edge in edges[Int(next)] where seen.insert(edge).inserted {
        if Int(edge) == wanted { return true }
        edgesLeft -= 1
        if edgesLeft < 0 { return nil }
        open.append(edge)
      }
    }
    return false
  }
}

extension Outline {
  /// Reports members that do not wait for the one before them, if this is probably a mistake.
  func orderProblems(_ edges: PlanEdges) -> [PlacedProblem] {
    var checker = OrderChecker(self, edges)
    return checker.gaps().filter(\.isProbablyMistaken).compactMap { gap in
      let member = member(at: gap.member)
      guard let needs = member.step.needs, let first = needs.first else { return nil }
      return PlacedProblem(
        diagnostic: .leavesOrder(
          member.subject, previous: self.member(at: gap.previous).address.text),
        range: first.place.value ?? member.step.place.value?.step, file: file(of: gap.member))
    }
  }
}

extension Diagnostic {
  fileprivate static func leavesOrder(
    _ subject: OutlineMember.Subject, previous: String
  ) -> Diagnostic {
    Diagnostic(
      "W0515",
      "\(subject) does not wait for \"\(previous)\" before it, because it has \"needs\"; "
        + "nor do the steps after it", key: "needs",
      help:
        "add \"\(previous)\" to \"needs\"; if this is intended, use \"parallel\", or \"needs\" "
        + "on the steps that follow", severity: .warning)
  }
}
