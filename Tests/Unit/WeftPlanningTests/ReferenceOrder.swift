import WeftDefinition

/// The order of steps, directly from the sentences of SPEC §1.1: no nodes for groups, no indices, no regard to speed.
///
/// For each step, the set of steps that end before it starts.
struct ReferenceOrder {
  private(set) var before: [String: Set<String>] = [:]

  /// The own dependencies of each step and group, and its enclosing groups.
  private var waits: [String: [String]] = [:]
  private var ancestors: [String: [String]] = [:]
  private var leaves: [String: [String]] = [:]

  init(of workflow: Workflow) {
    visit(workflow.body, around: [])
    let steps = leaves.filter { $0.value == [$0.key] }.keys
    // The steps reachable from a step through the dependencies of it and of its enclosing groups.
    for step in steps {
      var found: Set<String> = []
      var left = direct(step)
      while let next = left.popLast() {
        if found.insert(next).inserted { left += direct(next) }
      }
      before[step] = found.filter { leaves[$0] == [$0] }
    }
  }

  /// Whether there is a cycle. Groups count, too: a cycle may run through an empty one.
  var hasCycle: Bool {
    waits.keys.contains { name in
      var found: Set<String> = []
      var left = direct(name)
      while let next = left.popLast() {
        if next == name { return true }
        if found.insert(next).inserted { left += direct(next) }
      }
      return false
    }
  }

  /// The names that `name` depends on, with everything in them.
  private func direct(_ name: String) -> [String] {
    ([name] + ancestors[name]!).flatMap { waits[$0]! }.flatMap { [$0] + inside[$0]! }
  }

  /// Everything in a group, groups included.
  private var inside: [String: [String]] = [:]

  private mutating func visit(_ group: StepGroup, around: [String]) {
    for (index, member) in group.members.enumerated() {
      let name = member.id!.text
      if let needs = member.needs {
        waits[name] = needs.map(\.name)
      } else if group.order == .steps, index > 0 {
        waits[name] = [group.members[index - 1].id!.text]
      } else {
        waits[name] = []
      }
      ancestors[name] = around
      inside[name] = []
      leaves[name] = [name]
      for outer in around { inside[outer]!.append(name) }
      if case .group(let inner) = member.action {
        leaves[name] = []
        visit(inner, around: around + [name])
      }
    }
  }
}
