import WeftFutures
import WeftPlanning

/// What became of a node, as far as those who wait for it care.
struct NodeResult: Sendable, Hashable {
  let conclusion: Outcome
  /// Who is to blame when the conclusion is not success; `nil` when the run as a whole is.
  let blame: StepAddress?
  /// Whether those who wait for success cannot go on.
  let holdsBack: Bool
  /// Whether it, or something above it, has failed and was not tolerated.
  let hasFailed: Bool

  static let success = NodeResult(conclusion: .success, blame: nil)

  /// - Parameter holdsBack: `nil`: unless it succeeded.
  init(
    conclusion: Outcome, blame: StepAddress?, holdsBack: Bool? = nil, failedBefore: Bool = false
  ) {
    self.conclusion = conclusion
    self.blame = blame
    self.holdsBack = holdsBack ?? (conclusion != .success)
    hasFailed = failedBefore || conclusion == .failure
  }
}

/// Does what a node is there for.
protocol NodeLauncher: AnyObject, Sendable {
  /// Called once for each node, when all that it waits for has settled.
  ///
  /// - Returns: What became of the node, once that is known.
  func launch(
    _ node: Plan.NodeIndex, after results: NodeResults
  ) -> Eventual<NodeResult, Never>
}

/// Turns a part of a plan into futures: one for each node, which is the `zip` of what the node waits for, if
/// that is more than one, and then (`flatMap`) what the node does.
///
/// A node is decided when all it waits for has settled. A ``NodeLauncher`` does what the node is there for, or
/// skips it, and never fails: what went wrong is part of the result.
struct GraphCompiler {
  let plan: Plan
  let frame: Frame
  /// What those wait for that wait for nothing else; nothing is launched before it settles.
  let start: Future<[NodeResult], Never>

  /// - Parameters:
  ///   - body: The nodes to make futures of; a group that is run apart is one with its end.
  ///   - group: The group whose inside it is; what is inside it does not wait for its start.
  /// - Returns: The futures of the part's nodes, by their place in it; those of others mean nothing.
  func compile(
    _ body: PlannedBodies.Body, of group: Int = 0, by launcher: some NodeLauncher
  ) -> [Future<NodeResult, Never>] {
    let (first, own) = (frame.part.nodes.lowerBound, plan.groups[group].startNode)
    var futures = Array(
      repeating: Future<NodeResult, Never>(value: .success), count: frame.part.nodes.count)
    for index in body.order {
      let needs = plan.dependencies[Int(index)]
      let future: Future<NodeResult, Never>
      if needs.count == 1, let only = needs.first, Int(only) != own {
        // Most nodes wait for a single one: there is nothing to join.
        future = made(only, futures).flatMap(with: (launcher, index)) {
          $0.0.launch(Int($0.1), after: .one($1))
        }
      } else {
        future = ready(after: needs, without: own, futures).flatMap(with: (launcher, index)) {
          $0.0.launch(Int($0.1), after: .many($1))
        }
      }
      futures[Int(index) - first] = future
      // Of a group that is run apart, the start stands for all of it.
      if !plan.bodies.ofGroups.isEmpty,
        plan.bodies.ofGroups[plan.group(startingAt: Int(index))] != nil
      {
        futures[plan.closingNode(of: Int(index)) - first] = future
      }
    }
    return futures
  }
}

extension GraphCompiler {
  /// - Parameters:
  ///   - own: The start of the group whose inside is compiled. What is above it is above those in it, too,
  ///     whatever else they wait for.
  ///   - futures: Those that have been made, of this part.
  private func ready(
    after needs: ArraySlice<Int32>, without own: Int, _ futures: [Future<NodeResult, Never>]
  ) -> Future<[NodeResult], Never> {
    let others = needs.filter { Int($0) != own }
    if others.isEmpty { return start }
    let joined = Future.zip(others.map { made($0, futures) })
    guard others.count < needs.count else { return joined }
    return joined.flatMap { [start] results in start.map { results + $0 } }
  }

  private func made(
    _ node: Int32, _ futures: [Future<NodeResult, Never>]
  ) -> Future<NodeResult, Never> {
    let place = Int(node) - frame.part.nodes.lowerBound
    return futures.indices.contains(place) ? futures[place] : frame.outside(Int(node))
  }
}

extension Frame {
  /// The future of a node that is not in this frame.
  fileprivate func outside(_ node: Plan.NodeIndex) -> Future<NodeResult, Never> {
    guard let parent else { preconditionFailure("node \(node) is outside of the run") }
    return parent.future(ofNode: node)
  }
}

extension Plan {
  /// The group that a node is the start of.
  func group(startingAt node: NodeIndex) -> Int {
    guard case .groupStart(let group) = nodes[node] else { return 0 }
    return Int(group)
  }
}
