package import WeftDefinition
package import WeftDiagnostics

/// Checks the options for steps that run concurrently: pools, races, the join of groups, and the entries of matrices.
struct ControlChecker {
  private let outline: Outline
  /// The pools of all files together, and whether there are any.
  private let joined: JoinedPools
  private let hasPools: Bool
  /// The names of the pools that steps request.
  private var used: Set<String> = []
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    var checker = ControlChecker(outline)
    checker.checkSteps()
    for group in outline.groups { checker.check(group) }
    checker.checkMatrices()
    checker.checkFinally()
    checker.checkCleanups()
    checker.checkUse()
    return checker.found.problems
  }

  private init(_ outline: Outline) {
    self.outline = outline
    joined = JoinedPools(of: outline.files)
    hasPools = !joined.pools.isEmpty
  }

  // MARK: Pools

  private mutating func checkSteps() {
    guard outline.hasControl || hasPools else { return }
    for step in outline.steps {
      // A file that was not read may request any pool.
      if hasPools, step.kind == .workflow { used.formUnion(joined.pools.map(\.pool.name)) }
      guard step.hasControl, !step.control.pools.isEmpty else { continue }
      found.file = outline.groups[step.group].file
      found.node = step.node
      let subject = outline.member(at: step.node).subject
      for request in step.control.pools { check(request, of: subject) }
    }
  }

  private mutating func check(_ request: PoolRequest, of subject: OutlineMember.Subject) {
    let names = outline.files[found.file].workflow.pools.map(\.name)
    // A file must declare the pools of its own steps, so that it has the same meaning by itself.
    guard names.contains(request.pool), let (pool, size, tempo) = held(request.pool) else {
      let nearest = NearestName(names).nearest(to: request.pool)
      return found.append(
        .unknownPool(of: subject, named: request.pool, known: names, nearest: nearest),
        request.place.value)
    }
    used.insert(request.pool)
    if let rate = pool.rate, request.slots > rate.count, request.slots <= pool.slots {
      // The token bucket never holds that many.
      return found.append(
        .moreThanRate(subject, asked: request.slots, pool.name, rate.count, tempo),
        request.place.value)
    }
    guard request.slots > pool.slots else { return }
    found.append(
      .tooManySlots(subject, asked: request.slots, pool.name, pool.slots, size),
      request.place.value)
  }

  /// The pool with its effective size and rate, and their locations.
  private func held(
    _ name: String
  ) -> (Pool, size: Diagnostic.Place?, tempo: Diagnostic.Place?)? {
    joined[name].map { ($0.pool, $0.sizePlace, $0.ratePlace) }
  }

  private mutating func checkUse() {
    for (index, file) in outline.files.enumerated() {
      found.file = index
      found.node = nil
      for pool in file.workflow.pools where !used.contains(pool.name) {
        found.append(.unusedPool(pool.name), pool.place.value)
      }
    }
  }

  // MARK: Matrices

  /// Reports entries of `include` and `exclude` that are written out and with which every run would fail.
  private mutating func checkMatrices() {
    if outline.hasControl {
      for step in outline.steps where step.hasControl { check(step.control, at: step.node) }
    }
    for group in outline.groups where !group.isTopLevel {
      guard let step = group.step, step.hasControl else { continue }
      check(step.control, at: group.startNode)
    }
  }

  private mutating func check(_ control: StepControl, at node: Plan.NodeIndex) {
    guard case .matrix(let matrix)? = control.fanOut, let problem = matrix.problemOfEntries else {
      return
    }
    found.file = outline.file(of: node)
    found.node = node
    found.append(
      Diagnostic(LoopProblem.code, problem.message, key: "matrix", help: problem.help),
      outline.member(at: node).step.place.value?.step)
  }

  // MARK: Groups

  private mutating func check(_ planned: PlannedGroup) {
    guard let step = planned.step, !planned.isTopLevel, case .group(let group) = step.action else {
      return
    }
    let address = outline.member(at: planned.startNode).address.text
    found.file = planned.file
    found.node = planned.startNode
    let place = step.place.value
    // For workflows from a file, the decoder reports these.
    if place == nil, step.hasControl, !step.control.pools.isEmpty {
      found.append(.poolOfGroup(address), nil)
    }
    if place == nil, case .atLeast(let count) = group.join, count > group.members.count {
      found.append(.tooFewMembers(address, wanted: count, there: group.members.count), nil)
    }
    if group.order == .race, group.members.count == 1 {
      found.append(.raceOfOne(address), place?.id ?? place?.step)
    }
  }

  /// Rejects the id `finally` in a file with `finally`, because that group has the same address.
  private mutating func checkFinally() {
    guard !outline.finallyGroups.isEmpty else { return }
    for node in outline.nodes.indices {
      guard let id = outline.id(at: node), id.text == "finally",
        outline.files[outline.file(of: node)].finally != nil
      else { continue }
      found.file = outline.file(of: node)
      found.node = node
      let place = outline.member(at: node).step.place.value
      found.append(.idOfFinally, place?.id ?? place?.step)
    }
  }

  /// Rejects the id `cleanup` in a loop that has a cleanup step without an id: that is addressed by position, and its
  /// address would be the same as that of a step in an element, `deploy[eu].cleanup`.
  private mutating func checkCleanups() {
    for (start, cleanups) in outline.cleanups {
      guard case .groupStart(let index) = outline.nodes[start],
        outline.groups[Int(index)].step?.control.fanOut != nil,
        outline.steps[Int(cleanups.lowerBound)..<Int(cleanups.upperBound)].contains(where: {
          $0.id == nil
        })
      else { continue }
      let loop = outline.groups[Int(index)]
      for node in start..<loop.endNode {
        guard let id = outline.id(at: node), id.text == "cleanup",
          outline.file(of: node) == loop.file
        else { continue }
        found.file = loop.file
        found.node = node
        let place = outline.member(at: node).step.place.value
        found.append(
          .idOfCleanup(loop: outline.member(at: start).address.text), place?.id ?? place?.step)
      }
    }
  }
}

/// The pools of a plan, from all its files. Pools with the same name are one, with the smallest size and the slowest
/// rate that any file declares.
package struct JoinedPools: Sendable {
  package struct Joined: Sendable {
    package fileprivate(set) var pool: Pool
    /// The location of the effective value; `nil` for a workflow built in Swift.
    package fileprivate(set) var sizePlace: Diagnostic.Place?
    package fileprivate(set) var ratePlace: Diagnostic.Place?
  }

  /// The pools, in the order in which the files first declare them.
  package private(set) var pools: [Joined] = []
  private var places: [String: Int] = [:]

  init(of files: [PlannedFile]) {
    for file in files {
      for pool in file.workflow.pools { join(pool, file.workflow.source.value) }
    }
  }

  subscript(name: String) -> Joined? { places[name].map { pools[$0] } }

  private mutating func join(_ pool: Pool, _ file: SourceFile?) {
    let place = Diagnostic.Place(pool.place.value, in: file)
    guard let index = places[pool.name] else {
      places[pool.name] = pools.count
      pools.append(Joined(pool: pool, sizePlace: place, ratePlace: place))
      return
    }
    if pool.slots < pools[index].pool.slots {
      pools[index].pool.slots = pool.slots
      pools[index].sizePlace = place
    }
    if let rate = pool.rate, pools[index].pool.rate.map(rate.isSlower) ?? true {
      pools[index].pool.rate = rate
      pools[index].ratePlace = place
    }
  }
}

extension Rate {
  /// Whether it allows less in the long run or, if equal, less at once.
  fileprivate func isSlower(than other: Rate) -> Bool {
    let (own, others) = (period * other.count, other.period * count)
    return own == others ? count < other.count : own > others
  }
}

extension Plan {
  /// The pools that steps share, across all files.
  package var pools: [Pool] { JoinedPools(of: files).pools.map(\.pool) }

  /// The plan with enough slots in a pool for every step, and without its rate.
  package func lifting(pool name: String) -> Plan {
    var plan = self
    for file in plan.files.indices {
      for index in plan.files[file].workflow.pools.indices
      where plan.files[file].workflow.pools[index].name == name {
        plan.files[file].workflow.pools[index].slots = WorkflowLimits.maxParallel
        plan.files[file].workflow.pools[index].rate = nil
      }
    }
    return plan
  }

  /// The plan without the `maxParallel` of a group.
  package func lifting(limitOfGroup index: Int) -> Plan {
    var plan = self
    plan.groups[index].maxParallel = nil
    return plan
  }
}

// MARK: Wording

extension Diagnostic {
  fileprivate static func unknownPool(
    of subject: OutlineMember.Subject, named name: String, known: [String], nearest: String?
  ) -> Diagnostic {
    problem(
      "W0215", of: subject,
      "uses pool \"\(shortName(name))\", which the workflow does not declare",
      key: "pool",
      help: nearest.asSuggestion
        ?? (known.isEmpty
          ? "declare it: \"pools\": { \"\(shortName(name))\": 1 }"
          : "available: \(known.prefix(12).joined(separator: ", "))"))
  }

  fileprivate static func tooManySlots(
    _ subject: OutlineMember.Subject, asked: Int, _ pool: String, _ slots: Int, _ place: Place?
  ) -> Diagnostic {
    problem(
      "W0216", of: subject, "uses \(asked) slots of pool \"\(pool)\", which has \(slots)",
      key: "pool", help: "use at most \(slots), or give the pool more",
      related: .init("\"\(pool)\" has \(slots) slot\(slots == 1 ? "" : "s") here", place))
  }

  /// More slots than the pool's rate ever allows at once.
  fileprivate static func moreThanRate(
    _ subject: OutlineMember.Subject, asked: Int, _ pool: String, _ count: Int, _ place: Place?
  ) -> Diagnostic {
    problem(
      "W0216", of: subject,
      "uses \(asked) slots of pool \"\(pool)\", whose rate allows \(count) at once", key: "pool",
      help: "use at most \(count), or raise both the count and the period of the rate",
      related: .init("the rate of \"\(pool)\" allows \(count) at once", place))
  }

  /// A group requests a pool, but only steps that run something may.
  fileprivate static func poolOfGroup(_ group: String) -> Diagnostic {
    problem(
      "W0217", of: .group(group), "uses a pool, but runs nothing itself", key: "pool",
      help: "put \"pool\" on its members")
  }

  fileprivate static func tooFewMembers(_ group: String, wanted: Int, there: Int) -> Diagnostic {
    problem(
      "W0218", of: .group(group), "waits for \(wanted) members to succeed, but has \(there)",
      key: "join", help: "at most \(there) can succeed")
  }

  fileprivate static let idOfFinally = Diagnostic(
    "W0219", "the id \"finally\" is reserved for the steps of \"finally\"", key: "id",
    help: "choose a different id")

  fileprivate static func idOfCleanup(loop: String) -> Diagnostic {
    Diagnostic(
      "W0219",
      "in each element of \"\(loop)\", this step and the cleanup of \"\(loop)\" "
        + "would have the same address", key: "id",
      help: "choose a different id, or give the cleanup of \"\(loop)\" one")
  }

  fileprivate static func unusedPool(_ pool: String) -> Diagnostic {
    Diagnostic(
      "W0512", "no step uses pool \"\(pool)\"", key: "pools.\(pool)",
      help: "write \"pool\": \"\(pool)\" in the steps that share it, or remove it",
      severity: .warning)
  }

  fileprivate static func raceOfOne(_ group: String) -> Diagnostic {
    Diagnostic(
      "W0513", "race \"\(group)\" has only one member", key: "race",
      help: "add another member, or write \"steps\"", severity: .warning)
  }
}
