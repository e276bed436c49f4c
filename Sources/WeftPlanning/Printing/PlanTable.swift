import WeftDefinition

/// The plan as a table with one line per step, in the order in which one slot would start them: number, address,
/// dependencies, duration in earlier runs, command.
struct PlanTable {
  private static let widestName = 40

  private let plan: Plan
  private let style: PlanStyle
  private let ellipsis: String

  init(_ plan: Plan, _ style: PlanStyle) {
    self.plan = plan
    self.style = style
    ellipsis = style.usesASCII ? "..." : "…"
  }

  func rendered() -> [UInt8] {
    let order = startOrder()
    var waiting = WaitingText(plan, atMost: PlanTable.widestName)
    var waits = PrintedColumn(ellipsis: ellipsis)
    waits.append { $0.append("WAITS FOR", atMost: 9) }
    for step in order { waits.append { waiting.write(for: plan.steps[step], to: &$0) } }
    return rows(of: order, [waits] + [durationColumn(order)].compactMap(\.self))
  }

  /// `nil` if there are no earlier runs.
  private func durationColumn(_ order: [Int]) -> PrintedColumn? {
    guard plan.expectedDurations != nil else { return nil }
    var took = PrintedColumn(ellipsis: ellipsis)
    took.append { $0.append("TOOK", atMost: 4) }
    for step in order {
      let duration = plan.measuredDuration(at: plan.steps[step].node)
      let text = duration.map(ShownDuration.precise) ?? "-"
      took.append { $0.append(text, atMost: .max - 1) }
    }
    return took
  }

  /// The steps as indices, in topological order.
  private func startOrder() -> [Int] {
    plan.topologicalOrder.compactMap { node in
      guard case .step(let index) = plan.nodes[Int(node)] else { return nil }
      return Int(index)
    }
  }

  private func rows(of order: [Int], _ columns: [PrintedColumn]) -> [UInt8] {
    let numberWidth = String(order.count).utf8.count
    let nameWidth = order.reduce(4) { max($0, plan.steps[$1].address.text.utf8.count) }
    let used = columns.reduce(numberWidth + nameWidth + 4) { $0 + $1.width + 2 }
    let left = max(style.width - used, 20)
    let commands = RemarkedCommand(style: style, ellipsis: ellipsis)
    let control = ControlRemarks(style)
    var text = PrintedText()
    text.ellipsis = ellipsis
    text.reserve((order.count + 2) * (used + 24))
    for row in 0...order.count {
      let step = row == 0 ? nil : plan.steps[order[row - 1]]
      text.append(step == nil ? "#" : String(row), filling: numberWidth + 2)
      text.append(step?.address.text ?? "STEP", filling: nameWidth + 2)
      for column in columns {
        column.write(row, to: &text)
        text.append("  ")
      }
      if let step {
        commands.write(
          step, control.remarks(on: step.step, plan.forecast(of: step)), atMost: left, to: &text)
      } else {
        text.append("RUNS")
      }
      text.endLine()
    }
    text.appendEnding(of: plan, width: style.width)
    return text.bytes
  }
}

/// Names the dependencies of steps: other steps, and groups that must have ended.
///
/// The start of a group means nothing to the user, so the dependencies of the group are named instead. At most
/// ``limit`` are named, and only as many as there is room for.
struct WaitingText {
  static let limit = 8

  private let plan: Plan
  private let columns: Int
  /// The dependencies of the current step.
  private var nodes: [Int] = []
  private var isFull = false

  init(_ plan: Plan, atMost columns: Int) {
    self.plan = plan
    self.columns = columns
  }

  /// - Returns: The columns it fills.
  mutating func write(for step: PlannedStep, to text: inout PrintedText) -> Int {
    let finally = plan.bodies.finallyGroups
    if finally.contains(where: {
      plan.dependencies[step.node].contains(Int32(plan.groups[$0].startNode))
    }) {
      return text.append("all else", atMost: columns)
    }
    collect(from: step.node, in: step.group)
    guard let first = nodes.first else {
      text.append("-")
      return 1
    }
    // Addresses are ASCII without control characters.
    var used = text.append(plan.address(of: first).text, atMost: columns)
    for (position, node) in nodes.enumerated().dropFirst() {
      let isLast = position == nodes.count - 1 && !isFull
      let name = plan.address(of: node).text
      let room = columns - (isLast ? 0 : 2 + text.ellipsis.count)
      guard used + 2 + name.utf8.count <= room else { return used + writeMore(to: &text) }
      text.append(", ")
      text.append(name)
      used += 2 + name.utf8.count
    }
    return isFull ? used + writeMore(to: &text) : used
  }

  private func writeMore(to text: inout PrintedText) -> Int {
    text.append(", ")
    text.append(text.ellipsis)
    return 2 + text.ellipsis.count
  }

  /// Collects dependencies from a step outwards, through the starts of enclosing groups.
  private mutating func collect(from step: Int, in group: Int) {
    nodes.removeAll(keepingCapacity: true)
    isFull = false
    var place: (node: Int, group: Int)? = (step, group)
    while let (node, group) = place {
      place = nil
      plan.visitShownEdges(of: node, in: group) { edge in
        if edge == plan.groups[group].startNode {
          place = (edge, plan.groups[group].parent ?? 0)
        } else if nodes.count < WaitingText.limit {
          if !nodes.contains(edge) { nodes.append(edge) }
        } else if !nodes.contains(edge) {
          isFull = true
        }
      }
    }
  }
}
