@testable import WeftEvents
@testable import WeftExecution

/// The promises of ``SlotQueue``, implemented by looking at all requests each time. It does not know age.
struct SlowSlotQueue {
  struct SlotParameters {
    var weight: Int32
    var order: UInt64
    var limit: Int?
    var shares: [PoolQueues.Share]
  }

  var free: Int
  let keysAreFileOrder: Bool
  var limits: [(slots: Int, free: Int, outer: Int?)] = []
  var pools: [(slots: Int, free: Int, bucket: TokenBucket?)] = []
  var seats: [Int: SlotParameters] = [:]
  /// The waiting instances, in the order of their requests.
  var waiting: [Int] = []
  var holding: Set<Int> = []

  init(slots: Int) {
    free = slots
    keysAreFileOrder = slots == 1
  }

  mutating func release(_ step: Int) {
    holding.remove(step)
    free += 1
    change(step, by: 1)
  }

  mutating func grant(at now: Duration) -> [Int] {
    var granted: [Int] = []
    while let step = next(at: now) {
      waiting.removeAll { $0 == step }
      holding.insert(step)
      free -= 1
      change(step, by: -1)
      for share in seats[step]!.shares {
        _ = pools[share.pool].bucket?.take(share.slots, at: now)
      }
      granted.append(step)
    }
    return granted
  }

  /// The first in order that lacks nothing and is not behind one that lacks slots of its pools.
  private func next(at now: Duration) -> Int? {
    guard free > 0 else { return nil }
    var blocked: Set<Int> = []
    for step in inOrder where chain(of: step).allSatisfy({ limits[$0].free > 0 }) {
      let shares = seats[step]!.shares
      let lacking = shares.filter { lacks($0, at: now) }.map(\.pool)
      if lacking.isEmpty && blocked.isDisjoint(with: shares.map(\.pool)) { return step }
      blocked.formUnion(lacking)
    }
    return nil
  }

  private var inOrder: [Int] {
    waiting.enumerated().sorted { left, right in
      let (one, other) = (key(of: left.element), key(of: right.element))
      return (one.0, one.1, left.offset) < (other.0, other.1, right.offset)
    }.map(\.element)
  }

  private func key(of step: Int) -> (Int, UInt64) {
    let parameters = seats[step]!
    return keysAreFileOrder
      ? (0, parameters.order) : (-Int(parameters.weight), parameters.order >> 32)
  }

  private func chain(of step: Int) -> [Int] {
    Array(
      sequence(state: seats[step]!.limit) { next in
        defer { next = next.flatMap { limits[$0].outer } }
        return next
      })
  }

  private func lacks(_ share: PoolQueues.Share, at now: Duration) -> Bool {
    let pool = pools[share.pool]
    return pool.free < share.slots || pool.bucket.map { $0.available(share.slots) > now } ?? false
  }

  private mutating func change(_ step: Int, by count: Int) {
    for limit in chain(of: step) { limits[limit].free += count }
    for share in seats[step]!.shares { pools[share.pool].free += count * share.slots }
  }
}
