import WeftDefinition
import WeftTestKit

/// A workflow of commands in nested groups, and random edits of it. Each command has a content that no other has.
struct EditedWorkflow {
  /// A command or a group.
  struct Member {
    /// `nil` for a command that is addressed by its number; groups have one.
    var id: String?
    /// The content of a command; it stays the same when the command is moved.
    var content: Int
    /// The members of a group; `nil` for a command.
    var members: [Member]?
    var order = StepGroup.Order.steps
    /// The ids of what it needs; `nil` for what follows from its position.
    var needs: [String]?

    var isGroup: Bool { members != nil }
  }

  /// The consequences of an edit for the results of the run so far.
  struct Effects {
    /// The commands and groups with an id whose content is another: they run again, with all that depends on them.
    var changed: Set<String> = []
    /// The contents of commands that count as new.
    var renewed: Set<Int> = []
    /// The contents of new commands without an id in groups that have lost such a command: whether they and what depends on
    /// them run again depends on their numbers.
    var replaced: Set<Int> = []
  }

  private(set) var top: Member
  private var random: SeededGenerator
  private var contents = 0
  /// The groups that have lost a command without an id, in any version.
  private var withFreeNumbers: Set<String> = []

  init(seed: UInt64) {
    random = SeededGenerator(seed: seed ^ 0xED17)
    top = Member(id: "top", content: 0, members: [])
    top.order = order()
    top.members = members(depth: 0)
  }

  var workflow: Workflow {
    Workflow(
      body: StepGroup(top.order, top.members!.map(EditedWorkflow.step)), onFailure: .continue)
  }

  private static func step(_ member: Member) -> Step {
    var step = Step(
      id: member.id.flatMap { StepID($0) },
      action: .run(Command(.program(["c\(member.content)"]))))
    if let members = member.members {
      step.action = .group(StepGroup(member.order, members.map(EditedWorkflow.step)))
    } else {
      step.control.isIdempotent = true
    }
    step.needs = member.needs.map { $0.map { Need($0) } }
    return step
  }

  // MARK: Making

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }

  private mutating func order() -> StepGroup.Order { number(0..<3) == 0 ? .parallel : .steps }

  private mutating func members(depth: Int) -> [Member] {
    (0..<number(1..<5)).map { _ in
      depth < 3 && number(0..<4) == 0 ? group(depth: depth + 1) : command()
    }
  }

  private mutating func command() -> Member {
    contents += 1
    return Member(id: number(0..<2) == 0 ? "s\(contents)" : nil, content: contents)
  }

  private mutating func group(depth: Int) -> Member {
    contents += 1
    var group = Member(id: "g\(contents)", content: contents)
    group.order = order()
    group.members = members(depth: depth)
    return group
  }

  // MARK: Editing

  /// Makes one to three random edits.
  mutating func edit() -> Effects {
    var effects = Effects()
    let (before, numbered) = (ids(in: top), numbered(in: top))
    let groups = groupIDs(in: top)
    for _ in 0..<number(1..<4) { editOnce(&effects) }
    // Whatever was added is new.
    effects.changed.formIntersection(before)
    // A group that is one again has other members, and nothing else.
    effects.changed.subtract(groups.intersection(groupIDs(in: top)))
    let now = self.numbered(in: top)
    for (group, known) in numbered where !known.isSubset(of: now[group] ?? []) {
      withFreeNumbers.insert(group)
    }
    for (group, contents) in numbered {
      // Only its number in its list says which one it is.
      for (other, moved) in now where other != group {
        effects.renewed.formUnion(contents.intersection(moved))
      }
    }
    for (group, contents) in now where withFreeNumbers.contains(group) {
      effects.replaced.formUnion(contents.subtracting(numbered[group] ?? []))
    }
    let known = ids(in: top)
    top = EditedWorkflow.withoutNeeds(top, except: known)
    return effects
  }

  private mutating func editOnce(_ effects: inout Effects) {
    let lists = paths(in: top, [])
    let list = lists.randomElement(using: &random)!
    var group = member(at: list)
    let count = group.members!.count
    let index = number(0..<count)
    switch number(0..<9) {
    case 0, 1:
      group.members!.insert(
        number(0..<4) == 0 ? self.group(depth: 3) : command(), at: number(0..<count + 1))
    case 2 where count > 1: group.members!.remove(at: index)
    case 3 where count > 1:
      let moved = group.members!.remove(at: index)
      group.members!.insert(moved, at: number(0..<count))
    case 4 where count > 1: return move(from: list, index)
    case 5 where !group.members![index].isGroup:
      contents += 1
      group.members![index].content = contents
      if let id = group.members![index].id { effects.changed.insert(id) }
    case 6:
      guard let id = group.members![index].id else { return }
      effects.changed.insert(id)
      contents += 1
      group.members![index].content = contents
      let isGroup = group.members![index].isGroup
      group.members![index].members = isGroup ? nil : [command(), command()]
    case 7: group.order = group.order == .steps ? .parallel : .steps
    default:
      let ids = ids(in: top).sorted()
      group.members![index].needs =
        number(0..<3) == 0 ? nil : ids.shuffled(using: &random).prefix(number(0..<3)).map { $0 }
    }
    set(group, at: list)
  }

  /// Moves a member to another list.
  private mutating func move(from list: [Int], _ index: Int) {
    var group = member(at: list)
    let moved = group.members!.remove(at: index)
    set(group, at: list)
    let target = paths(in: top, []).randomElement(using: &random)!
    var other = member(at: target)
    other.members!.insert(moved, at: number(0..<other.members!.count + 1))
    set(other, at: target)
  }

  private func paths(in group: Member, _ path: [Int]) -> [[Int]] {
    [path]
      + (group.members ?? []).enumerated().flatMap { index, member in
        member.isGroup ? paths(in: member, path + [index]) : []
      }
  }

  private func member(at path: [Int]) -> Member {
    path.reduce(top) { $0.members![$1] }
  }

  private mutating func set(_ group: Member, at path: [Int]) {
    top = EditedWorkflow.replacing(top, path[...], by: group)
  }

  private static func replacing(_ outer: Member, _ path: ArraySlice<Int>, by group: Member)
    -> Member
  {
    guard let first = path.first else { return group }
    var outer = outer
    outer.members![first] = replacing(outer.members![first], path.dropFirst(), by: group)
    return outer
  }

  private static func withoutNeeds(_ member: Member, except known: Set<String>) -> Member {
    var member = member
    member.needs = member.needs?.filter(known.contains)
    member.members = member.members?.map { withoutNeeds($0, except: known) }
    return member
  }

  /// The contents of the commands without an id, by the group that they are in.
  private func numbered(in group: Member) -> [String: Set<Int>] {
    var found: [String: Set<Int>] = [:]
    for member in group.members ?? [] {
      if member.isGroup { found.merge(numbered(in: member)) { $0.union($1) } }
      if member.id == nil { found[group.id!, default: []].insert(member.content) }
    }
    return found
  }

  private func groupIDs(in group: Member) -> Set<String> {
    let groups = (group.members ?? []).filter(\.isGroup)
    return groups.reduce(into: []) { ids, inner in
      ids.insert(inner.id!)
      ids.formUnion(groupIDs(in: inner))
    }
  }

  private func ids(in member: Member) -> Set<String> {
    (member.members ?? []).reduce(into: []) { ids, inner in
      if let id = inner.id { ids.insert(id) }
      ids.formUnion(self.ids(in: inner))
    }
  }
}
