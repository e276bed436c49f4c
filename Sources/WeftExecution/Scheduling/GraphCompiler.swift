import WeftFutures
import WeftPlanning

/// What became of a node, as far as those who wait for it care.
struct NodeResult: Sendable, Hashable {
  let conclusion: Outcome
  /// Who is to blame when the conclusion is not success; `nil` when the run as a whole is.
  let blame: StepAddress?

  static let success = NodeResult(conclusion: .success, blame: nil)
}

/// Turns a plan into futures: one for each node, which is the `zip` of what the node waits for and
/// then (`flatMap`) what the node does.
///
/// A node is decided when all it waits for has settled. `launch` does what the node is there for, or
/// skips it, and never fails: what went wrong is part of the result.
enum GraphCompiler {
  typealias Launch = @Sendable (PlanNode, [NodeResult]) -> Future<NodeResult, Never>

  /// - Parameter start: Nothing is launched before it settles.
  /// - Returns: The futures of all nodes, by node index.
  static func compile(
    _ plan: Plan, start: Future<Void, Never>, launching launch: @escaping Launch
  ) -> [Future<NodeResult, Never>] {
    let nothing = start.map { [NodeResult]() }
    var futures = Array(
      repeating: Future<NodeResult, Never>(value: .success), count: plan.nodes.count)
    for index in plan.topologicalOrder {
      let node = plan.nodes[Int(index)]
      let needed = plan.dependencies[Int(index)]
      let ready = needed.isEmpty ? nothing : Future.zip(needed.map { futures[Int($0)] })
      futures[Int(index)] = ready.flatMap { results in launch(node, results) }
    }
    return futures
  }
}
