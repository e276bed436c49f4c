import WeftDefinition
import WeftDrawing

/// A printer that shows the nesting of a plan as written.
protocol PlanWalk {
  /// - Parameter depth: The number of groups around the step, without the top level of the plan.
  mutating func write(_ step: PlannedStep, depth: Int)
  mutating func enter(_ group: PlannedGroup, depth: Int)
  mutating func leave(_ group: PlannedGroup, depth: Int)
}

extension PlanWalk {
  /// Visits all steps and groups in file order, except for the top level of the plan.
  mutating func walk(_ plan: Plan) {
    var depth = 0
    for node in plan.nodes {
      switch node {
      case .step(let index): write(plan.steps[Int(index)], depth: depth)
      case .groupStart(let index):
        enter(plan.groups[Int(index)], depth: depth)
        depth += 1
      case .groupEnd(let index):
        depth -= 1
        leave(plan.groups[Int(index)], depth: depth)
      }
    }
  }
}

/// A printer that draws a plan as a graph: boxes in boxes, and arrows between them.
protocol PlanDrawing: PlanWalk {
  /// The sign for a line break within a label.
  static var lineBreak: StaticString { get }

  var edges: DrawnEdges { get }
  var text: PrintedText { get set }

  /// Writes one line of a label, which cannot control a terminal, in the quotes of the format.
  mutating func write(escaped line: PrintedText)
}

extension PlanDrawing {
  private static var commandWidth: Int { 40 }
  private static var labelWidth: Int { 80 }
  private var plan: Plan { edges.plan }

  mutating func write(node: Plan.NodeIndex) {
    text.append("n")
    text.append(node)
  }

  mutating func write(label: String) {
    var line = PrintedText()
    line.append(label, atMost: Self.labelWidth)
    write(escaped: line)
  }

  /// Writes the name of a step, its command, and remarks, each on its own line.
  mutating func writeLabel(of step: PlannedStep) {
    write(label: plan.name(of: step) ?? step.address.text)
    text.append(Self.lineBreak)
    var command = PrintedText()
    CommandText.write(step, atMost: Self.commandWidth, to: &command)
    write(escaped: command)
    let forecast = plan.forecast(of: step)
    write(remarks: DurationRemarks.remarks(on: step, forecast))
    write(remarks: ControlRemarks(PlanStyle()).remarks(on: step.step, forecast))
  }

  /// Writes the title of a group and its order, and remarks, each on its own line.
  mutating func writeLabel(of group: PlannedGroup) {
    write(label: plan.title(of: group))
    text.append(" (")
    write(label: group.orderText)
    text.append(")")
    guard let step = group.step else { return }
    write(remarks: ControlRemarks(PlanStyle()).remarks(on: step, plan.forecast(of: group)))
  }

  private mutating func write(remarks: [String]) {
    for remark in remarks {
      text.append(Self.lineBreak)
      write(label: remark)
    }
  }
}

/// The edges of a plan that a drawing shows.
struct DrawnEdges {
  enum Kind {
    case plain
    /// From a step or group to its cleanup step.
    case cleanup
    /// Between a group and its contents, which its frame implies.
    case implied
  }

  let plan: Plan
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  /// For the end of each member, whether another member of the same group waits for it.
  private let isWaitedFor: [Bool]
  /// The steps on the critical path, in path order; empty if there are no earlier runs.
  let criticalNodes: [Plan.NodeIndex]

  init(_ plan: Plan) {
    self.plan = plan
    cleanedUp = plan.cleanedUpNodes()
    criticalNodes = plan.criticalNodes()
    var isWaitedFor = Array(repeating: false, count: plan.nodes.count)
    for group in plan.groups {
      for member in group.members {
        for edge in plan.dependencies[Int(member)] where edge > group.startNode {
          isWaitedFor[Int(edge)] = true
        }
      }
    }
    self.isWaitedFor = isWaitedFor
  }

  func isCleanup(_ step: PlannedStep) -> Bool { cleanedUp[step.node] != nil }

  /// Visits the edges of a node. A cleanup step also waits for everything around it, but that would be clutter.
  func visit(to node: Plan.NodeIndex, _ visit: (_ from: Plan.NodeIndex, Kind) -> Void) {
    switch plan.nodes[node] {
    case .step(let index):
      if let subject = cleanedUp[node] { return visit(plan.end(of: subject), .cleanup) }
      visitShownEdges(to: node, in: plan.steps[Int(index)].group, visit)
    case .groupStart(let index) where plan.bodies.finallyGroups.contains(Int(index)):
      visitLastMembers(before: node) { visit($0, .plain) }
    case .groupStart(let index):
      visitShownEdges(to: node, in: plan.groups[Int(index)].parent ?? 0, visit)
    case .groupEnd:
      visitLastMembers(before: node) { visit($0, .implied) }
    }
  }

  private func visitShownEdges(
    to node: Plan.NodeIndex, in group: Int, _ visit: (Plan.NodeIndex, Kind) -> Void
  ) {
    let start = plan.groups[group].startNode
    plan.visitShownEdges(of: node, in: group) { visit($0, $0 == start ? .implied : .plain) }
  }

  private func visitLastMembers(before node: Plan.NodeIndex, _ visit: (Plan.NodeIndex) -> Void) {
    for edge in plan.dependencies[node].lazy.map(Int.init) where !isWaitedFor[edge] { visit(edge) }
  }
}

/// The forms in which a plan is printed: the dry run.
///
/// Printing is another reader of the plan. It starts nothing, reads nothing and uses no clock or environment: the same
/// plan is always printed as the same bytes.
public enum PlanFormat: String, Sendable, Hashable, CaseIterable {
  /// The nesting as written, with the action of each step and remarks on its options.
  case tree
  /// One line per step, in the order in which one slot would start them.
  case table
  /// Graphviz; groups are clusters.
  case dot
  /// A Mermaid flowchart; groups are subgraphs.
  case mermaid
  /// The whole plan for other programs; see ``PlanJSON``.
  case json
  /// A drawing; see ``PlanPicture``.
  case svg
  /// The drawing in a page of its own, which can be zoomed and moved.
  case html
}

/// The style of plans printed for people; ``PlanFormat/json`` ignores it.
public struct PlanStyle: Sendable, Hashable {
  /// The columns of a line, to which commands and remarks are shortened; names are never shortened.
  public var width: Int
  /// Whether to draw trees and ellipses in ASCII. Names are unchanged.
  public var usesASCII: Bool

  /// A width that shortens nothing.
  public static let unlimited = 1 << 24

  public init(width: Int = 100, usesASCII: Bool = false) {
    self.width = max(width, 40)
    self.usesASCII = usesASCII
  }
}

extension Plan {
  /// The plan as text in UTF-8, with a line end at its end.
  ///
  /// Nothing in names and commands can control a terminal or the programs that read the format: control characters and
  /// those that reorder text are escaped visibly, except in JSON, which has its own escapes and remains exact.
  public func rendered(as format: PlanFormat, style: PlanStyle = PlanStyle()) -> [UInt8] {
    switch format {
    case .tree: PlanTree.rendered(self, style)
    case .table: PlanTable(self, style).rendered()
    case .dot: PlanDOT.rendered(self)
    case .mermaid: PlanMermaid.rendered(self)
    case .json: PlanJSON.rendered(self)
    case .svg: SVGWriter.rendered(PlanPicture.picture(of: self))
    case .html: HTMLPage.rendered(PlanPicture.picture(of: self))
    }
  }
}
