import WeftDefinition

/// The plan for Graphviz (`dot`): a box for each step, a cluster for each group.
///
/// A group has two invisible points, so that edges to and from its frame begin and end there, and so that its contents
/// are placed between what comes before and after. Edges that the frame implies are invisible too: from the start to
/// the members, and from them to the end. Boxes on the critical path have a thick frame if durations of earlier runs
/// are known.
struct PlanDOT: PlanDrawing {
  static let lineBreak: StaticString = "\\n"

  let edges: DrawnEdges
  var text = PrintedText()
  private let criticalNodes: Set<Plan.NodeIndex>

  static func rendered(_ plan: Plan) -> [UInt8] {
    var printer = PlanDOT(plan)
    printer.text.append("digraph plan {\n")
    printer.text.append("  graph [compound=true, labelloc=t, fontname=\"sans-serif\", label=\"")
    printer.write(label: plan.title)
    printer.text.append("\"];\n")
    printer.text.append("  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n")
    printer.walk(plan)
    for node in plan.nodes.indices {
      printer.edges.visit(to: node) { printer.writeEdge(from: $0, to: node, $1) }
    }
    printer.text.append("}\n")
    return printer.text.bytes
  }

  private init(_ plan: Plan) {
    edges = DrawnEdges(plan)
    criticalNodes = Set(edges.criticalNodes)
  }

  mutating func write(_ step: PlannedStep, depth: Int) {
    indent(depth)
    write(node: step.node)
    text.append(" [label=\"")
    writeLabel(of: step)
    text.append("\"")
    // Loops are drawn as a stack, cleanup steps with a dashed line.
    if step.isLoop { text.append(", peripheries=2") }
    if criticalNodes.contains(step.node) { text.append(", penwidth=3") }
    if edges.isCleanup(step) { text.append(", style=\"rounded,dashed\"") }
    if edges.plan.forecast(of: step).isSkipped { text.append(", color=gray, fontcolor=gray") }
    text.append("];\n")
  }

  mutating func enter(_ group: PlannedGroup, depth: Int) {
    indent(depth)
    text.append("subgraph cluster_")
    text.append(group.startNode)
    text.append(" {\n")
    indent(depth + 1)
    text.append("label=\"")
    writeLabel(of: group)
    text.append("\";\n")
    writePoint(group.startNode, depth + 1)
  }

  mutating func leave(_ group: PlannedGroup, depth: Int) {
    writePoint(group.endNode, depth + 1)
    indent(depth)
    text.append("}\n")
  }

  private mutating func writePoint(_ node: Int, _ depth: Int) {
    indent(depth)
    write(node: node)
    text.append(" [shape=point, style=invis, label=\"\"];\n")
  }

  private mutating func indent(_ depth: Int) { text.append(spaces: 2 * depth + 2) }

  private mutating func writeEdge(from: Int, to: Int, _ kind: DrawnEdges.Kind) {
    text.append("  ")
    write(node: from)
    text.append(" -> ")
    write(node: to)
    var attributes = frame(from, "ltail")
    switch kind {
    case .plain:
      attributes += frame(to, "lhead")
      // The default distance between frames is too small for an arrow.
      if attributes.count == 2 { attributes.append("minlen=2") }
    case .cleanup: attributes.insert("style=dashed", at: 0)
    case .implied: attributes = ["style=invis"]
    }
    text.append(attributes.isEmpty ? ";\n" : " [\(attributes.joined(separator: ", "))];\n")
  }

  /// The attribute that ends an edge at the frame of the group whose point it leads to.
  private func frame(_ node: Int, _ attribute: String) -> [String] {
    switch edges.plan.nodes[node] {
    case .step: []
    case .groupStart(let index), .groupEnd(let index):
      ["\(attribute)=cluster_\(edges.plan.groups[Int(index)].startNode)"]
    }
  }

  /// Escapes the quote and the backslash, and entities, which Graphviz reads as HTML.
  mutating func write(escaped line: PrintedText) {
    for byte in line.bytes {
      switch byte {
      case UInt8(ascii: "\""): text.append("\\\"")
      case UInt8(ascii: "\\"): text.append("\\\\")
      case UInt8(ascii: "&"): text.append("&amp;")
      default: text.append(byte)
      }
    }
  }
}
