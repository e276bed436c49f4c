import WeftEvents
import WeftFutures
import WeftPlanning

/// The result of a node, as far as its dependents need it.
struct NodeResult: Sendable, Hashable {
  let conclusion: Outcome
  /// The step that caused the result if it is not success; `nil` if the run as a whole did.
  let causingStep: StepAddress?
  /// Whether dependents that require success are blocked.
  let blocksDependents: Bool
  /// Whether it, or a dependency at any distance, failed and was not tolerated.
  let hasFailed: Bool

  static let success = NodeResult(conclusion: .success, causingStep: nil)

  /// - Parameter blocksDependents: `nil` for `true` unless it succeeded.
  init(
    conclusion: Outcome, causingStep: StepAddress?, blocksDependents: Bool? = nil,
    failedBefore: Bool = false
  ) {
    self.conclusion = conclusion
    self.causingStep = causingStep
    self.blocksDependents = blocksDependents ?? (conclusion != .success)
    hasFailed = failedBefore || conclusion == .failure
  }
}

/// Turns a plan region into futures: one for each node, which joins (`zip`) the futures of the dependencies if there
/// is more than one, and then (`flatMap`) launches the node.
///
/// A ``RunEngine/BodyLauncher`` executes or skips the node when all its dependencies have settled. It never fails:
/// failures are part of the result.
struct GraphCompiler {
  let plan: Plan
  let instance: Instance
  /// The dependency of nodes that have no other; nothing is launched before it settles.
  let start: Future<[NodeResult], Never>

  /// - Parameters:
  ///   - body: The nodes to make futures of; a group that is run apart counts as one with its end.
  ///   - group: The group whose inside is compiled; its members do not wait for its start.
  /// - Returns: The futures of the region's nodes, by their position in it; the entries of other nodes have no
  ///   meaning.
  func compile(
    _ body: PlannedBodies.Body, of group: Int = 0, by launcher: RunEngine.BodyLauncher
  ) -> [Future<NodeResult, Never>] {
    let (first, own) = (instance.region.nodes.lowerBound, plan.groups[group].startNode)
    var futures = Array(
      repeating: Future<NodeResult, Never>(value: .success), count: instance.region.nodes.count)
    for index in body.order {
      let needs = plan.dependencies[Int(index)]
      let future: Future<NodeResult, Never>
      if needs.count == 1, let only = needs.first, Int(only) != own {
        // Most nodes have a single dependency: there is nothing to join.
        future = made(only, futures).flatMap(with: (launcher, index)) {
          $0.0.launch(Int($0.1), after: .one($1))
        }
      } else {
        future = ready(after: needs, without: own, futures).flatMap(with: (launcher, index)) {
          $0.0.launch(Int($0.1), after: .many($1))
        }
      }
      futures[Int(index) - first] = future
      // The future of a group that is run apart is that of its start.
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
  ///   - own: The start of the group whose inside is compiled. The dependencies of the group apply to its members,
  ///     whatever else they depend on.
  ///   - futures: The futures of this region that exist so far.
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
    let place = Int(node) - instance.region.nodes.lowerBound
    return futures.indices.contains(place) ? futures[place] : instance.outside(Int(node))
  }
}

extension Instance {
  /// The future of a node outside this instance.
  fileprivate func outside(_ node: Plan.NodeIndex) -> Future<NodeResult, Never> {
    guard let parent else { preconditionFailure("node \(node) is outside of the run") }
    return parent.future(ofNode: node)
  }
}

extension Plan {
  /// The group that starts at a node; 0 if none does.
  func group(startingAt node: NodeIndex) -> Int {
    guard case .groupStart(let group) = nodes[node] else { return 0 }
    return Int(group)
  }
}

/// The results of all dependencies of a node, in the order of the plan. Most nodes have a single one.
enum NodeResults: Sendable {
  case one(NodeResult)
  case many([NodeResult])

  init(_ results: [NodeResult]) { self = .many(results) }

  /// The results as an array.
  var list: [NodeResult] {
    switch self {
    case .one(let result): [result]
    case .many(let results): results
    }
  }
}

extension NodeResults: RandomAccessCollection {
  var startIndex: Int { 0 }

  var endIndex: Int {
    switch self {
    case .one: 1
    case .many(let results): results.count
    }
  }

  subscript(position: Int) -> NodeResult {
    switch self {
    case .one(let result): result
    case .many(let results): results[position]
    }
  }
}

extension NodeResults: ExpressibleByArrayLiteral {
  init(arrayLiteral results: NodeResult...) { self = .many(results) }
}
