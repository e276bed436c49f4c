import WeftDefinition

/// The plan for Graphviz (`dot`): a box for each step, a cluster for each group.
///
/// A group has two invisible points, so that edges to and from its frame begin and end there, and so that its contents
/// are placed between what comes before and after. Edges that the frame implies are invisible too: from the start to
/// the members, and from them to the end. Boxes on the critical path have a thick frame if durations of earlier runs
/// are known.
struct PlanDOT {
  private static let commandWidth = 40

  private let plan: Plan
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  private let control = ControlRemarks(PlanStyle())
  private let criticalNodes: Set<Plan.NodeIndex>
  private var text = PrintedText()

  init(_ plan: Plan) {
    self.plan = plan
    cleanedUp = plan.cleanedUpNodes()
    criticalNodes = Set(plan.criticalNodes())
  }

  func rendered() -> [UInt8] {
    var printer = self
    printer.write()
    return printer.text.bytes
  }

  private mutating func write() {
    text.append("digraph plan {\n")
    text.append("  graph [compound=true, labelloc=t, fontname=\"sans-serif\", label=\"")
    write(label: plan.title)
    text.append("\"];\n")
    text.append("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
    writeNodes()
    let isWaitedFor = plan.membersWaitedForInside()
    for node in plan.nodes.indices { writeEdges(of: node, isWaitedFor) }
    text.append("}\n")
  }

  private mutating func writeNodes() {
    var depth = 1
    for node in plan.nodes.indices {
      switch plan.nodes[node] {
      case .step(let index):
        text.append(spaces: 2 * depth)
        write(plan.steps[Int(index)])
      case .groupStart(let index):
        text.append(spaces: 2 * depth)
        depth += 1
        write(plan.groups[Int(index)], depth)
      case .groupEnd:
        writePoint(node, depth)
        depth -= 1
        text.append(spaces: 2 * depth)
        text.append("}\n")
      }
    }
  }

  private mutating func write(_ step: PlannedStep) {
    write(node: step.node)
    text.append(" [label=\"")
    write(label: plan.name(of: step) ?? step.address.text)
    text.append("\\n")
    var command = PrintedText()
    CommandText.write(step, atMost: PlanDOT.commandWidth, to: &command)
    write(escaped: command)
    writeTime(of: step)
    writeControl(of: step.step, plan.forecast(of: step))
    text.append("\"")
    // Loops are drawn as a stack, cleanup steps with a dashed line.
    if step.hasControl, step.control.fanOut != nil { text.append(", peripheries=2") }
    if criticalNodes.contains(step.node) { text.append(", penwidth=3") }
    if cleanedUp[step.node] != nil { text.append(", style=\"rounded,dashed\"") }
    if plan.forecast(of: step).isSkipped { text.append(", color=gray, fontcolor=gray") }
    text.append("];\n")
  }

  private mutating func writeTime(of step: PlannedStep) {
    for remark in DurationRemarks.remarks(on: step, plan.forecast(of: step)) {
      text.append("\\n")
      write(label: remark)
    }
  }

  private mutating func writeControl(of step: Step, _ forecast: NodeForecast) {
    for remark in control.remarks(on: step, forecast) {
      text.append("\\n")
      write(label: remark)
    }
  }

  private mutating func write(_ group: PlannedGroup, _ depth: Int) {
    text.append("subgraph cluster_")
    text.append(group.startNode)
    text.append(" {\n")
    text.append(spaces: 2 * depth)
    text.append("label=\"")
    write(label: plan.title(of: group))
    text.append(" (")
    write(label: group.orderText)
    text.append(")")
    group.step.map { writeControl(of: $0, plan.forecast(of: group)) }
    text.append("\";\n")
    writePoint(group.startNode, depth)
  }

  private mutating func writePoint(_ node: Int, _ depth: Int) {
    text.append(spaces: 2 * depth)
    write(node: node)
    text.append(" [shape=point, style=invis, label=\"\"];\n")
  }

  private mutating func writeEdges(of node: Int, _ isWaitedFor: [Bool]) {
    switch plan.nodes[node] {
    case .step(let index):
      if let subject = cleanedUp[node] { return writeCleanupEdge(to: node, after: subject) }
      writeEdges(of: node, in: plan.steps[Int(index)].group)
    case .groupStart(let index) where plan.bodies.finallyGroups.contains(Int(index)):
      for edge in plan.dependencies[node].lazy.map(Int.init) where !isWaitedFor[edge] {
        writeEdge(from: edge, to: node, isVisible: true)
      }
    case .groupStart(let index):
      writeEdges(of: node, in: plan.groups[Int(index)].parent ?? 0)
    case .groupEnd:
      for edge in plan.dependencies[node].lazy.map(Int.init) where !isWaitedFor[edge] {
        writeEdge(from: edge, to: node, isVisible: false)
      }
    }
  }

  private mutating func writeEdges(of node: Int, in group: Int) {
    let start = plan.groups[group].startNode
    plan.visitTellingEdges(of: node, in: group) { edge in
      writeEdge(from: edge, to: node, isVisible: edge != start)
    }
  }

  /// Draws only this edge: a cleanup step also waits for everything around it, but that would be clutter.
  private mutating func writeCleanupEdge(to node: Int, after subject: Int) {
    let from = plan.end(of: subject)
    text.append("  ")
    write(node: from)
    text.append(" -> ")
    write(node: node)
    let attributes = ["style=dashed"] + frame(from, "ltail")
    text.append(" [\(attributes.joined(separator: ", "))];\n")
  }

  private mutating func writeEdge(from: Int, to: Int, isVisible: Bool) {
    text.append("  ")
    write(node: from)
    text.append(" -> ")
    write(node: to)
    guard isVisible else { return text.append(" [style=invis];\n") }
    let frames = frame(from, "ltail") + frame(to, "lhead")
    // The default distance between frames is too small for an arrow.
    let attributes = frames.count == 2 ? frames + ["minlen=2"] : frames
    text.append(attributes.isEmpty ? ";\n" : " [\(attributes.joined(separator: ", "))];\n")
  }

  /// The attribute that ends an edge at the frame of the group whose point it leads to.
  private func frame(_ node: Int, _ attribute: String) -> [String] {
    switch plan.nodes[node] {
    case .step: []
    case .groupStart(let index), .groupEnd(let index):
      ["\(attribute)=cluster_\(plan.groups[Int(index)].startNode)"]
    }
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

  /// Escapes text for a quoted label: the quote and the backslash, and entities, which Graphviz reads as HTML.
  private mutating func write(escaped visible: PrintedText) {
    for byte in visible.bytes {
      switch byte {
      case UInt8(ascii: "\""): text.append("\\\"")
      case UInt8(ascii: "\\"): text.append("\\\\")
      case UInt8(ascii: "&"): text.append("&amp;")
      default: text.append(byte)
      }
    }
  }
}
