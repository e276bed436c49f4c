package import WeftDefinition

/// The numbers that address steps without an id in a run that was resumed after an edit of its workflow.
///
/// A step without an id is addressed by its position from 1 in its list. A run that is resumed with an edited list keeps
/// the numbers that it began with: a step keeps that of the equal step of the earlier version, wherever it is now, or of
/// the one whose place it has taken. Further steps get numbers that the list did not have. So the journal, logs and
/// idempotency keys of a run stay those of its steps.
package struct StepNumbers: Sendable, Hashable {
  /// The lists whose numbers are not their positions, by their addresses: that of the group, or of the step that runs the
  /// file, and empty for the steps of the workflow itself. Members with an id have the number 0.
  package var lists: [String: [Int]] = [:]

  package init() {}

  package var isEmpty: Bool { lists.isEmpty }

  /// The number of a member without an id.
  func number(at position: Int, in list: StepAddress?) -> Int {
    if lists.isEmpty { return position + 1 }
    let numbers = lists[list?.text ?? ""] ?? []
    return numbers.indices.contains(position) ? numbers[position] : position + 1
  }

  /// Finds the numbers of an edited workflow.
  ///
  /// - Parameters:
  ///   - old: The earlier version.
  ///   - known: Its numbers.
  package init(of new: Workflow, after old: Workflow, numbered known: StepNumbers) {
    var pairs = [FilePair(old: old, new: new, address: nil)]
    while let pair = pairs.popLast() {
      let (old, new) = (pair.old.withDefaults(), pair.new.withDefaults())
      let named = StepNumbers.named(in: old)
      let finally = StepAddress("finally", inFileOf: pair.address)
      var lists = [
        ListPair(old: old.body.members, new: new.body.members, address: pair.address),
        ListPair(old: old.finally, new: new.finally, address: finally),
      ]
      while let list = lists.popLast() {
        for (old, new, number) in match(list, named, numbered: known) {
          let address = StepNumbers.address(of: new, number, in: list.address, pair.address)
          switch new.action {
          case .group(let new):
            var members: [Step]?
            if case .group(let old)? = old?.action { members = old.members }
            lists.append(ListPair(old: members, new: new.members, address: address))
          case .workflow(let new):
            guard case .workflow(let old)? = old?.action, let old = old.workflow,
              let new = new.workflow
            else { continue }
            pairs.append(FilePair(old: old, new: new, address: address))
          default: break
          }
        }
      }
    }
  }

  private struct FilePair {
    let old: Workflow
    let new: Workflow
    let address: StepAddress?
  }

  private struct ListPair {
    /// `nil` for a list that is new; there may be earlier groups in it.
    let old: [Step]?
    let new: [Step]
    let address: StepAddress?
  }

  /// The steps of a file that have an id: they are known by it wherever an edit has moved them.
  private static func named(in file: Workflow) -> [StepID: Step] {
    var named: [StepID: Step] = [:]
    var lists = [file.body.members, file.finally]
    while let list = lists.popLast() {
      for step in list {
        if let id = step.id { named[id] = step }
        if case .group(let group) = step.action { lists.append(group.members) }
      }
    }
    return named
  }

  /// Whether each of the lists belongs to a workflow, and has a number for each member without an id, and 0 for the others.
  package func fit(_ workflow: Workflow) -> Bool {
    if isEmpty { return true }
    struct List {
      let members: [Step]
      let address: StepAddress?
      /// The step that runs the file; `nil` for the workflow itself.
      let caller: StepAddress?
    }
    func members(of file: Workflow, runBy caller: StepAddress?) -> [List] {
      [
        List(members: file.body.members, address: caller, caller: caller),
        List(
          members: file.finally, address: StepAddress("finally", inFileOf: caller), caller: caller),
      ]
    }
    var unknown = lists
    var next = members(of: workflow, runBy: nil)
    while let list = next.popLast() {
      if let numbers = unknown.removeValue(forKey: list.address?.text ?? "") {
        guard numbers.count == list.members.count,
          zip(numbers, list.members).allSatisfy({ ($0 == 0) == ($1.id != nil) })
        else { return false }
      }
      for (position, step) in list.members.enumerated() {
        let number = number(at: position, in: list.address)
        let address = StepNumbers.address(of: step, number, in: list.address, list.caller)
        switch step.action {
        case .group(let group):
          next.append(List(members: group.members, address: address, caller: list.caller))
        case .workflow(let call):
          if let file = call.workflow { next += members(of: file, runBy: address) }
        default: break
        }
      }
    }
    return unknown.isEmpty
  }

  /// The address of a member of a list: its id, or its number below the address of the list.
  private static func address(
    of step: Step, _ number: Int, in list: StepAddress?, _ caller: StepAddress?
  ) -> StepAddress? {
    if let id = step.id?.text { return StepAddress(id, inFileOf: caller) }
    if list == caller { return StepAddress(String(number), inFileOf: caller) }
    return list?.member(number)
  }

  /// Numbers a list, and returns its members with their earlier versions and their numbers.
  private mutating func match(
    _ list: ListPair, _ named: [StepID: Step], numbered known: StepNumbers
  ) -> [(old: Step?, new: Step, number: Int)] {
    guard let old = list.old else {
      return list.new.enumerated().map { position, step in
        (step.id.flatMap { named[$0] }, step, position + 1)
      }
    }
    let origins = StepNumbers.origins(of: list.new, in: old)
    let oldNumbers = old.indices.map { position in
      old[position].id == nil ? known.number(at: position, in: list.address) : 0
    }
    var last = oldNumbers.max() ?? 0
    let numbers = list.new.indices.map { position in
      if list.new[position].id != nil { return 0 }
      if let origin = origins[position] { return oldNumbers[origin] }
      last += 1
      return last
    }
    if numbers.indices.contains(where: { ![0, $0 + 1].contains(numbers[$0]) }) {
      lists[list.address?.text ?? ""] = numbers
    }
    return list.new.indices.map { position in
      let step = list.new[position]
      let earlier = step.id.map { named[$0] } ?? origins[position].map { old[$0] }
      return (earlier, step, numbers[position])
    }
  }

  /// The position of each step in an earlier version of its list; `nil` for one that is new.
  private static func origins(of new: [Step], in old: [Step]) -> [Int?] {
    var origins: [Int?] = Array(repeating: nil, count: new.count)
    var isTaken = Array(repeating: false, count: old.count)
    func take(_ origin: Int, for position: Int) {
      (origins[position], isTaken[origin]) = (origin, true)
    }
    var named: [StepID: Int] = [:]
    // The first of equal steps is last in its list, from whose end they are taken.
    var equal: [Step: [Int]] = [:]
    for position in old.indices.reversed() {
      if let id = old[position].id {
        named[id] = position
      } else {
        equal[old[position].content, default: []].append(position)
      }
    }
    for position in new.indices {
      let origin =
        if let id = new[position].id { named[id] } else {
          equal[new[position].content]?.popLast()
        }
      if let origin { take(origin, for: position) }
    }
    // A step that was edited is still beside one of its neighbours.
    func takeNeighbour(of neighbour: Int?, at offset: Int, for position: Int) {
      guard origins[position] == nil, new[position].id == nil, let neighbour else { return }
      let origin = neighbour + offset
      guard old.indices.contains(origin), old[origin].id == nil, !isTaken[origin] else { return }
      take(origin, for: position)
    }
    for position in new.indices {
      takeNeighbour(of: position == 0 ? -1 : origins[position - 1], at: 1, for: position)
    }
    for position in new.indices.reversed() {
      takeNeighbour(
        of: position == new.count - 1 ? old.count : origins[position + 1], at: -1, for: position)
    }
    return origins
  }
}

extension Plan {
  /// The plan of the same workflow, in which steps without an id have these numbers.
  package func numbered(_ numbers: StepNumbers) -> Plan {
    if numbers == self.numbers { return self }
    guard let plan = Planner.plan(recorded: workflow, numbered: numbers) else {
      preconditionFailure("a valid workflow is valid with any numbers")
    }
    return plan
  }

  /// The plan with the numbers of an earlier version of its workflow.
  package func numbered(after old: Plan) -> Plan {
    numbered(StepNumbers(of: workflow, after: old.workflow, numbered: old.numbers))
  }
}
