import WeftDefinition

/// The nesting as it was written: groups with their order words, steps with what they run.
struct PlanTree {
  private static let widestName = 48
  private static let narrowestCommand = 16

  private let plan: Plan
  private let style: PlanStyle
  private let lines: Lines

  /// What branches are drawn with; three columns each.
  private struct Lines {
    var branch: StaticString
    var lastBranch: StaticString
    var pass: StaticString
    var ellipsis: String

    static let unicode = Lines(branch: "├─ ", lastBranch: "└─ ", pass: "│  ", ellipsis: "…")
    static let ascii = Lines(branch: "|- ", lastBranch: "`- ", pass: "|  ", ellipsis: "...")
  }

  init(_ plan: Plan, _ style: PlanStyle) {
    self.plan = plan
    self.style = style
    lines = style.usesASCII ? .ascii : .unicode
  }

  func rendered() -> [UInt8] {
    var text = PrintedText()
    text.ellipsis = lines.ellipsis
    writeTitle(to: &text)
    let nameWidth = nameWidth()
    // For each open group, whether more of it follows.
    var follows: [Bool] = []
    for node in plan.nodes.indices {
      switch plan.nodes[node] {
      case .step(let index):
        let step = plan.steps[Int(index)]
        writeBranch(to: &text, follows, isLast: isLast(node, in: step.group))
        write(step, indent: 3 * follows.count + 3, nameWidth, to: &text)
      case .groupStart(let index):
        let group = plan.groups[Int(index)]
        let isLast = isLast(node, in: group.parent ?? 0)
        writeBranch(to: &text, follows, isLast: isLast)
        write(group, indent: 3 * follows.count + 3, to: &text)
        follows.append(!isLast)
      case .groupEnd:
        follows.removeLast()
      }
    }
    text.append("\n")
    text.append(PlanSummary(of: plan).text)
    text.endLine()
    return text.bytes
  }

  private func isLast(_ node: Int, in group: Int) -> Bool {
    plan.groups[group].members.last == Int32(node)
  }

  /// What steps' names and the lines before them fill, so that commands begin below each other.
  private func nameWidth() -> Int {
    var widest = 0
    for step in plan.steps {
      let width = 3 * plan.groups[step.group].depth + 3 + step.address.text.utf8.count
      if width <= PlanTree.widestName { widest = max(widest, width) }
    }
    return widest
  }

  private func writeTitle(to text: inout PrintedText) {
    var used = text.append(plan.title, atMost: style.width / 2)
    used += text.append(" (\(plan.groups[0].order.rawValue))", atMost: .max - 1)
    let left = max(style.width - used, PlanTree.narrowestCommand)
    text.append(remarks(PlanRemarks.remarks(on: plan.workflow), atMost: left).text.bytes)
    text.endLine()
  }

  private func writeBranch(to text: inout PrintedText, _ follows: [Bool], isLast: Bool) {
    for more in follows { text.append(more ? lines.pass : "   ") }
    text.append(isLast ? lines.lastBranch : lines.branch)
  }

  private func write(
    _ step: PlannedStep, indent: Int, _ nameWidth: Int, to text: inout PrintedText
  ) {
    var used = indent + text.append(step.address.text, atMost: .max - 1)
    let gap = max(nameWidth - used, 0) + 2
    text.append(spaces: gap)
    used += gap
    let left = max(style.width - used, PlanTree.narrowestCommand)
    let remarks = PlanRemarks.remarks(on: step, named: plan.name(of: step))
    let command = command(step, atMost: left)
    let ending = self.remarks(remarks, atMost: max(left - command.width, style.width / 2))
    if command.width + ending.width > style.width - used {
      let shorter = max(style.width - used - ending.width, PlanTree.narrowestCommand)
      text.append(self.command(step, atMost: min(shorter, left)).text.bytes)
    } else {
      text.append(command.text.bytes)
    }
    text.append(ending.text.bytes)
    text.endLine()
  }

  private func command(
    _ step: PlannedStep, atMost columns: Int
  ) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    text.ellipsis = lines.ellipsis
    let width = CommandText.write(step, atMost: columns, to: &text)
    return (text, width)
  }

  private func write(_ group: PlannedGroup, indent: Int, to text: inout PrintedText) {
    let name = "\(group.address?.text ?? "") (\(group.order.rawValue))"
    let used = indent + text.append(name, atMost: .max - 1)
    let left = max(style.width - used, PlanTree.narrowestCommand)
    text.append(
      remarks(PlanRemarks.remarks(on: group, named: plan.name(of: group)), atMost: left).text.bytes)
    text.endLine()
  }

  private func remarks(
    _ remarks: [String], atMost columns: Int
  ) -> (text: PrintedText, width: Int) {
    var text = PrintedText()
    guard !remarks.isEmpty else { return (text, 0) }
    text.ellipsis = lines.ellipsis
    text.append("  # ")
    let width = text.append(remarks.joined(separator: "; "), atMost: columns - 4)
    return (text, width + 4)
  }
}
