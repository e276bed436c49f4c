import WeftDefinition

/// The plan as a Mermaid flowchart: a box for each step, a subgraph for each group.
///
/// Ids are generated, `n0`, `n1` …, because Mermaid reserves many words, such as `end`. Its viewers reject more than
/// 50,000 characters and 500 edges unless configured otherwise (`maxTextSize`, `maxEdges`).
struct PlanMermaid {
  private static let commandWidth = 40

  private let plan: Plan
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  private let control = ControlRemarks(PlanStyle())
  private var text = PrintedText()

  init(_ plan: Plan) {
    self.plan = plan
    cleanedUp = plan.cleanedUpNodes()
  }

  func rendered() -> [UInt8] {
    var printer = self
    printer.write()
    return printer.text.bytes
  }

  private mutating func write() {
    text.append("flowchart TD\n")
    writeNodes()
    for step in plan.steps {
      if let subject = cleanedUp[step.node] {
        writeEdge(from: subject, " -.-> ", to: step.node)
      } else {
        writeEdges(of: step.node, in: step.group)
      }
    }
    for (index, group) in plan.groups.enumerated().dropFirst() {
      if plan.bodies.finallyGroups.contains(index) {
        writeEdges(toFinally: group)
      } else {
        writeEdges(of: group.startNode, in: group.parent ?? 0)
      }
    }
    markCriticalPath()
  }

  /// Gives boxes on the critical path a thick frame, if durations of earlier runs are known.
  private mutating func markCriticalPath() {
    let nodes = plan.criticalNodes()
    guard !nodes.isEmpty else { return }
    text.append("  classDef critical stroke-width:4px\n  class ")
    text.append(nodes.map { "n\($0)" }.joined(separator: ","))
    text.append(" critical\n")
  }

  private mutating func writeEdges(toFinally group: PlannedGroup) {
    let isWaitedFor = plan.membersWaitedForInside()
    for edge in plan.dependencies[group.startNode].lazy.map(Int.init) where !isWaitedFor[edge] {
      writeEdge(from: shown(edge), " --> ", to: group.startNode)
    }
  }

  private mutating func writeNodes() {
    var depth = 1
    for node in plan.nodes.indices {
      switch plan.nodes[node] {
      case .step(let index):
        write(plan.steps[Int(index)], depth)
      case .groupStart(let index):
        write(plan.groups[Int(index)], depth)
        depth += 1
      case .groupEnd(let index):
        depth -= 1
        guard !plan.groups[Int(index)].members.isEmpty else { continue }
        text.append(spaces: 2 * depth)
        text.append("end\n")
      }
    }
  }

  private mutating func write(_ step: PlannedStep, _ depth: Int) {
    text.append(spaces: 2 * depth)
    write(node: step.node)
    // Loops have a double frame.
    let isMany = step.hasControl && step.control.fanOut != nil
    text.append(isMany ? "[[\"" : "[\"")
    write(label: plan.name(of: step) ?? step.address.text)
    text.append("<br/>")
    var command = PrintedText()
    CommandText.write(step, atMost: PlanMermaid.commandWidth, to: &command)
    write(escaped: command)
    writeTime(of: step)
    writeControl(of: step.step, plan.forecast(of: step))
    text.append(isMany ? "\"]]\n" : "\"]\n")
  }

  private mutating func writeTime(of step: PlannedStep) {
    for remark in DurationRemarks.remarks(on: step, plan.forecast(of: step)) {
      text.append("<br/>")
      write(label: remark)
    }
  }

  private mutating func writeControl(of step: Step, _ forecast: NodeForecast) {
    for remark in control.remarks(on: step, forecast) {
      text.append("<br/>")
      write(label: remark)
    }
  }

  /// Writes a group without members as a box: a subgraph must not be empty.
  private mutating func write(_ group: PlannedGroup, _ depth: Int) {
    text.append(spaces: 2 * depth)
    if !group.members.isEmpty { text.append("subgraph ") }
    write(node: group.startNode)
    text.append("[\"")
    write(label: plan.title(of: group))
    text.append(" (")
    write(label: group.orderText)
    text.append(")")
    group.step.map { writeControl(of: $0, plan.forecast(of: group)) }
    text.append("\"]\n")
  }

  private mutating func writeEdges(of node: Int, in group: Int) {
    let start = plan.groups[group].startNode
    plan.visitTellingEdges(of: node, in: group) { edge in
      guard edge != start else { return }
      writeEdge(from: shown(edge), " --> ", to: node)
    }
  }

  private mutating func writeEdge(from: Int, _ arrow: StaticString, to: Int) {
    text.append("  ")
    write(node: from)
    text.append(arrow)
    write(node: to)
    text.append("\n")
  }

  /// The node to draw: a subgraph is one node, named after its start.
  private func shown(_ node: Int) -> Int {
    guard case .groupEnd(let index) = plan.nodes[node] else { return node }
    return plan.groups[Int(index)].startNode
  }

  private mutating func write(node: Int) {
    text.append("n")
    text.append(node)
  }

  private mutating func write(label: String) {
    var visible = PrintedText()
    visible.append(label, atMost: 80)
    write(escaped: visible)
  }

  /// Escapes text for a quoted label. Mermaid interprets Markdown, HTML, entities, directives and icons even there, so
  /// all of ASCII except letters, digits and a few safe characters becomes entities.
  private mutating func write(escaped visible: PrintedText) {
    let label = Array(String(decoding: visible.bytes, as: UTF8.self).unicodeScalars)
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
