import WeftDefinition

/// The plan as a tree: the nesting as written, groups with their ordering keywords, steps with their commands.
struct PlanTree {
  private static let widestName = 48
  private static let narrowestCommand = 16

  private let plan: Plan
  private let style: PlanStyle
  private let lines: Lines
  private let commands: RemarkedCommand
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  /// Members of `steps` that do not wait for the one before them, which is the value.
  private let gaps: [Plan.NodeIndex: Plan.NodeIndex]

  /// The drawing of branches; three columns each.
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
    commands = RemarkedCommand(style, ellipsis: lines.ellipsis)
    cleanedUp = plan.cleanedUpNodes()
    gaps = Dictionary(
      OrderChecker.gaps(in: plan).map { ($0.member, $0.previous) }, uniquingKeysWith: { $1 })
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
      // The top level of another file is shown as the step that runs it.
      case .groupStart(let index) where plan.groups[Int(index)].isTopLevel: break
      case .groupEnd(let index) where plan.groups[Int(index)].isTopLevel: break
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
    CriticalPathText(plan)?.write(to: &text, width: style.width)
    return text.bytes
  }

  private func isLast(_ node: Int, in group: Int) -> Bool {
    plan.lastShown(in: group) == node
  }

  /// The width of step names and the lines before them, which aligns the commands.
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
    let remarks = PlanRemarks.remarks(on: plan.workflow)
    text.append(commands.remarks(remarks, atMost: left).text.bytes)
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
    commands.write(step, remarks(on: step), atMost: style.width - used, to: &text)
    text.endLine()
  }

  private func remarks(on step: PlannedStep) -> [String] {
    let remarks =
      PlanRemarks.remarks(
        on: step, named: plan.name(of: step), plan.forecast(of: step), style) + gap(at: step.node)
    guard let node = cleanedUp[step.node] else { return remarks }
    return ["cleans up after \(plan.address(of: node))"] + remarks
  }

  private func gap(at node: Plan.NodeIndex) -> [String] {
    gaps[node].map { ["does not wait for \(plan.address(of: $0))"] } ?? []
  }

  private func write(_ group: PlannedGroup, indent: Int, to text: inout PrintedText) {
    let name = "\(group.address?.text ?? "") (\(group.orderText))"
    let used = indent + text.append(name, atMost: .max - 1)
    let left = max(style.width - used, PlanTree.narrowestCommand)
    var remarks = PlanRemarks.remarks(
      on: group, named: plan.name(of: group), plan.forecast(of: group), style)
    if case .groupStart(let index) = plan.nodes[group.startNode],
      let file = plan.file(runByGroup: Int(index))
    {
      remarks += PlanRemarks.remarks(on: plan.files[file].workflow)
    }
    remarks += gap(at: group.startNode)
    text.append(commands.remarks(remarks, atMost: left).text.bytes)
    text.endLine()
  }
}
