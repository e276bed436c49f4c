/// Names what steps wait for: other steps, and groups to have ended.
///
/// The start of a group is no name to people: what the group waits for stands in its place. At most
/// ``limit`` are named, and as many of them as there is room for.
struct WaitingText {
  static let limit = 8

  private let plan: Plan
  private let columns: Int
  /// What the step that is being written waits for.
  private var nodes: [Int] = []
  private var isFull = false

  init(_ plan: Plan, atMost columns: Int) {
    self.plan = plan
    self.columns = columns
  }

  /// - Returns: The columns that are filled.
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
    // Addresses are ASCII and harmless.
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

  /// From a step outwards, through the starts of the groups that are said to be waited for.
  private mutating func collect(from step: Int, in group: Int) {
    nodes.removeAll(keepingCapacity: true)
    isFull = false
    var place: (node: Int, group: Int)? = (step, group)
    while let (node, group) = place {
      place = nil
      plan.visitTellingEdges(of: node, in: group) { edge in
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
