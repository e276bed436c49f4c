import WeftDefinition

/// The dependencies between the commands of a workflow, by their contents, by the rules of SPEC §1.1.
struct EditModel {
  private enum Node: Hashable {
    case start(Int)
    case end(Int)
  }

  private var dependents: [Node: [Node]] = [:]
  private var byID: [String: EditedWorkflow.Member] = [:]
  /// The contents of all commands.
  private(set) var commands: Set<Int> = []

  init(_ workflow: EditedWorkflow) {
    name(workflow.top)
    add(workflow.top)
  }

  private mutating func name(_ member: EditedWorkflow.Member) {
    if let id = member.id { byID[id] = member }
    for inner in member.members ?? [] { name(inner) }
  }

  private mutating func add(_ group: EditedWorkflow.Member) {
    var before: EditedWorkflow.Member?
    for member in group.members ?? [] {
      let needs =
        member.needs.map { $0.compactMap { byID[$0] } }
        ?? (group.order == .steps ? [before].compactMap { $0 } : [])
      for need in needs {
        dependents[.end(need.content), default: []].append(.start(member.content))
      }
      dependents[.start(group.content), default: []].append(.start(member.content))
      dependents[.end(member.content), default: []].append(.end(group.content))
      if member.isGroup {
        add(member)
      } else {
        commands.insert(member.content)
        dependents[.start(member.content), default: []].append(.end(member.content))
      }
      before = member
    }
  }

  /// The commands that run again with a member that has changed: itself, all in it, and all that depend on it.
  func affected(by id: String) -> Set<Int> {
    byID[id].map { affected(byContent: $0.content) } ?? []
  }

  func affected(byContent content: Int) -> Set<Int> {
    var (found, next) = (Set<Node>(), [Node.start(content)])
    while let node = next.popLast() {
      if found.insert(node).inserted { next += dependents[node] ?? [] }
    }
    return Set(
      found.compactMap { node in
        if case .start(let content) = node, commands.contains(content) { content } else { nil }
      })
  }
}
