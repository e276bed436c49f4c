import WeftDefinition
import WeftDiagnostics

extension Cycle {
  /// Describes a cycle of nodes as hops between steps and groups, beginning at the first need of the file.
  init(
    through nodes: [Int32], of outline: Outline, _ names: [StepNames], _ references: ReferenceEdges
  ) {
    // A cycle consists of steps of one file; the contents of files that they run are between their starts and ends.
    let file = nodes.map { outline.file(of: Int($0)) }.min() ?? 0
    let teller = CycleTeller(
      outline: outline, names: names[file], references: references, number: file,
      file: outline.files[file].workflow.source.value)
    self.file = file
    let edges = nodes.indices.map { index in
      (from: Int(nodes[index]), to: Int(nodes[(index + 1) % nodes.count]))
    }
    // Only needs, logs and references can lead to a later node.
    let first =
      edges.indices.filter { edges[$0].to > edges[$0].from && teller.tells(edges[$0].from) }.min {
        edges[$0].from < edges[$1].from
      }
      ?? 0
    hops = (edges[first...] + edges[..<first]).compactMap(teller.hop)
  }
}

/// Determines why one node waits for another, which the graph does not store.
private struct CycleTeller {
  let outline: Outline
  let names: StepNames
  let references: ReferenceEdges
  let number: Int
  let file: SourceFile?

  func tells(_ node: Plan.NodeIndex) -> Bool { outline.file(of: node) == number }

  /// `nil` for the edge from the end of an empty group to its start, and for edges through another file, from the end
  /// of the step that runs it to its start.
  func hop(from: Plan.NodeIndex, to: Plan.NodeIndex) -> Cycle.Hop? {
    guard tells(from), tells(to) else { return nil }
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
      return (.reference, edge.place.range(in: file))
    }
    let isGroupStart = outline.group(startingAt: to, encloses: from)
    return (isGroupStart ? .membership : .order, waiting.step.place.value?.range)
  }

  private func means(_ need: Need, _ target: OutlineMember) -> Bool {
    names.meaning(of: need.name) == .node(target.node)
  }
}

extension StepPlace {
  /// The shortest range that identifies the step.
  fileprivate var range: SourceRange { id ?? step }
}
