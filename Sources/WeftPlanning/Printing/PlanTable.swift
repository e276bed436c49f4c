/// A line for each step in the order in which one slot would start them: number, address, what it
/// waits for, what it runs.
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
    var numbers = PrintedColumn(ellipsis: ellipsis)
    var names = PrintedColumn(ellipsis: ellipsis)
    var waits = PrintedColumn(ellipsis: ellipsis)
    numbers.append { $0.append("#", atMost: 1) }
    names.append { $0.append("STEP", atMost: 4) }
    waits.append { $0.append("WAITS FOR", atMost: 9) }
    for (number, step) in order.enumerated() {
      numbers.append { $0.append(String(number + 1), atMost: .max - 1) }
      names.append { $0.append(plan.steps[step].address.text, atMost: .max - 1) }
      waits.append {
        WaitingText.write(
          for: plan.steps[step], of: plan, atMost: PlanTable.widestName, to: &$0)
      }
    }
    return rows(of: order, [numbers, names, waits])
  }

  /// The steps as indices, in topological order.
  private func startOrder() -> [Int] {
    plan.topologicalOrder.compactMap { node in
      guard case .step(let index) = plan.nodes[Int(node)] else { return nil }
      return Int(index)
    }
  }

  private func rows(of order: [Int], _ columns: [PrintedColumn]) -> [UInt8] {
    let used = columns.reduce(0) { $0 + $1.width + 2 }
    let left = max(style.width - used, 20)
    var text = PrintedText()
    text.ellipsis = ellipsis
    text.reserve((order.count + 2) * (used + 24))
    for row in 0...order.count {
      for column in columns {
        column.write(row, to: &text)
        text.append("  ")
      }
      if row == 0 {
        text.append("RUNS")
      } else {
        CommandText.write(plan.steps[order[row - 1]].command, atMost: left, to: &text)
      }
      text.endLine()
    }
    text.append("\n")
    text.append(PlanSummary(of: plan).text)
    text.endLine()
    return text.bytes
  }
}
