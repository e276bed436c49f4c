import WeftDefinition
import WeftDiagnostics

/// Draws the edges that the ordering keywords define (SPEC §1.1), and reports names that cannot be resolved.
///
/// | node | waits for |
/// |---|---|
/// | a member with `needs` | these (for a group, its end), and its own group's start |
/// | a member of `steps` | the member before it, else the group's start |
/// | a member of `parallel` | the group's start |
/// | a group's end | all its members, else its start; the cleanup steps in it |
/// | a cleanup step | all members of the group that contains it, and the cleanup step before it for the same owner |
/// | `finally` | all members of the top level of its file; the cleanup steps there |
/// | the end of a step that runs another file | that file's top level and `finally` |
///
/// A member is a step or the start of a group. A member that reads the log of a step, or that has an expression which
/// reads a step or group, also waits for that.
struct EdgeBuilder {
  private let outline: Outline
  /// The names, by file.
  private let names: [StepNames]
  private let references: ReferenceEdges
  private var edges: EdgeList
  private var logs = PlannedLogs()
  private var found = FoundProblems()
  private var suggestions: [Suggestions]
  /// For each group, the end of the member that was drawn last.
  private var lastEnds: [Plan.NodeIndex?]

  static func build(
    _ outline: Outline, _ names: [StepNames], _ references: ReferenceEdges
  ) -> (PlanEdges, PlannedLogs, [PlacedProblem]) {
    var builder = EdgeBuilder(outline, names, references)
    for node in outline.nodes.indices { builder.drawEdges(of: node) }
    return (builder.edges.edges, builder.logs, builder.found.problems)
  }

  private init(_ outline: Outline, _ names: [StepNames], _ references: ReferenceEdges) {
    self.outline = outline
    self.names = names
    self.references = references
    edges = EdgeList(nodeCount: outline.nodes.count)
    suggestions = outline.files.indices.map {
      Suggestions(outline, file: $0, answering: DiagnosticCollection.defaultLimit)
    }
    lastEnds = Array(repeating: nil, count: outline.groups.count)
  }

  private mutating func drawEdges(of node: Plan.NodeIndex) {
    if outline.files.count > 1 { found.file = outline.file(of: node) }
    found.node = node
    switch outline.nodes[node] {
    case .step(let index):
      let group = outline.steps[Int(index)].group
      if !outline.cleanedUp.isEmpty, let cleaned = outline.cleanedUp[index] {
        drawMembers(of: group)
        if outline.cleanedUp[index - 1] == cleaned { edges.append(node - 1) }
        break
      }
      drawOrder(of: node, outline.steps[Int(index)].needs, in: group)
      outline.steps[Int(index)].logSource.map { drawLog(of: node, $0) }
      lastEnds[group] = node
    case .groupStart(let index) where outline.finallyGroups.contains(Int(index)):
      drawEnd(of: outline.groups[Int(index)].parent ?? 0)
    case .groupStart(let index):
      guard let parent = outline.groups[Int(index)].parent else { break }
      drawOrder(of: node, outline.groups[Int(index)].step?.needs, in: parent)
    case .groupEnd(let index):
      drawEnd(of: Int(index))
      outline.finally(around: Int(index)).map { edges.append(outline.groups[$0].endNode) }
      outline.groups[Int(index)].parent.map { lastEnds[$0] = node }
    }
    for edge in references[node] { edges.append(Int(edge.target)) }
    edges.closeNode()
  }

  private mutating func drawOrder(of node: Plan.NodeIndex, _ needs: [Need]?, in group: Int) {
    if let needs {
      draw(needs, of: node)
    } else if outline.groups[group].order == .steps, let previous = lastEnds[group] {
      return edges.append(previous)
    }
    let start = outline.groups[group].startNode
    if start >= 0 { edges.append(start) }
  }

  private mutating func drawEnd(of index: Int) {
    drawMembers(of: index)
    let group = outline.groups[index]
    if group.members.isEmpty, group.startNode >= 0 { edges.append(group.startNode) }
    guard !outline.cleanups.isEmpty else { return }
    for member in group.members {
      for step in outline.cleanups[Int(member)] ?? 0..<0 {
        edges.append(outline.steps[Int(step)].node)
      }
    }
  }

  private mutating func drawMembers(of group: Int) {
    for member in outline.groups[group].members { edges.append(outline.end(of: Int(member))) }
  }

  private mutating func draw(_ needs: [Need], of node: Plan.NodeIndex) {
    var drawn = 0
    // Taken once: each use through the array would count references to its three lists.
    let names = names[found.file]
    for index in needs.indices {
      guard let target = target(of: needs[index], of: node, names) else { continue }
      edges.append(target)
      drawn += 1
    }
    if edges.sortNode() < drawn { reportRepetitions(in: needs, of: node) }
  }

  /// The node that `need` waits for; `nil` after reporting why there is none.
  private mutating func target(
    of need: Need, of node: Plan.NodeIndex, _ names: StepNames
  ) -> Plan.NodeIndex? {
    switch names.meaning(of: need.name) {
    case .ambiguous:
      return nil
    case .unknown:
      let help = helpForUnknownName(need.name)
      report(.unknownNeed(of: subject(node), named: need.name, help: help), at: need)
      return nil
    case .node(node):
      report(.needsItself(subject(node)), at: need)
      return nil
    case .node(let target) where outline.group(startingAt: target, encloses: node):
      report(.needsItsGroup(subject(node), group: need.name), at: need)
      return nil
    case .node(let target) where outline.group(startingAt: node, encloses: target):
      report(.needsItsMember(subject(node), member: subject(target)), at: need)
      return nil
    case .node(let target):
      if outline.hidesSteps, let problem = namingProblem(target, by: need, of: node) {
        report(problem, at: need)
        return nil
      }
      return outline.end(of: target)
    }
  }

  private mutating func drawLog(of node: Plan.NodeIndex, _ source: Need) {
    switch names[found.file].meaning(of: source.name) {
    case .ambiguous:
      break
    case .unknown:
      let help = helpForUnknownName(source.name)
      report(.unknownLog(of: subject(node), named: source.name, help: help), at: source)
    case .node(node):
      report(.readsItsOwnLog(subject(node)), at: source)
    case .node(let target):
      if outline.hidesSteps, let problem = namingProblem(target, by: source, of: node) {
        return report(problem, at: source)
      }
      guard case .step(let index) = outline.nodes[target] else {
        return report(.readsLogOfGroup(subject(node), group: source.name), at: source)
      }
      if outline.steps[Int(index)].isLoop {
        return report(.readsLogOfLoop(subject(node), loop: source.name), at: source)
      }
      if outline.steps[Int(index)].command?.usesTerminal == true {
        report(.readsLogOfTerminal(subject(node), step: source.name), at: source)
      }
      if case .step(let reader) = outline.nodes[node] {
        logs.record(Int(reader), reads: Int(index))
      }
      edges.append(target)
    }
  }

  /// The reason why an existing step or group cannot be named here; `nil` if it can.
  private func namingProblem(
    _ target: Plan.NodeIndex, by need: Need, of node: Plan.NodeIndex
  ) -> Diagnostic? {
    if let finalizerScope = outline.finalizerScope(target, to: node) {
      return .needsFinalizer(subject(node), named: need.name, finalizerScope)
    }
    return outline.sealedGroup(around: target, excludingThoseAround: node).map {
      .needsInsideOf(subject(node), member: need.name, of: $0)
    }
  }

  private mutating func reportRepetitions(in needs: [Need], of node: Plan.NodeIndex) {
    var first: [String: Need] = [:]
    for need in needs where names[found.file].meaning(of: need.name).isNode {
      if let earlier = first.updateValue(need, forKey: need.name) {
        first[need.name] = earlier
        let place = outline.place(earlier.place.value, inFile: found.file)
        report(.needsTwice(subject(node), need.name, first: place), at: need)
      }
    }
  }

  private mutating func report(_ problem: Diagnostic, at need: Need) {
    found.append(problem, need.place.value)
  }

  private func subject(_ node: Plan.NodeIndex) -> OutlineMember.Subject {
    outline.member(at: node).subject
  }

  // MARK: Help for unknown names

  private mutating func helpForUnknownName(_ name: String) -> String {
    if let member = member(called: name) {
      let id = StepID(name) == nil ? "an \"id\"" : "\"id\": \"\(name)\""
      return "\(member) has the name \"\(shortName(name))\" but no id: add \(id)"
    }
    return suggestions[found.file].nearest(to: name).asSuggestion
      ?? (EdgeBuilder.isPosition(name)
        ? "\"\(name)\" is a position: give that step an \"id\" and refer to it"
        : "refer to a step or group by its \"id\"")
  }

  /// The first step or group of the file that has this `name` and no id. Found only for as many problems as are shown.
  private func member(called name: String) -> OutlineMember.Subject? {
    guard found.problems.count < DiagnosticCollection.defaultLimit else { return nil }
    let node = outline.nodes.indices.first { node in
      let step = outline.step(at: node)
      return step?.name == name && step?.id == nil && outline.file(of: node) == found.file
    }
    return node.map(subject)
  }

  /// Whether a name looks like the address of a step without an id: `3`, `2.1`, `checks.3`.
  private static func isPosition(_ name: String) -> Bool {
    let parts = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let isNumber = parts.map { part in
      !part.isEmpty && part.count < 10 && part.allSatisfy { (0x30...0x39).contains($0) }
    }
    guard parts.count < 100, let first = parts.first, isNumber.dropFirst().allSatisfy(\.self) else {
      return false
    }
    return isNumber[0] || parts.count > 1 && StepID.isValid(first)
  }
}

extension StepNames.Meaning {
  fileprivate var isNode: Bool {
    guard case .node = self else { return false }
    return true
  }
}

/// The lists of a ``PlanEdges`` under construction, node by node.
private struct EdgeList {
  private var offsets: [Int32] = [0]
  private var targets: [Int32] = []

  init(nodeCount: Int) {
    offsets.reserveCapacity(nodeCount + 1)
    targets.reserveCapacity(nodeCount)
  }

  var edges: PlanEdges { PlanEdges(offsets: offsets, targets: targets) }

  mutating func append(_ target: Plan.NodeIndex) {
    targets.append(Int32(target))
  }

  mutating func closeNode() {
    sortNode()
    offsets.append(Int32(targets.count))
  }

  /// Sorts the targets of the current node, removes duplicates, and returns their number.
  @discardableResult
  mutating func sortNode() -> Int {
    let start = Int(offsets[offsets.count - 1])
    guard targets.count - start > 1 else { return targets.count - start }
    sort(from: start)
    var end = start + 1
    for index in end..<targets.count where targets[index] != targets[end - 1] {
      targets[end] = targets[index]
      end += 1
    }
    targets.removeSubrange(end...)
    return end - start
  }

  /// Most lists are short, and most long ones are already sorted.
  private mutating func sort(from start: Int) {
    if targets.count - start > 16 {
      if zip(targets[start...], targets[(start + 1)...]).contains(where: >) {
        targets[start...].sort()
      }
      return
    }
    for index in start + 1..<targets.count {
      var placeholder = index
      let target = targets[index]
      while placeholder > start, targets[placeholder - 1] > target {
        targets[placeholder] = targets[placeholder - 1]
        placeholder -= 1
      }
      targets[placeholder] = target
    }
  }
}

// MARK: Wording

extension Diagnostic {
  fileprivate typealias Subject = OutlineMember.Subject

  fileprivate static func needsItself(_ subject: Subject) -> Diagnostic {
    problem("W0202", of: subject, "needs itself", key: "needs", help: "remove this need")
  }

  fileprivate static func unknownNeed(
    of subject: Subject, named name: String, help: String
  ) -> Diagnostic {
    problem(
      "W0203", of: subject, "needs \"\(shortName(name))\", which is not a step of this workflow",
      key: "needs", help: help)
  }

  fileprivate static func needsItsGroup(_ subject: Subject, group: String) -> Diagnostic {
    problem(
      "W0204", of: subject, "needs \"\(group)\", which is an enclosing group", key: "needs",
      help: "\"\(group)\" ends only when all its members have ended: name the members to wait for")
  }

  fileprivate static func needsItsMember(_ subject: Subject, member: Subject) -> Diagnostic {
    problem(
      "W0205", of: subject, "needs \(member), which is inside it", key: "needs",
      help:
        "\(member) starts only when \(subject) does: move the need to the members that wait for it")
  }

  /// A member of a group that runs several times, or ends early, is named from outside.
  fileprivate static func needsInsideOf(
    _ subject: Subject, member: String, of sealed: OpaqueGroup
  ) -> Diagnostic {
    problem(
      "W0213", of: subject,
      "waits for \"\(member)\", which cannot be named from outside \"\(sealed.address)\""
        + " (\(sealed.reason.rawValue))",
      key: "needs", help: sealed.help)
  }

  /// A step that runs at the end of something is named by something else.
  fileprivate static func needsFinalizer(
    _ subject: Subject, named name: String, _ scope: FinalizerScope
  ) -> Diagnostic {
    problem(
      "W0214", of: subject, "waits for \"\(name)\", which \(scope.reason)", key: "needs",
      help: scope.help)
  }

  fileprivate static func needsTwice(
    _ subject: Subject, _ name: String, first: Place?
  ) -> Diagnostic {
    Diagnostic(
      "W0501", "\(subject) needs \"\(name)\" twice", key: "needs", help: "remove one of the two",
      severity: .warning, related: .init("the first one is here", first))
  }

  fileprivate static func unknownLog(
    of subject: Subject, named name: String, help: String
  ) -> Diagnostic {
    problem(
      "W0207", of: subject,
      "reads the log of \"\(shortName(name))\", which is not a step of this workflow",
      key: "stdin.log", help: help)
  }

  fileprivate static func readsLogOfGroup(_ subject: Subject, group: String) -> Diagnostic {
    problem(
      "W0208", of: subject, "reads the log of \"\(group)\", which is a group and has none",
      key: "stdin.log", help: "name one of the steps in \"\(group)\"")
  }

  fileprivate static func readsLogOfLoop(_ subject: Subject, loop: String) -> Diagnostic {
    problem(
      "W0208", of: subject,
      "reads the log of \"\(loop)\", which is a loop: each element has its own", key: "stdin.log",
      help: "use a text: \"stdin\": \"${{ join(steps.\(loop).results.*.stdout, '\\n') }}\"")
  }

  fileprivate static func readsItsOwnLog(_ subject: Subject) -> Diagnostic {
    problem(
      "W0209", of: subject, "reads its own log", key: "stdin.log",
      help: "name another step, or remove \"stdin\"")
  }

  fileprivate static func readsLogOfTerminal(_ subject: Subject, step: String) -> Diagnostic {
    problem(
      "W0212", of: subject,
      "reads the log of \"\(step)\", which writes to the terminal and has none", key: "stdin.log",
      help: "remove \"tty\" from \"\(step)\", or let it write to a file")
  }

}
