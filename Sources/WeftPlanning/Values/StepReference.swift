import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON

/// The meaning of a reference that begins with `steps`, for its owner.
enum StepReference: Sendable, Hashable {
  /// It is `steps` alone, or the name that follows is computed.
  case unnamed
  /// The name at this position is not a step.
  case unknown(at: Int)
  /// The name at this position is a step that is not a member of this group.
  case outside(Plan.NodeIndex, at: Int)
  /// Two steps have the name, which is already reported.
  case ambiguous
  /// The owner of the reference.
  case itself
  /// A group that contains the owner of the reference.
  case around(Plan.NodeIndex)
  /// The name at this position is a step inside a group that hides it.
  case inside(OpaqueGroup, at: Int)
  /// The name at this position is a step that runs at the end of something.
  case finalizerScope(FinalizerScope, at: Int)
  /// A step, or a group by its start node; the name at `rest` is a part of its result.
  case node(Plan.NodeIndex, rest: Int)
}

extension Outline {
  /// The meaning of a reference that begins with `steps`.
  ///
  /// - Parameter node: The step, or the start node of the group, that has the reference; `nil` for the workflow.
  func meaning(
    of reference: ContextReference, to node: Plan.NodeIndex?, _ names: StepNames
  ) -> StepReference {
    guard reference.names.count > 1 else { return .unnamed }
    let target: Plan.NodeIndex
    let rest: Int
    switch names.meaning(of: reference.names[1].text) {
    case .unknown: return .unknown(at: 1)
    case .ambiguous: return .ambiguous
    case .node(let found):
      switch member(of: found, named: reference, from: 2, names) {
      case .node(let member, let end): (target, rest) = (member, end)
      case let problem: return problem
      }
    }
    if hasSealedGroups, let sealed = sealedGroup(around: target, excludingThoseAround: node) {
      return .inside(sealed, at: rest - 1)
    }
    if hidesSteps, let finalizerScope = finalizerScope(target, to: node) {
      return .finalizerScope(finalizerScope, at: rest - 1)
    }
    guard let node else { return .node(target, rest: rest) }
    if target == node { return .itself }
    if group(startingAt: target, encloses: node) { return .around(target) }
    return .node(target, rest: rest)
  }

  /// The meaning of a reference that begins with `self`.
  ///
  /// - Parameter node: The step, or the start node of the group, whose outputs have the reference.
  func meaning(
    ofOwn reference: ContextReference, to node: Plan.NodeIndex, _ names: StepNames
  ) -> StepReference {
    let meaning = member(of: node, named: reference, from: 1, names)
    return meaning == .node(node, rest: 1) ? .itself : meaning
  }

  /// The member, at any depth, that `steps.MEMBER` after the name of a group means; the start itself if no member is
  /// named.
  private func member(
    of start: Plan.NodeIndex, named reference: ContextReference, from place: Int,
    _ names: StepNames
  ) -> StepReference {
    var (target, rest) = (start, place)
    while rest + 1 < reference.names.count, case .groupStart(let group) = nodes[target],
      groups[Int(group)].step?.action.kind.isGroup == true,
      reference.names[rest].text == StepField.members
    {
      switch names.meaning(of: reference.names[rest + 1].text) {
      case .unknown: return .unknown(at: rest + 1)
      case .ambiguous: return .ambiguous
      case .node(let member):
        guard groups[Int(group)].members.contains(Int32(member)) else {
          return .outside(target, at: rest + 1)
        }
        target = member
      }
      rest += 2
    }
    return .node(target, rest: rest)
  }

  /// The step, or the start node of the group, that owns a text, or the top level of another file, which has the
  /// address of its caller; `nil` for the workflow that is planned.
  func anyNode(of owner: TextOwner) -> Plan.NodeIndex? {
    guard case .workflow(let topLevel) = owner, topLevel > 0 else { return node(of: owner) }
    return groups[topLevel].startNode
  }

  func node(of owner: TextOwner) -> Plan.NodeIndex? {
    switch owner {
    case .workflow: nil
    case .step(let index): steps[index].node
    case .group(let index): groups[index].startNode
    }
  }
}

extension ContextReference {
  /// The context that it names; contexts are case-insensitive.
  package var valueContext: ValueContext? { ValueContext.named(context) }
}

/// The edges from nodes to what their expressions read.
struct ReferenceEdges: Sendable {
  struct Edge: Sendable {
    /// The step, or the end of the group, that is read.
    var target: Int32
    var place: TextPart
  }

  private var edges: [Edge] = []
  /// The node of each edge, until they are sorted.
  private var sources: [Int32] = []
  /// The start of each node's edges, and the end of the last; empty if there are none.
  private var starts: [Int32] = []

  /// The edges in the order in which they were found; a target may occur several times.
  subscript(node: Plan.NodeIndex) -> ArraySlice<Edge> {
    starts.isEmpty ? [] : edges[Int(starts[node])..<Int(starts[node + 1])]
  }

  mutating func insert(_ target: Plan.NodeIndex, of node: Plan.NodeIndex, at place: TextPart) {
    edges.append(Edge(target: Int32(target), place: place))
    sources.append(Int32(node))
  }

  /// Groups the edges by node, with a counting sort, once all are inserted.
  mutating func sort(nodeCount: Int) {
    guard !edges.isEmpty else { return }
    starts = Array(repeating: 0, count: nodeCount + 1)
    for node in sources { starts[Int(node) + 1] += 1 }
    for node in 0..<nodeCount { starts[node + 1] += starts[node] }
    var next = starts
    var sorted = edges
    for (edge, node) in zip(edges, sources) {
      sorted[Int(next[Int(node)])] = edge
      next[Int(node)] += 1
    }
    edges = sorted
    sources = []
  }
}

/// A part of a text in the workflow.
package struct TextPart: Sendable, Hashable {
  /// The range of the whole string in the file, including its quotes; `nil` for a workflow built in Swift.
  var string: SourceRange?
  /// The location of the text, if it is not one string.
  var source: TextSource?
  /// UTF-8 offsets in the text.
  var part: SourceRange

  /// The place in the workflow file, or in the file of the text; computed only for messages.
  func place(in file: SourceFile?) -> Diagnostic.Place? {
    switch source {
    case .file(let text):
      return Diagnostic.Place(file: text, range: part.moved(by: text.markLength))
    case .lines(let strings):
      return Diagnostic.Place(file?.range(of: part, inLinesAt: strings), in: file)
    case nil:
      return Diagnostic.Place(string.flatMap { file?.range(of: part, inStringAt: $0) }, in: file)
    }
  }
}
