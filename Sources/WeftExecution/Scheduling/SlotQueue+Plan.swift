import WeftDefinition
import WeftPlanning

/// The queue for a plan, as ``Slots`` creates it: a seat for each step, a limit for each group with `maxParallel`, and
/// the pools.
extension SlotQueue {
  /// The steps of a plan, by their index; a limit for each group with `maxParallel`; and the pools of its files,
  /// whose buckets are full now.
  init(plan: Plan, slots: Int, at now: Duration = .zero) {
    self.init(slots: slots)
    records.reserveCapacity(plan.steps.count)
    let limits = addLimits(of: plan)
    let pools = addPools(plan.pools, at: now)
    // By index, which avoids a copy of each.
    for index in plan.steps.indices {
      let shares =
        plan.steps[index].hasControl
        ? PoolQueues.Share.all(of: plan.steps[index].control.pools, in: pools) : []
      seat(
        Seat(
          weight: plan.startWeight(ofStep: index),
          order: FileOrder.whole.piece(index, of: plan.steps.count).first,
          limit: limits[plan.steps[index].group],
          demand: shares.isEmpty ? nil : demand(shares)))
    }
  }

  /// The innermost limit around the members of each group.
  private mutating func addLimits(of plan: Plan) -> [Int?] {
    var limits: [Int?] = [nil]
    limits.reserveCapacity(plan.groups.count)
    // Outer groups come before inner ones.
    for group in plan.groups.dropFirst() {
      let outer = limits[group.parent ?? 0]
      limits.append(group.maxParallel.map { addLimit(slots: $0, inside: outer) } ?? outer)
    }
    return limits
  }

  private mutating func addPools(
    _ pools: [WeftDefinition.Pool], at now: Duration
  ) -> [String: Int] {
    var indices: [String: Int] = [:]
    for pool in pools {
      let bucket = pool.rate.map { TokenBucket(count: $0.count, per: $0.period, at: now) }
      indices[pool.name] = addPool(slots: pool.slots, bucket: bucket)
    }
    return indices
  }
}

extension PoolQueues.Share {
  /// The shares that the requests amount to: one for each pool, in an order that does not depend on the order of the
  /// requests.
  ///
  /// - Precondition: The pools are known.
  static func all(of requests: [PoolRequest], in pools: [String: Int]) -> [PoolQueues.Share] {
    requests.map { request in
      guard let pool = pools[request.pool] else {
        preconditionFailure("a plan has no step that asks for an unknown pool: \(request.pool)")
      }
      return PoolQueues.Share(pool: pool, slots: request.slots)
    }
    .sorted { $0.pool < $1.pool }
  }
}
