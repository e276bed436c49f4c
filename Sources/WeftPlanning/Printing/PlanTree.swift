import WeftDefinition

/// The plan as a tree: the nesting as written, groups with their ordering keywords, steps with their commands.
struct PlanTree: PlanWalk {
  private static let widestName = 48
  private static let narrowestCommand = 16

  private let plan: Plan
  private let style: PlanStyle
  private let lines: Lines
  private let commands: RemarkedCommand
  private let cleanedUp: [Plan.NodeIndex: Plan.NodeIndex]
  /// Members of `steps` that do not wait for the one before them, which is the value.
  private let gaps: [Plan.NodeIndex: Plan.NodeIndex]
  /// The width of step names and the lines before them, which aligns the commands.
  private let nameWidth: Int
  private var text = PrintedText()
  /// For each open group, whether more of the group around it follows.
  private var follows: [Bool] = []

  /// The drawing of branches; three columns each.
  private struct Lines {
    var branch: StaticString
    var lastBranch: StaticString
    var pass: StaticString
    var ellipsis: String

    static let unicode = Lines(branch: "├─ ", lastBranch: "└─ ", pass: "│  ", ellipsis: "…")
    static let ascii = Lines(branch: "|- ", lastBranch: "`- ", pass: "|  ", ellipsis: "...")
  }

  static func rendered(_ plan: Plan, _ style: PlanStyle) -> [UInt8] {
    var printer = PlanTree(plan, style)
    printer.writeTitle()
    printer.walk(plan)
    printer.text.appendEnding(of: plan, width: style.width)
    return printer.text.bytes
  }

  private init(_ plan: Plan, _ style: PlanStyle) {
    self.plan = plan
    self.style = style
    lines = style.usesASCII ? .ascii : .unicode
    commands = RemarkedCommand(style: style, ellipsis: lines.ellipsis)
    text.ellipsis = lines.ellipsis
    cleanedUp = plan.cleanedUpNodes()
    var checker = OrderChecker(plan, plan.dependencies)
    gaps = Dictionary(
      checker.gaps().map { ($0.member, $0.previous) }, uniquingKeysWith: { $1 })
    nameWidth = plan.steps.reduce(0) { widest, step in
      let width = 3 * plan.groups[step.group].depth + 3 + step.address.text.utf8.count
      return width <= PlanTree.widestName ? max(widest, width) : widest
    }
  }

  private mutating func writeTitle() {
    var used = text.append(plan.title, atMost: style.width / 2)
    used += text.append(" (\(plan.groups[0].order.rawValue))", atMost: .max - 1)
    write(PlanRemarks.remarks(on: plan.workflow), after: used)
  }

  mutating func write(_ step: PlannedStep, depth: Int) {
    writeBranch(isLast: plan.lastShown(in: step.group) == step.node)
    var used = 3 * follows.count + 3 + text.append(step.address.text, atMost: .max - 1)
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

  mutating func enter(_ group: PlannedGroup, depth: Int) {
    // The top level of another file is shown as the step that runs it.
    if group.isTopLevel { return }
    let isLast = plan.lastShown(in: group.parent ?? 0) == group.startNode
    writeBranch(isLast: isLast)
    let name = "\(group.address?.text ?? "") (\(group.orderText))"
    let used = 3 * follows.count + 3 + text.append(name, atMost: .max - 1)
    var remarks = PlanRemarks.remarks(
      on: group, named: plan.name(of: group), plan.forecast(of: group), style)
    if case .groupStart(let index) = plan.nodes[group.startNode],
      let file = plan.file(runByGroup: Int(index))
    {
      remarks += PlanRemarks.remarks(on: plan.files[file].workflow)
    }
    write(remarks + gap(at: group.startNode), after: used)
    follows.append(!isLast)
  }

  mutating func leave(_ group: PlannedGroup, depth: Int) {
    if !group.isTopLevel { follows.removeLast() }
  }

  private mutating func writeBranch(isLast: Bool) {
    for more in follows { text.append(more ? lines.pass : "   ") }
    text.append(isLast ? lines.lastBranch : lines.branch)
  }

  /// Ends a line of which `used` columns are filled.
  private mutating func write(_ remarks: [String], after used: Int) {
    let left = max(style.width - used, PlanTree.narrowestCommand)
    text.append(commands.remarks(remarks, atMost: left).text.bytes)
    text.endLine()
  }
}
