import WeftDefinition

/// The plan as a Mermaid flowchart: a box for each step, a subgraph for each group.
///
/// Ids are generated, `n0`, `n1` …, because Mermaid reserves many words, such as `end`. Its viewers reject more than
/// 50,000 characters and 500 edges unless configured otherwise (`maxTextSize`, `maxEdges`).
struct PlanMermaid: PlanDrawing {
  static let lineBreak: StaticString = "<br/>"

  let edges: DrawnEdges
  var text = PrintedText()

  static func rendered(_ plan: Plan) -> [UInt8] {
    var printer = PlanMermaid(edges: DrawnEdges(plan))
    printer.text.append("flowchart TD\n")
    printer.walk(plan)
    for step in plan.steps { printer.writeEdges(to: step.node) }
    for group in plan.groups.dropFirst() { printer.writeEdges(to: group.startNode) }
    printer.markCriticalPath()
    return printer.text.bytes
  }

  mutating func write(_ step: PlannedStep, depth: Int) {
    text.append(spaces: 2 * depth + 2)
    write(node: step.node)
    // Loops have a double frame.
    let isMany = step.isLoop
    text.append(isMany ? "[[\"" : "[\"")
    writeLabel(of: step)
    text.append(isMany ? "\"]]\n" : "\"]\n")
  }

  /// Writes a group without members as a box: a subgraph must not be empty.
  mutating func enter(_ group: PlannedGroup, depth: Int) {
    text.append(spaces: 2 * depth + 2)
    if !group.members.isEmpty { text.append("subgraph ") }
    write(node: group.startNode)
    text.append("[\"")
    writeLabel(of: group)
    text.append("\"]\n")
  }

  mutating func leave(_ group: PlannedGroup, depth: Int) {
    guard !group.members.isEmpty else { return }
    text.append(spaces: 2 * depth + 2)
    text.append("end\n")
  }

  private mutating func writeEdges(to node: Plan.NodeIndex) {
    edges.visit(to: node) { from, kind in
      guard kind != .implied else { return }
      text.append("  ")
      write(node: shown(from))
      text.append(kind == .cleanup ? " -.-> " : " --> ")
      write(node: node)
      text.append("\n")
    }
  }

  /// The node to draw: a subgraph is one node, named after its start.
  private func shown(_ node: Int) -> Int {
    guard case .groupEnd(let index) = edges.plan.nodes[node] else { return node }
    return edges.plan.groups[Int(index)].startNode
  }

  /// Gives boxes on the critical path a thick frame, if durations of earlier runs are known.
  private mutating func markCriticalPath() {
    guard !edges.criticalNodes.isEmpty else { return }
    text.append("  classDef critical stroke-width:4px\n  class ")
    text.append(edges.criticalNodes.map { "n\($0)" }.joined(separator: ","))
    text.append(" critical\n")
  }

  /// Escapes a line. Mermaid interprets Markdown, HTML, entities, directives and icons even there, so
  /// all of ASCII except letters, digits and a few safe characters becomes entities.
  mutating func write(escaped line: PrintedText) {
    let label = Array(String(decoding: line.bytes, as: UTF8.self).unicodeScalars)
    for index in label.indices {
      if label[index] == "\"" {
        text.append("#quot;")
      } else if isPlain(index, of: label) {
        text.append(String(label[index]))
      } else {
        text.append("#")
        text.append(Int(label[index].value))
        text.append(";")
      }
    }
  }

  private func isPlain(_ index: Int, of label: [Unicode.Scalar]) -> Bool {
    switch label[index] {
    case "a"..."z", "A"..."Z", "0"..."9": true
    // At the beginning of a line, these make a list, a heading or a code block.
    case " ", "-", "/", ",", "=": index > 0
    case ".": isPoint(index, of: label)
    // Mermaid marks entities with this character while it parses.
    case "\u{FB02}": false
    default: !label[index].isASCII
    }
  }

  /// Whether a period neither ends the number of a list nor follows the `www` of a link.
  private func isPoint(_ index: Int, of label: [Unicode.Scalar]) -> Bool {
    let next = label[(index + 1)...].first
    let link = label[..<index].suffix(3).allSatisfy { $0 == "w" || $0 == "W" }
    return !link
      && next.map { $0.isASCII && $0.properties.isAlphabetic || ("0"..."9").contains($0) }
        == true
  }
}
