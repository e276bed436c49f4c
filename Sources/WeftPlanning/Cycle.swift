import WeftDefinition
import WeftDiagnostics

/// Steps that wait for each other, reported hop by hop.
struct Cycle: Sendable {
  /// The reason why one step waits for the next.
  enum Reason: Sendable, Hashable {
    case need
    case log
    /// An expression reads it.
    case reference
    /// It is the next in a `steps` list.
    case order
    /// A member of a group starts after the group starts.
    case membership
    /// A group ends after all its members.
    case groupEnd
  }

  struct Hop: Sendable {
    var from: String
    var to: String
    var reason: Reason
    var range: SourceRange?

    var text: String {
      switch reason {
      case .need: "\"\(from)\" needs \"\(to)\""
      case .log: "\"\(from)\" reads the log of \"\(to)\""
      case .reference: "\"\(from)\" reads \"\(to)\" in an expression"
      case .order: "\"\(from)\" comes after \"\(to)\" in this list"
      case .membership: "\"\(from)\" is inside group \"\(to)\""
      case .groupEnd: "\"\(from)\" ends when \"\(to)\" has ended"
      }
    }
  }

  /// The first is a need, or the reading of a log or a value: every cycle has one.
  let hops: [Hop]
  /// The file that contains it.
  let file: Int

  func problem(in outline: Outline) -> PlacedProblem {
    let related = notes.map { record in
      Diagnostic.Related(message: record.text, place: outline.place(record.range, inFile: file))
    }
    return PlacedProblem(
      diagnostic: Diagnostic(
        "W0206", "steps wait for each other: \(path)", help: help, related: related),
      range: hops.first?.range, file: file)
  }
}

extension Cycle {
  /// The number of hops shown at each end; the middle of longer cycles is elided.
  private static let shown = (first: 5, last: 4)

  private var isElided: Bool { hops.count > Cycle.shown.first + Cycle.shown.last + 1 }
  private var hiddenCount: Int { hops.count - Cycle.shown.first - Cycle.shown.last }

  /// `a → b → a`.
  var path: String {
    var stations = hops.map(\.from)
    if isElided {
      let middle = Cycle.shown.first + 1..<hops.count - Cycle.shown.last + 1
      stations.replaceSubrange(middle, with: ["… \(middle.count) more …"])
    }
    return (stations + hops.prefix(1).map(\.from)).joined(separator: " → ")
  }

  /// One note for each hop that is shown.
  var notes: [(text: String, range: SourceRange?)] {
    let notes = hops.map { (text: $0.text, range: $0.range) }
    guard isElided else { return notes }
    return notes.prefix(Cycle.shown.first) + [("… and so on, \(hiddenCount) more times …", nil)]
      + notes.suffix(Cycle.shown.last)
  }

  var help: String {
    let reasons = Set(hops.map(\.reason))
    let noun = reasons.contains(.need) || !reasons.contains(.reference) ? "need" : "reference"
    if let hop = hops.first(where: { $0.reason == .order }) {
      return "a member of \"steps\" waits for the one before it: move \"\(hop.from)\", give it its "
        + "own \"needs\", or remove one of the \(noun)s"
    }
    if let hop = hops.first(where: { $0.reason == .membership }) {
      return "members of \"\(hop.to)\" wait for what \"\(hop.to)\" waits for: move \"\(hop.from)\" "
        + "out of it, or remove one of the \(noun)s"
    }
    if reasons.contains(.reference) {
      return "a step waits for what its expressions read: remove one of the references"
        + (reasons.contains(.need) ? ", or one of the needs" : "")
    }
    return reasons.contains(.log)
      ? "remove one of the needs, or read the log of another step" : "remove one of the needs"
  }
}

extension Cycle {
  /// Describes a cycle of nodes as hops between steps and groups, beginning at the first need of the file.
  init(
    through nodes: [Int32], of outline: Outline, _ names: [StepNames], _ references: ReferenceEdges
  ) {
    // A cycle consists of steps of one file; the contents of files that they run are between their starts and ends.
    let file = nodes.map { outline.file(of: Int($0)) }.min() ?? 0
    let describer = CycleDescriber(
      outline: outline, names: names[file], references: references, number: file,
      file: outline.files[file].workflow.source.value)
    self.file = file
    let edges = nodes.indices.map { index in
      (from: Int(nodes[index]), to: Int(nodes[(index + 1) % nodes.count]))
    }
    // Only needs, logs and references can lead to a later node.
    let first =
      edges.indices.filter { edges[$0].to > edges[$0].from && describer.isInFile(edges[$0].from) }
      .min {
        edges[$0].from < edges[$1].from
      }
      ?? 0
    hops = (edges[first...] + edges[..<first]).compactMap(describer.hop)
  }
}

/// Determines why one node waits for another, which the graph does not store.
private struct CycleDescriber {
  let outline: Outline
  let names: StepNames
  let references: ReferenceEdges
  let number: Int
  let file: SourceFile?

  func isInFile(_ node: Plan.NodeIndex) -> Bool { outline.file(of: node) == number }

  /// `nil` for the edge from the end of an empty group to its start, and for edges through another file, from the end
  /// of the step that runs it to its start.
  func hop(from: Plan.NodeIndex, to: Plan.NodeIndex) -> Cycle.Hop? {
    guard isInFile(from), isInFile(to) else { return nil }
    let waiting = outline.member(at: from)
    let target = outline.member(at: to)
    guard waiting.node != target.node else { return nil }
    let (reason, range) = reason(waiting, from, target, to)
    return Cycle.Hop(
      from: waiting.address.text, to: target.address.text, reason: reason, range: range)
  }

  private func reason(
    _ waiting: OutlineMember, _ from: Plan.NodeIndex, _ target: OutlineMember,
    _ to: Plan.NodeIndex
  ) -> (Cycle.Reason, SourceRange?) {
    if case .groupEnd = outline.nodes[from] {
      return (.groupEnd, target.step.place.value?.range)
    }
    if to == target.endNode, let need = waiting.step.needs?.first(where: { means($0, target) }) {
      return (.need, need.place.value)
    }
    if case .run(let command) = waiting.step.action, case .log(let source)? = command.stdin,
      means(source, target)
    {
      return (.log, source.place.value)
    }
    if let edge = references[from].first(where: { Int($0.target) == to }) {
      return (.reference, range(of: edge.place, by: waiting))
    }
    let isGroupStart = outline.group(startingAt: to, encloses: from)
    return (isGroupStart ? .membership : .order, waiting.step.place.value?.range)
  }

  /// The part of the text that refers to the other step; the whole step for one in a script file.
  private func range(of part: TextPart, by waiting: OutlineMember) -> SourceRange? {
    guard let place = part.place(in: file), place.file == file else {
      return waiting.step.place.value?.range
    }
    return place.range
  }

  private func means(_ need: Need, _ target: OutlineMember) -> Bool {
    names.meaning(of: need.name) == .node(target.node)
  }
}

extension StepPlace {
  /// The shortest range that identifies the step.
  fileprivate var range: SourceRange { id ?? step }
}

/// Finds nodes that wait for each other, and a short cycle to report for each strongly connected component.
///
/// For every component there is one cycle, which visits no node twice. It is a shortest one of its component as long as
/// the search stays within ``workLimit`` edges for all components together: with maximum lengths of 2, 4, 8 … edges,
/// cycles are searched for from every node that can begin one. If the work runs out, the cycle is the shortest of those
/// found, or else the shortest through one node of the component.
///
/// Every cycle has an edge to a later node and one to an earlier node of the file, so only the nodes with edges of the
/// rarer kind need to be tried: a single wrong need in a list of a hundred thousand steps takes one search, however
/// long the cycle.
struct CycleFinder {
  static let workLimit = 4_000_000

  private let edges: PlanEdges
  /// The component of each node, from 1; 0 for none.
  private var component: [Int32]
  /// The search that last reached each node, and the node from which it did.
  private var reached: [Int32]
  private var origin: [Int32]
  private var search: Int32 = 0
  private var workLeft = CycleFinder.workLimit

  /// One cycle for each component: its nodes in the order in which they wait for each other, without repeating the
  /// first at the end.
  static func cycles(of edges: PlanEdges, leftOutOf order: TopologicalOrder) -> [[Int32]] {
    guard order.nodes.count < order.waits.count else { return [] }
    let left = order.waits.indices.lazy.filter { order.waits[$0] > 0 }
    let components = StronglyConnected.components(of: edges, from: left)
    var finder = CycleFinder(edges, components)
    return components.prefix(WorkflowLimits.problems).map { finder.shortestCycle(in: $0) }
  }

  private init(_ edges: PlanEdges, _ components: [[Int32]]) {
    self.edges = edges
    component = Array(repeating: 0, count: edges.offsets.count - 1)
    reached = component
    origin = component
    for (number, nodes) in components.enumerated() {
      for node in nodes { component[Int(node)] = Int32(number + 1) }
    }
  }

  private mutating func shortestCycle(in nodes: [Int32]) -> [Int32] {
    let starts = starts(in: nodes)
    var best: [Int32]?
    var limit = 2
    while best == nil, workLeft > 0 {
      for start in starts where workLeft > 0 {
        let bound = best.map { $0.count - 1 } ?? limit
        best = cycle(through: start, atMost: bound) ?? best
      }
      limit *= 2
    }
    guard let found = best ?? cycle(through: starts[0], atMost: nodes.count) else {
      preconditionFailure("node \(starts[0]) is in a strongly connected component, but no cycle")
    }
    return found
  }

  /// The nodes from which all cycles can be found.
  private func starts(in nodes: [Int32]) -> [Int32] {
    var forward: [Int32] = []
    var backward: [Int32] = []
    for node in nodes {
      let number = component[Int(node)]
      let targets = edges[Int(node)].filter { component[Int($0)] == number }
      if targets.contains(where: { $0 > node }) { forward.append(node) }
      if targets.contains(where: { $0 < node }) { backward.append(node) }
    }
    return forward.count <= backward.count ? forward : backward
  }

  /// The shortest cycle through `start`, if it has at most `limit` edges (breadth first).
  private mutating func cycle(through start: Int32, atMost limit: Int) -> [Int32]? {
    search += 1
    var frontier = [start]
    for _ in 0..<limit where !frontier.isEmpty {
      var next: [Int32] = []
      for node in frontier {
        if reach(start, from: node, adding: &next) { return path(from: start, to: node) }
      }
      frontier = next
    }
    return nil
  }

  /// Follows the edges of `node` that stay in the component, and returns whether one leads to `start`.
  private mutating func reach(
    _ start: Int32, from node: Int32, adding found: inout [Int32]
  ) -> Bool {
    let targets = edges[Int(node)]
    workLeft -= targets.count
    for target in targets where component[Int(target)] == component[Int(start)] {
      if target == start { return true }
      guard reached[Int(target)] != search else { continue }
      reached[Int(target)] = search
      origin[Int(target)] = node
      found.append(target)
    }
    return false
  }

  private func path(from start: Int32, to end: Int32) -> [Int32] {
    var path = [end]
    while let node = path.last, node != start { path.append(origin[Int(node)]) }
    return Array(path.reversed())
  }
}

/// Finds the strongly connected components of a graph (Tarjan 1972), with an explicit stack, so that paths may have any
/// length.
struct StronglyConnected {
  /// A node, and the next of its edges to follow.
  private struct Visit {
    var node: Int
    var next: Int
  }

  private let edges: PlanEdges
  /// The order in which each node was first reached, from 1; 0 before.
  private var numbers: [Int32]
  /// The lowest number that can be reached from each node.
  private var lowest: [Int32]
  private var isOpen: [Bool]
  private var open: [Int32] = []
  private var visits: [Visit] = []
  private var counter: Int32 = 0
  private var components: [[Int32]] = []

  /// The components of more than one node that can be reached from `nodes`, each in ascending order, sorted by their
  /// first nodes.
  static func components(of edges: PlanEdges, from nodes: some Sequence<Int>) -> [[Int32]] {
    var search = StronglyConnected(edges)
    for node in nodes where search.numbers[node] == 0 { search.explore(from: node) }
    return search.components.sorted { $0[0] < $1[0] }
  }

  private init(_ edges: PlanEdges) {
    self.edges = edges
    let count = edges.offsets.count - 1
    numbers = Array(repeating: 0, count: count)
    lowest = numbers
    isOpen = Array(repeating: false, count: count)
  }

  private mutating func explore(from root: Int) {
    enter(root)
    while let last = visits.indices.last {
      let node = visits[last].node
      guard visits[last].next < Int(edges.offsets[node + 1]) else {
        leave(node)
        continue
      }
      let target = Int(edges.targets[visits[last].next])
      visits[last].next += 1
      if numbers[target] == 0 {
        enter(target)
      } else if isOpen[target] {
        lowest[node] = min(lowest[node], numbers[target])
      }
    }
  }

  private mutating func enter(_ node: Int) {
    counter += 1
    numbers[node] = counter
    lowest[node] = counter
    isOpen[node] = true
    open.append(Int32(node))
    visits.append(Visit(node: node, next: Int(edges.offsets[node])))
  }

  private mutating func leave(_ node: Int) {
    visits.removeLast()
    if let parent = visits.last?.node { lowest[parent] = min(lowest[parent], lowest[node]) }
    guard lowest[node] == numbers[node], let start = open.lastIndex(of: Int32(node)) else { return }
    let component = open[start...].sorted()
    open.removeSubrange(start...)
    for member in component { isOpen[Int(member)] = false }
    if component.count > 1 { components.append(component) }
  }
}
