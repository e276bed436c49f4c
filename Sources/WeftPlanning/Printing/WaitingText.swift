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
