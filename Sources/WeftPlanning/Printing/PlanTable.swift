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
    return rows(of: order, [waits] + [tookColumn(order)].compactMap(\.self))
  }

  /// `nil` if there are no earlier runs.
  private func tookColumn(_ order: [Int]) -> PrintedColumn? {
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
    let commands = RemarkedCommand(style, ellipsis: ellipsis)
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
    text.append("\n")
    text.append(PlanSummary(of: plan).text)
    text.endLine()
    CriticalPathText(plan)?.write(to: &text, width: style.width)
    return text.bytes
  }
}
