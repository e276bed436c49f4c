/// Names what a step waits for: steps, and groups to have ended.
///
/// The start of a group is no name to people: what the group waits for stands in its place. At most
/// ``limit`` are named.
struct WaitingText {
  static let limit = 8

  private let plan: Plan
  private var names: [StepAddress] = []
  private var isFull = false

  /// - Returns: The columns that are filled.
  static func write(
    for step: PlannedStep, of plan: Plan, atMost columns: Int, to text: inout PrintedText
  ) -> Int {
    var waiting = WaitingText(plan: plan)
    waiting.collect(step)
    guard let first = waiting.names.first else {
      text.append("-")
      return 1
    }
    if waiting.names.count == 1 { return text.append(first.text, atMost: columns) }
    return text.append(waiting.list(text.ellipsis), atMost: columns)
  }

  private init(plan: Plan) { self.plan = plan }

  /// From the step outwards, through the starts of the groups that are said to be waited for.
  private mutating func collect(_ step: PlannedStep) {
    var node = step.node
    var group: Int? = step.group
    while let current = group {
      group = nil
      for edge in plan.tellingEdges(of: node, in: current) {
        switch plan.nodes[edge] {
        case .step(let index): add(plan.steps[Int(index)].address)
        case .groupEnd(let index): plan.groups[Int(index)].address.map { add($0) }
        case .groupStart:
          node = edge
          group = plan.groups[current].parent
        }
      }
    }
  }

  private mutating func add(_ name: StepAddress) {
    guard !names.contains(name) else { return }
    if names.count < WaitingText.limit { names.append(name) } else { isFull = true }
  }

  private func list(_ ellipsis: String) -> String {
    names.map(\.text).joined(separator: ", ") + (isFull ? ", " + ellipsis : "")
  }
}
