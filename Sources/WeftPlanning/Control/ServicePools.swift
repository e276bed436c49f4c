import WeftDefinition
import WeftDiagnostics

/// Checks that no step waits for slots of a pool that services keep until it has ended: a service keeps its slots while
/// it is up, and it is up until everything in its group has ended.
///
/// It reports what is certain: services and steps with an `if`, loops, whose number of elements may be zero, and
/// resources, which depend on the machine, are left to the run, which fails a step that waits for ever.
struct ServicePools {
  private let outline: Outline
  private let services: PlannedServices
  private let pools: JoinedPools
  /// The services that always take slots of pools, each with the nodes that have ended before it starts.
  private let holders: [(index: Int, before: Set<Plan.NodeIndex>)]

  init(_ outline: Outline, _ services: PlannedServices, _ dependencies: PlanEdges) {
    self.outline = outline
    self.services = services
    pools = JoinedPools(of: outline.files)
    holders = services.steps.filter { index in
      let control = outline.steps[index].control
      return !control.pools.isEmpty && control.condition == nil
    }.map { index in
      let node = outline.steps[index].node
      var (before, next) = (Set([node]), [node])
      while let node = next.popLast() {
        for need in dependencies[node] where before.insert(Int(need)).inserted {
          next.append(Int(need))
        }
      }
      return (index, before)
    }
  }

  func problems() -> [PlacedProblem] {
    var found = FoundProblems()
    if holders.isEmpty { return [] }
    for index in outline.steps.indices where outline.steps[index].hasControl {
      let step = outline.steps[index]
      let keeping = step.control.pools.isEmpty ? [] : services(keepingSlotsFrom: index)
      for request in step.control.pools {
        let kept = keeping.filter { slots(of: request.pool, $0) > 0 }
        let count = kept.map { slots(of: request.pool, $0) }.reduce(0, +)
        guard let last = kept.last, let pool = pools[request.pool]?.pool,
          request.slots <= pool.slots, request.slots + count > pool.slots
        else { continue }
        found.file = outline.file(of: step.node)
        found.node = step.node
        let member = outline.member(at: step.node)
        found.append(
          .slotsKept(
            from: member.subject, request, of: pool, count,
            by: outline.member(at: outline.steps[last].node).subject),
          member.step.place.value?.step)
        break
      }
    }
    return found.problems
  }

  /// The services that may be up when a step asks for its slots, and that end after it.
  private func services(keepingSlotsFrom index: Int) -> [Int] {
    let step = outline.steps[index]
    guard step.control.condition == nil, step.control.fanOut == nil else { return [] }
    let cleaned = outline.cleanedUp[Int32(index)]
    return holders.filter { holder in
      let service = outline.steps[holder.index]
      guard holder.index != index, isCertain(step.group, inside: service.group),
        !holder.before.contains(step.node)
      else { return false }
      // The cleanup of a step that does not use the service may run after its end.
      if let cleaned { return services.users(of: service.node).contains(cleaned) }
      // Of two services that keep slots, one is reported.
      return !step.isService || holder.index < index
    }.map(\.index)
  }

  /// Whether a group is inside another, or that group itself, and runs whenever that one does.
  private func isCertain(_ inner: Int, inside outer: Int) -> Bool {
    var next = inner
    while next != outer {
      let group = outline.groups[next]
      guard let parent = group.parent, !outline.finallyGroups.contains(next),
        group.step?.control.condition == nil, group.step?.control.fanOut == nil
      else { return false }
      next = parent
    }
    return true
  }

  private func slots(of pool: String, _ service: Int) -> Int {
    outline.steps[service].control.pools.first { $0.pool == pool }?.slots ?? 0
  }
}

extension Diagnostic {
  fileprivate static func slotsKept(
    from subject: OutlineMember.Subject, _ request: PoolRequest, of pool: Pool, _ kept: Int,
    by service: OutlineMember.Subject
  ) -> Diagnostic {
    problem(
      "W0233", of: subject,
      "uses \(Count(request.slots, "slot")) of pool \"\(pool.name)\", which has "
        + "\(pool.slots), and \(service) keeps \(kept) until everything in its group has ended",
      key: "pool",
      help: "give the pool more slots, or put a group around the service and the steps that use it")
  }
}
