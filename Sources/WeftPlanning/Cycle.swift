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
        .error, code: "W0206", message: "steps wait for each other: \(path)", place: nil,
        help: help, related: related),
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
