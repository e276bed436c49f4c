import WeftDefinition
import WeftPlanning
import WeftPlatform

/// The queue for a plan, as ``Slots`` creates it: a seat for each step, a limit for each group with `maxParallel`, and
/// the pools.
extension SlotQueue {
  /// The steps of a plan, by their index; a limit for each group with `maxParallel`; and the pools of its files,
  /// whose buckets are full now; and with a capacity, a pool of each counted resource.
  init(plan: Plan, slots: Int, capacity: MachineCapacity? = nil, at now: Duration = .zero) {
    self.init(slots: slots)
    records.reserveCapacity(plan.steps.count)
    let limits = addLimits(of: plan)
    addPools(plan.pools, at: now)
    if let capacity {
      for resource in CountedResource.allCases {
        poolNumbers[resource.pool] = addPool(slots: resource.amount(in: capacity))
      }
    }
    for runner in plan.runners where poolNumbers[runner.pool] == nil {
      poolNumbers[runner.pool] = addPool(slots: runner.slots)
    }
    // By index, which avoids a copy of each.
    for index in plan.steps.indices {
      allocate(
        SlotParameters(
          weight: plan.startWeight(ofStep: index),
          order: FileOrder.whole.piece(index, of: plan.steps.count).first,
          limit: limits[plan.steps[index].group],
          demand: demand(plan.steps[index].pools)))
    }
  }

  /// The innermost limit around the members of each group.
  private mutating func addLimits(of plan: Plan) -> [Int?] {
    var limits: [Int?] = [nil]
    limits.reserveCapacity(plan.groups.count)
    // Outer groups come before inner ones.
    for (index, group) in plan.groups.enumerated().dropFirst() {
      let outer = limits[group.parent ?? 0]
      limits.append(
        group.maxParallel.map { addLimit(slots: $0, inside: outer, of: index) } ?? outer)
    }
    return limits
  }

  private mutating func addPools(_ pools: [WeftDefinition.Pool], at now: Duration) {
    for pool in pools {
      let bucket = pool.rate.map { TokenBucket(count: $0.count, per: $0.period, at: now) }
      poolNumbers[pool.name] = addPool(slots: pool.slots, bucket: bucket)
    }
  }

  /// The number of the demand that the requests amount to, whatever their order; `nil` if there are none.
  ///
  /// - Precondition: The pools are known.
  mutating func demand(_ requests: [PoolRequest]) -> Int? {
    if requests.isEmpty { return nil }
    let shares = requests.map { request in
      guard let pool = poolNumbers[request.pool] else {
        preconditionFailure("a plan has no step that asks for an unknown pool: \(request.pool)")
      }
      return PoolQueues.Share(pool: pool, slots: request.slots)
    }
    return demand(shares.sorted { $0.pool < $1.pool })
  }
}

extension Plan {
  /// Whether any step requests resources.
  package var requestsResources: Bool {
    // By index, which avoids a copy of each.
    steps.indices.contains { steps[$0].hasResources }
  }
}

extension CountedResource {
  func amount(in capacity: MachineCapacity) -> Int {
    switch self {
    case .cpus: capacity.processors
    case .memory: capacity.memory
    }
  }
}

/// Instances of steps, which come and go during the run: those of loop elements.
extension SlotQueue {
  /// A further instance of a step, with its weight and demand.
  struct Copy {
    /// The number of the step.
    var step: Int
    /// Its position in the file order, used only if there is a single slot; otherwise it has that of the step.
    var order: UInt64
    /// The innermost limit, as in ``Seat/limit``.
    var limit: Int?

    init(of step: Int, order: UInt64, limit: Int?) {
      self.step = step
      self.order = order
      self.limit = limit
    }
  }

  /// A row and limits to be removed as soon as none of them is waited for or held.
  struct PendingRemoval {
    let row: Range<Int>
    let limits: [Int]
  }

  /// Assigns consecutive numbers to instances that belong together, in their order.
  mutating func allocate(_ copies: [Copy]) -> Range<Int> {
    // The plan's own steps are seated before all others.
    if numbers == nil { numbers = InstanceNumbers(from: records.count) }
    let row = numbers!.take(copies.count)
    for (number, copy) in zip(row, copies) {
      let original = records[copy.step]
      let key = keysAreFileOrder ? copy.order : original.key
      place(
        Record(key: key, limit: Int32(copy.limit ?? -1)),
        demand: pools.demand(ofLine: original.line), as: number)
    }
    return row
  }

  /// Removes a row, and limits that no other row is in. Their numbers are reused once the last slot is given back.
  mutating func deallocate(_ row: Range<Int>, limits: [Int] = []) {
    let removal = PendingRemoval(row: row, limits: limits)
    if !removeIfUnused(removal) { pendingRemovals.append(removal) }
  }

  mutating func removeIfUnused() {
    guard !pendingRemovals.isEmpty else { return }
    let leaving = pendingRemovals
    pendingRemovals = []
    for removal in leaving where !removeIfUnused(removal) { pendingRemovals.append(removal) }
  }

  /// Removes a row if that is possible now.
  ///
  /// - Returns: Whether it was removed: no instance waits or holds a slot.
  private mutating func removeIfUnused(_ removal: PendingRemoval) -> Bool {
    // Instances further in may hold slots of these limits a little longer.
    guard removal.row.allSatisfy({ records[$0].position == .absent }),
      removal.limits.allSatisfy({ limits[$0].free == limits[$0].slots })
    else { return false }
    numbers?.giveBack(removal.row)
    for limit in removal.limits { removeLimit(limit) }
    return true
  }
}

/// Slots that come and go during the run, and slots that a step has besides its own, for the jobs of a tool such as
/// `make`.
extension SlotQueue {
  /// Adds a slot to the run.
  mutating func addSlot() { free += 1 }

  /// Removes a slot from the run if one is free.
  mutating func removeFreeSlot() -> Bool {
    guard free > 0 else { return false }
    free -= 1
    return true
  }

  /// Gives a step a further slot, if one is free in every limit around it. Called after ``grant(at:)``, so that no
  /// waiting step could use the slot.
  mutating func lend(to step: Int) -> Bool {
    let limit = records[step].limit
    guard free > 0, firstFullLimit(from: limit) == nil else { return false }
    free -= 1
    takeLimits(from: limit)
    return true
  }

  /// Takes back a slot that a step has besides its own.
  mutating func takeBack(from step: Int) {
    free += 1
    giveBackLimits(from: records[step].limit)
  }

  /// Whether a step waits that lacks nothing but a slot of the run.
  mutating func lacksSlots() -> Bool {
    free == 0 && (waiting.first(where: records.areWaiting) != nil || hasLineLackingSlots())
  }

  /// Whether a waiting step may be helped by a slot that is taken back from this step.
  mutating func lacksSlots(lentTo step: Int) -> Bool {
    if lacksSlots() { return true }
    let innermost = records[step].limit
    for index in indices(from: innermost) where limits[index].free == 0 {
      if limits[index].parked.first(where: records.areWaiting) != nil { return true }
    }
    guard pools.haveWaiters else { return false }
    for index in indices(from: innermost) { limits[index].free += 1 }
    defer { for index in indices(from: innermost) { limits[index].free -= 1 } }
    return hasLineLackingSlots()
  }
}
