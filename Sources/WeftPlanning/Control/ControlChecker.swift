import WeftDefinition
import WeftDiagnostics

/// Checks what decides how steps run beside each other: pools, races, what a group waits for.
struct ControlChecker {
  private let outline: Outline
  private let pools: [Pool]
  private var isUsed: [Bool]
  private var found = FoundProblems()

  static func problems(of workflow: Workflow, _ outline: Outline) -> [PlacedProblem] {
    var checker = ControlChecker(outline, workflow.pools)
    checker.checkSteps()
    for group in outline.groups { checker.check(group) }
    checker.checkFinally()
    checker.checkUse()
    return checker.found.problems
  }

  private init(_ outline: Outline, _ pools: [Pool]) {
    self.outline = outline
    self.pools = pools
    isUsed = Array(repeating: false, count: pools.count)
  }

  // MARK: Pools

  private mutating func checkSteps() {
    guard outline.hasControl || !pools.isEmpty else { return }
    for step in outline.steps {
      // The pools of another file that are called alike are the same ones.
      if !pools.isEmpty, case .workflow = step.action { isUsed = isUsed.map { _ in true } }
      if case .workflow(let nested) = step.action {
        found.append(.runsAnotherFile(.step(step.address.text)), nested.place.value)
      }
      guard step.hasControl else { continue }
      for request in step.control.pools { check(request, of: .step(step.address.text)) }
    }
  }

  private mutating func check(_ request: PoolRequest, of subject: PlanningProblem.Subject) {
    guard let index = pools.firstIndex(where: { $0.name == request.pool }) else {
      let names = pools.map(\.name)
      let nearest = NearestName(names).nearest(to: request.pool)
      return found.append(
        .unknownPool(of: subject, named: request.pool, known: names, nearest: nearest),
        request.place.value)
    }
    isUsed[index] = true
    let pool = pools[index]
    if let rate = pool.rate, request.slots > rate.count, request.slots <= pool.slots {
      // The bucket never holds so many.
      return found.append(
        .moreThanRate(subject, asked: request.slots, pool.name, rate.count, pool.place.value),
        request.place.value)
    }
    guard request.slots > pool.slots else { return }
    found.append(
      .tooManySlots(subject, asked: request.slots, pool.name, pool.slots, pool.place.value),
      request.place.value)
  }

  private mutating func checkUse() {
    for (pool, isUsed) in zip(pools, isUsed) where !isUsed {
      found.append(.unusedPool(pool.name), pool.place.value)
    }
  }

  // MARK: Groups

  private mutating func check(_ planned: PlannedGroup) {
    guard let step = planned.step, let address = planned.address?.text,
      case .group(let group) = step.action
    else { return }
    let place = step.place.value
    // Of what was read from a file this has been told when it was read.
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

  /// What is done finally is called `finally`.
  private mutating func checkFinally() {
    guard let finally = outline.finallyGroup else { return }
    for node in outline.nodes.indices {
      guard let id = outline.id(at: node), outline.groups[finally].address?.text == id.text else {
        continue
      }
      let place = outline.member(at: node).step.place.value
      found.append(.idOfFinally, place?.id ?? place?.step)
    }
  }
}
