import WeftDefinition
import WeftJSON

/// The steps, groups and loops of a workflow and their dependencies, read from the workflow by the rules of SPEC §1.1,
/// not from the plan.
struct Blueprint {
  enum Part: Hashable {
    case main, finally
    case cleanup(of: String)
  }

  struct Member {
    let id: String
    let step: Step
    /// The group that it is in; `nil` at the top level.
    let parent: String?
    /// The loops around it, the outermost first; itself at last if it is one.
    let loops: [String]
    let part: Part
    /// The members of a group, in file order.
    var members: [String] = []
    /// Its dependencies besides the start of its group.
    var needs: [String] = []
    let condition: RandomCondition?

    var isLoop: Bool { step.control.fanOut != nil }
    var retries: Bool { !step.control.retry.isEmpty }
    var isService: Bool { step.service != nil }
    var group: StepGroup? { if case .group(let group) = step.action { group } else { nil } }
    /// Whether some members can decide the outcome while others are still running.
    var endsEarly: Bool { group.map { $0.order == .race || $0.join != .all } ?? false }
    /// Whether it is in `finally` or `cleanup`: there, steps always start unless their condition says otherwise.
    var isClosing: Bool { part != .main }
  }

  let workflow: Workflow
  private(set) var members: [String: Member] = [:]
  private(set) var topLevel: [String] = []
  let made: RandomWorkflow
  /// The services that each step or group needs, directly or not, of those in whose group it is.
  private(set) var services: [String: [String]] = [:]
  private var directDependents: [String: [String]] = [:]

  init(_ made: RandomWorkflow) {
    self.made = made
    workflow = made.workflow
    topLevel = add(workflow.body.members, of: workflow.body.order, in: nil, [], .main)
    defer {
      for (id, member) in members {
        for need in member.needs { directDependents[need, default: []].append(id) }
      }
      findUsers()
    }
    guard !workflow.finally.isEmpty else { return }
    let group = StepGroup(.steps, workflow.finally)
    let step = Step(action: .group(group), timeout: WorkflowLimits.finallyTimeout)
    members["finally"] = Member(
      id: "finally", step: step, parent: nil, loops: [], part: .finally, condition: nil)
    let inside = add(workflow.finally, of: .steps, in: "finally", [], .finally)
    members["finally"]?.members = inside
  }

  private mutating func add(
    _ steps: [Step], of order: StepGroup.Order, in parent: String?, _ loops: [String], _ part: Part
  ) -> [String] {
    var ids: [String] = []
    for step in steps {
      guard let id = step.id?.text else { preconditionFailure("simulated steps have ids") }
      var needs = Set(step.needs?.map(\.name) ?? (order == .steps ? Array(ids.suffix(1)) : []))
      needs.formUnion(made.readings[id] ?? [])
      needs.formUnion(made.conditions[id]?.references ?? [])
      let own = step.control.fanOut == nil ? loops : loops + [id]
      members[id] = Member(
        id: id, step: step, parent: parent, loops: own, part: part, needs: needs.sorted(),
        condition: made.conditions[id])
      if case .group(let group) = step.action {
        let inside = add(group.members, of: group.order, in: id, own, part)
        members[id]?.members = inside
      }
      addCleanup(of: step, id, in: parent, own)
      ids.append(id)
    }
    return ids
  }

  private mutating func addCleanup(
    of step: Step, _ id: String, in parent: String?, _ loops: [String]
  ) {
    let cleanup = step.control.cleanup
    for (index, cleaning) in cleanup.enumerated() {
      let address = cleanup.count == 1 ? "\(id).cleanup" : "\(id).cleanup.\(index + 1)"
      members[address] = Member(
        id: address, step: cleaning, parent: parent, loops: loops, part: .cleanup(of: id),
        condition: made.conditions[address])
    }
  }

  func member(_ id: String) -> Member {
    guard let member = members[id] else { preconditionFailure("nobody is called \(id)") }
    return member
  }

  /// The cleanup steps of a member.
  func cleanups(of id: String) -> [String] {
    let count = member(id).step.control.cleanup.count
    return count == 1 ? ["\(id).cleanup"] : (0..<count).map { "\(id).cleanup.\($0 + 1)" }
  }

  /// Whether a member is the group itself or in it, at any depth.
  func isInside(_ id: String, _ group: String) -> Bool {
    var next: String? = id
    while let id = next {
      if id == group { return true }
      if case .cleanup(let cleaned) = member(id).part, cleaned == group { return true }
      next = member(id).parent
    }
    return false
  }

  // MARK: Services

  /// Finds the dependents of each service in the group of the service.
  private mutating func findUsers() {
    for (service, member) in members where member.isService {
      for id in dependents(of: service, where: { isInside($0, around: member) }) {
        services[id, default: []].append(service)
      }
    }
    for id in services.keys { services[id]?.sort() }
  }

  /// The steps and groups that depend on a member, directly or not: into groups by their starts and out of them by their
  /// ends.
  ///
  /// - Parameter isMeant: Whether a member counts, and its dependents with it.
  func dependents(
    of first: String, where isMeant: (String) -> Bool = { _ in true }
  ) -> Set<String> {
    var (started, ended) = (Set<String>(), Set<String>())
    var next = [(first, isEnd: true)]
    let outermost = member(first).parent
    while let (id, isEnd) = next.popLast() {
      if isEnd {
        guard ended.insert(id).inserted else { continue }
        next += (directDependents[id] ?? []).map { ($0, false) }
        if let parent = member(id).parent, parent != outermost || isMeant(parent) {
          next.append((parent, true))
        }
      } else if isMeant(id), started.insert(id).inserted {
        next += member(id).members.map { ($0, false) }
        next.append((id, true))
      }
    }
    return started
  }

  private func isInside(_ id: String, around service: Member) -> Bool {
    guard let group = service.parent else { return member(id).part == .main }
    return id != group && isInside(id, group)
  }

  /// Whether the step or group that a cleanup step belongs to, or anything in it, needs a service.
  func cleanup(_ cleanup: Subject, needs service: Subject) -> Bool {
    let member = member(cleanup.id)
    if member.isService { return services[cleanup.id]?.contains(service.id) ?? false }
    guard case .cleanup(let cleaned) = member.part, !isInside(service.id, cleaned) else {
      return false
    }
    return services.contains { $1.contains(service.id) && isInside($0, cleaned) }
  }

  /// The steps, groups and elements of a run that need a service, of those that the run has met.
  func need(_ subject: Subject, _ service: Subject) -> Bool {
    services[subject.id]?.contains(service.id) == true && subject.keys.starts(with: service.keys)
  }

  // MARK: Elements

  func isForEach(_ loop: String) -> Bool {
    if case .forEach = member(loop).step.control.fanOut { true } else { false }
  }
}

/// A step or group, for given elements of its enclosing loops.
struct Subject: Hashable {
  let id: String
  /// One key for each enclosing loop, the outermost first; for an element of a loop, its own key last.
  var keys: [String]
}

extension Blueprint {
  /// Whether it is one element of a loop, not the loop as a whole.
  func isElement(_ subject: Subject) -> Bool {
    let member = member(subject.id)
    return member.isLoop && subject.keys.count == member.loops.count
  }

  func isWholeLoop(_ subject: Subject) -> Bool { member(subject.id).isLoop && !isElement(subject) }

  /// The directly enclosing spot: for an element its loop, otherwise its group; `nil` for the run.
  func around(_ subject: Subject) -> Subject? {
    if isElement(subject) { return Subject(id: subject.id, keys: subject.keys.dropLast()) }
    guard let parent = member(subject.id).parent else { return nil }
    return Subject(id: parent, keys: Array(subject.keys.prefix(member(parent).loops.count)))
  }

  /// All enclosing spots, the innermost first.
  func enclosing(_ subject: Subject) -> [Subject] {
    Array(sequence(first: subject, next: around).dropFirst())
  }

  /// A different member, as seen from a spot; a loop is taken as a whole.
  func subject(_ id: String, from subject: Subject) -> Subject {
    let other = member(id)
    return Subject(
      id: id, keys: Array(subject.keys.prefix(other.loops.count - (other.isLoop ? 1 : 0))))
  }

  /// The members of a group, or of an element of one.
  func members(of group: Subject) -> [Subject] {
    member(group.id).members.map { subject($0, from: group) }
  }

  /// Its dependencies besides what encloses it.
  func needs(of subject: Subject) -> [Subject] {
    isElement(subject) ? [] : member(subject.id).needs.map { self.subject($0, from: subject) }
  }

  /// Whether it is in `finally`, or a cleanup step of something there.
  func isFinal(_ subject: Subject) -> Bool {
    switch member(subject.id).part {
    case .main: false
    case .finally: true
    case .cleanup(let cleaned): member(cleaned).part == .finally
    }
  }

  /// Its address in events.
  func address(of subject: Subject) -> String {
    let member = member(subject.id)
    var parts = zip(member.loops, subject.keys).map { "\($0)[\($1)]" }
    if case .cleanup(let cleaned) = member.part, member.loops.last == cleaned {
      parts.append(String(subject.id.dropFirst(cleaned.count + 1)))
    } else if !isElement(subject) {
      parts.append(subject.id)
    }
    return parts.joined(separator: ".")
  }

  /// The spot with this address in events; `nil` if there is none.
  func subject(called address: String) -> Subject? {
    var (loops, keys, rest) = ([String](), [String](), address[...])
    while let open = rest.firstIndex(of: "["), let close = rest[open...].firstIndex(of: "]") {
      loops.append(String(rest[..<open]))
      keys.append(String(rest[rest.index(after: open)..<close]))
      rest = rest[rest.index(after: close)...]
      if rest.first == "." { rest = rest.dropFirst() }
    }
    var id = String(rest)
    if let last = loops.last {
      if id.isEmpty { id = last } else if id.hasPrefix("cleanup") { id = "\(last).\(id)" }
    }
    guard members[id] != nil else { return nil }
    let subject = Subject(id: id, keys: keys)
    return self.address(of: subject) == address ? subject : nil
  }
}
