import Testing
import WeftFutures

/// Random graphs of futures, compared with a model without threads, locks or lists.
@Suite struct ModelTests {
  @Test(arguments: 0..<300 as Range<UInt64>)
  func everyOutcomeIsThatOfTheModelAfterEveryStep(seed: UInt64) {
    var random = Seeded(seed)
    let graph = ModelGraph.random(of: 24, using: &random)
    let real = RealGraph(graph)
    var model = ModelOutcomes(graph)
    var pending = real.promises.indices.shuffled(using: &random)
    var isPossible = model.accept(real.outcomes)
    #expect(isPossible, "\(graph.nodes)")
    while let root = pending.popLast() {
      let outcome: Result<Int, Oops> =
        Int.random(in: 0..<4, using: &random) == 0
        ? .failure(Oops(number: root)) : .success(root)
      // The producers ignore cancel requests, so a request must not change any outcome.
      if Bool.random(using: &random) { real.futures.randomElement(using: &random)?.cancel() }
      real.promises[root].settle(outcome)
      model.settle(root, outcome)
      isPossible = model.accept(real.outcomes)
      #expect(isPossible, "\(graph.nodes)")
    }
    #expect(!real.outcomes.contains(nil))
  }

  @Test(arguments: 0..<300 as Range<UInt64>)
  func theProducersAskedToStopAreThoseOfTheModel(seed: UInt64) {
    var random = Seeded(seed)
    let graph = ModelGraph.random(of: 24, using: &random)
    let real = RealGraph(graph)
    let asked = Log<Int>()
    for (root, promise) in real.promises.enumerated() { promise.onCancel { asked.write(root) } }
    var requested: Set<Int> = []
    for node in graph.nodes.indices.shuffled(using: &random) {
      real.futures[node].cancel()
      requested.insert(node)
      let expected = graph.cancelled(by: requested)
      #expect(Set(asked.entries) == Set((0..<graph.rootCount).filter { expected.contains($0) }))
      #expect(real.promises.map(\.isCancelled) == (0..<graph.rootCount).map(expected.contains))
    }
    #expect(asked.entries.count == graph.rootCount)
    for promise in real.promises { promise.succeed(0) }
    #expect(!real.outcomes.contains(nil))
  }
}

/// The operation of a node on earlier nodes; the first nodes are the roots, settled from outside.
private enum ModelNode: CustomStringConvertible {
  case root
  case map(Int)
  case recover(Int)
  case flatMap(Int, to: Int)
  case flatMapError(Int, to: Int)
  case zip([Int])
  case settleAll([Int])
  case race([Int])
  case firstSuccess([Int])

  /// The nodes it depends on before anything has settled.
  var inputs: [Int] {
    switch self {
    case .root: []
    case .map(let one), .recover(let one), .flatMap(let one, _), .flatMapError(let one, _): [one]
    case .zip(let some), .settleAll(let some), .race(let some), .firstSuccess(let some): some
    }
  }

  var description: String {
    switch self {
    case .root: "root"
    case .map(let one): "map \(one)"
    case .recover(let one): "recover \(one)"
    case .flatMap(let one, let other): "flatMap \(one) to \(other)"
    case .flatMapError(let one, let other): "flatMapError \(one) to \(other)"
    case .zip(let some): "zip \(some)"
    case .settleAll(let some): "settleAll \(some)"
    case .race(let some): "race \(some)"
    case .firstSuccess(let some): "firstSuccess \(some)"
    }
  }
}

private struct ModelGraph {
  let rootCount: Int
  let nodes: [ModelNode]

  static func random(of count: Int, using random: inout Seeded) -> ModelGraph {
    let rootCount = Int.random(in: 1...6, using: &random)
    var nodes = Array(repeating: ModelNode.root, count: rootCount)
    for node in rootCount..<count {
      let one = Int.random(in: 0..<node, using: &random)
      let other = Int.random(in: 0..<node, using: &random)
      let some = (0..<Int.random(in: 1...4, using: &random)).map { _ in
        Int.random(in: 0..<node, using: &random)
      }
      let kinds: [ModelNode] = [
        .map(one), .recover(one), .flatMap(one, to: other), .flatMapError(one, to: other),
        .zip(some), .settleAll(some), .race(some), .firstSuccess(some),
      ]
      nodes.append(kinds[Int.random(in: kinds.indices, using: &random)])
    }
    return ModelGraph(rootCount: rootCount, nodes: nodes)
  }

  /// The nodes cancelled while nothing has settled: those requested, and those from which all dependents have
  /// withdrawn.
  func cancelled(by requested: Set<Int>) -> Set<Int> {
    var cancelled: Set<Int> = []
    for node in nodes.indices.reversed() {
      let users = nodes.indices.filter { nodes[$0].inputs.contains(node) }
      if requested.contains(node) || (!users.isEmpty && users.allSatisfy(cancelled.contains)) {
        cancelled.insert(node)
      }
    }
    return cancelled
  }
}

private struct RealGraph {
  var promises: [Source] = []
  var futures: [Future<Int, Oops>] = []

  var outcomes: [Result<Int, Oops>?] { futures.map(\.outcome) }

  init(_ graph: ModelGraph) {
    for node in graph.nodes {
      if case .root = node { promises.append(Source()) }
      futures.append(future(of: node))
    }
  }

  private func future(of node: ModelNode) -> Future<Int, Oops> {
    switch node {
    case .root: promises[promises.count - 1].future
    case .map(let one): futures[one].map { $0 + 1 }
    case .recover(let one): futures[one].recover { $0.number }.failing(with: Oops.self)
    case .flatMap(let one, let other):
      futures[one].flatMap { [inner = futures[other]] _ in inner }
    case .flatMapError(let one, let other):
      futures[one].flatMapError { [inner = futures[other]] _ in inner }
    case .zip(let some): Future.zip(some.map { futures[$0] }).map { $0.reduce(0, +) }
    case .settleAll(let some):
      Future.settleAll(some.map { futures[$0] }).map(\.count).failing(with: Oops.self)
    case .race(let some): Future.race(some.map { futures[$0] })
    case .firstSuccess(let some):
      Future.firstSuccess(some.map { futures[$0] }).mapError { $0.failures[0] }
    }
  }
}

/// The possible outcomes of nodes. If several inputs settle in one step, which of them is first is not determined; the
/// model then adopts the actual one, if it is possible.
private struct ModelOutcomes {
  private let graph: ModelGraph
  private var roots: [Result<Int, Oops>?]
  private var known: [Result<Int, Oops>?]

  init(_ graph: ModelGraph) {
    self.graph = graph
    roots = Array(repeating: nil, count: graph.rootCount)
    known = Array(repeating: nil, count: graph.nodes.count)
  }

  mutating func settle(_ root: Int, _ outcome: Result<Int, Oops>) { roots[root] = outcome }

  /// Whether `actual` is possible, given what was accepted before.
  mutating func accept(_ actual: [Result<Int, Oops>?]) -> Bool {
    for node in graph.nodes.indices where known[node] == nil {
      let possible = possibleOutcomes(of: node)
      guard let outcome = actual[node] else {
        guard possible.isEmpty else { return false }
        continue
      }
      guard possible.contains(outcome) else { return false }
      known[node] = outcome
    }
    return actual == known
  }

  /// The possible outcomes; empty while the node must be pending.
  private func possibleOutcomes(of node: Int) -> [Result<Int, Oops>] {
    let inputs = graph.nodes[node].inputs.map { known[$0] }
    let settled = inputs.compactMap { $0 }
    let values = settled.compactMap { try? $0.get() }
    let failures = settled.filter { (try? $0.get()) == nil }
    let isComplete = settled.count == inputs.count
    switch graph.nodes[node] {
    case .root: return [roots[node]].compactMap { $0 }
    case .map: return settled.map { $0.map { $0 + 1 } }
    case .recover: return settled.map { $0.flatMapError { .success($0.number) } }
    case .flatMap(_, let other): return values.isEmpty ? failures : [known[other]].compactMap { $0 }
    case .flatMapError(_, let other):
      return failures.isEmpty ? settled : [known[other]].compactMap { $0 }
    case .zip:
      guard failures.isEmpty else { return failures }
      return isComplete ? [.success(values.reduce(0, +))] : []
    case .settleAll: return isComplete ? [.success(inputs.count)] : []
    case .race: return settled
    case .firstSuccess:
      guard values.isEmpty else { return values.map { .success($0) } }
      return isComplete ? [failures[0]] : []
    }
  }
}
