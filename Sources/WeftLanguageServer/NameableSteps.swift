import WeftDiagnostics
import WeftJSON

/// The steps that a place in a workflow may name, by the rules of `weft check`, as far as the text can be read: not the
/// step itself, a group around it, a step that waits for it, nor one that cannot be named from there.
struct NameableSteps {
  private struct Member {
    let node: JSONNode
    /// The group or step that holds it; `nil` for the workflow.
    let holder: Int?
    /// The key under which it is held.
    let key: String
    /// The member before it in a sequence.
    let before: Int?

    var id: String? { node.member("id")?.stringValue }
    var needs: [String]? { node.member("needs")?.elements.compactMap(\.stringValue) }
    /// Whether it runs at the end of what holds it.
    var isFinal: Bool { key == "cleanup" || key == "finally" }
    /// Whether its members cannot be named from outside.
    var isSealed: Bool {
      ["retry", "race", "join", "forEach", "matrix"].contains { node.member($0) != nil }
    }
  }

  /// In file order: what a member holds follows it.
  private var members: [Member] = []
  private var indices: [String: Int] = [:]
  /// The steps that each member refers to in its own expressions.
  private var reads: [Int: [Int]] = [:]

  init(_ root: JSONNode, _ outline: WorkflowOutline) {
    addMembers(of: root, heldBy: nil, depth: 0)
    for (index, member) in members.enumerated() {
      if let id = member.id, indices[id] == nil { indices[id] = index }
    }
    for reference in outline.references where reference.kind == .step {
      guard let reader = member(at: reference.range.lowerBound), let read = indices[reference.name]
      else { continue }
      reads[reader, default: []].append(read)
    }
  }

  private mutating func addMembers(of node: JSONNode, heldBy holder: Int?, depth: Int) {
    guard depth < WorkflowOutline.depthLimit else { return }
    for (key, list) in WorkflowOutline.members(of: node) {
      var before: Int?
      for element in list {
        let index = members.count
        members.append(Member(node: element, holder: holder, key: key, before: before))
        if key != "parallel", key != "race" { before = index }
        addMembers(of: element, heldBy: index, depth: depth + 1)
      }
    }
  }

  /// The innermost step or group around an offset.
  private func member(at offset: Int) -> Int? {
    var (low, high) = (0, members.count)
    while low < high {
      let middle = (low + high) / 2
      if Int(members[middle].node.range.start) <= offset { low = middle + 1 } else { high = middle }
    }
    var next = low > 0 ? low - 1 : nil
    while let index = next, Int(members[index].node.range.end) <= offset {
      next = members[index].holder
    }
    return next
  }

  /// A member and what holds it, from the inside out.
  private func outwards(from index: Int?) -> some Sequence<Int> {
    sequence(state: index) { next in
      guard let index = next else { return nil }
      next = members[index].holder
      return index
    }
  }

  // MARK: Rules

  /// Whether each of these steps may be named at an offset.
  func may(name names: [String], at offset: Int) -> [Bool] {
    let namer = member(at: offset)
    let around = Set(outwards(from: namer))
    let ends = Set(groupsAround(namer))
    // A group reads its members in its outputs.
    let outputs = namer.flatMap { members[$0].node.member("outputs") }
    let readsMembers = outputs.map { $0.reaches(offset) } ?? false
    return names.map { name in
      guard let index = indices[name] else { return true }
      if index == namer || ends.contains(index) { return false }
      let holders = outwards(from: index)
      if let namer, holders.contains(namer), !readsMembers { return false }
      let isHidden = holders.contains { holder in
        members[holder].isFinal && !around.contains { isBeside($0, holder) }
          || holder != index && members[holder].isSealed && !around.contains(holder)
      }
      return !isHidden && namer.map { !waits(index, for: $0) } ?? true
    }
  }

  /// Whether two members are held by the same, under the same key.
  private func isBeside(_ one: Int, _ other: Int) -> Bool {
    members[one].holder == members[other].holder && members[one].key == members[other].key
  }

  /// The groups that end only after a member. The owner of a cleanup step is none.
  private func groupsAround(_ index: Int?) -> [Int] {
    var found: [Int] = []
    var next = index
    while let index = next {
      let member = members[index]
      next = member.holder
      if member.key == "cleanup" { next = member.holder.flatMap { members[$0].holder } }
      if let next { found.append(next) }
    }
    return found
  }

  /// Whether a step or group ends only after another one has begun.
  private func waits(_ index: Int, for other: Int) -> Bool {
    var (seen, next) = (Set([index]), [index])
    func add(_ index: Int?) {
      if let index, seen.insert(index).inserted { next.append(index) }
    }
    while let index = next.popLast() {
      if index == other { return true }
      let member = members[index]
      if let needs = member.needs {
        for need in needs { add(indices[need]) }
      } else {
        add(member.before)
      }
      for read in reads[index] ?? [] { add(read) }
      if let log = member.node.member("stdin")?.member("log")?.stringValue { add(indices[log]) }
      // Everything in a group, and whatever the group waits for.
      addHeld(by: index, add)
      for holder in outwards(from: member.holder) {
        let around = members[holder]
        if let needs = around.needs {
          for need in needs { add(indices[need]) }
        } else {
          add(around.before)
        }
        for read in reads[holder] ?? [] where !outwards(from: read).contains(holder) { add(read) }
      }
    }
    return false
  }

  /// Adds the members that a member holds, which follow it. Its own cleanup runs after its end.
  private func addHeld(by index: Int, _ add: (Int?) -> Void) {
    let end = members[index].node.range.end
    for held in members.indices.dropFirst(index + 1) {
      guard members[held].node.range.start < end else { break }
      let outermost = outwards(from: held).first { members[$0].holder == index }
      if outermost.map({ members[$0].key }) != "cleanup" { add(held) }
    }
  }
}
