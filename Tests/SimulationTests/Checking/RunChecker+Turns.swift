import WeftDefinition
import WeftPlanning

/// Who goes first of those that wait for slots: the longest path below, in time where earlier runs tell it, then
/// the place in the file; with one slot the place in the file alone, one element of a loop after another (SPEC §6).
struct Priorities {
  private var ranks: [String: (below: Int32, place: Int)] = [:]
  let isFileOrder: Bool

  init(of simulation: Simulation) {
    let plan = simulation.plan
    isFileOrder = simulation.maxParallel == 1
    for (place, step) in plan.steps.enumerated() {
      ranks[step.address.text] = (plan.startWeight(ofStep: place), place)
    }
  }

  /// Elements of one step are served as they come, unless there is but one slot.
  func precedes(_ one: Spot, _ other: Spot) -> Bool {
    guard let one = ranks[one.id], let other = ranks[other.id] else { return false }
    if one.below != other.below, !isFileOrder { return one.below > other.below }
    return one.place < other.place
  }
}

/// Nobody is passed by who comes after: neither for a slot that could be had, nor for slots of a pool of which
/// somebody ahead has not all.
extension RunChecker {
  private func precedes(_ one: Spot, _ other: Spot) -> Bool {
    guard priorities.isFileOrder, let loop = innermostLoop(around: one, and: other) else {
      return priorities.precedes(one, other)
    }
    let (keys, depth) = (keys(of: loop), loop.keys.count)
    guard let place = keys.firstIndex(of: one.keys[depth]),
      let otherPlace = keys.firstIndex(of: other.keys[depth]), place != otherPlace
    else { return priorities.precedes(one, other) }
    return place < otherPlace
  }

  /// The loop of which both are in an element, the same of all loops around that.
  private func innermostLoop(around one: Spot, and other: Spot) -> Spot? {
    let (loops, others) = (blueprint.member(one.id).loops, blueprint.member(other.id).loops)
    var common: Spot?
    for depth in 0..<min(one.keys.count, other.keys.count) where loops[depth] == others[depth] {
      common = Spot(id: loops[depth], keys: Array(one.keys.prefix(depth)))
      if one.keys[depth] != other.keys[depth] { break }
    }
    return common
  }

  /// The step begins an attempt; what it takes is still free.
  mutating func requireTurn(of spot: Spot) {
    let ahead = capacity.waiting.filter { other in
      other != spot && precedes(other, spot) && isCertain(other)
    }
    // Those ahead that can begin leave less for the next.
    var (rest, kept, perhapsKept) = (capacity, Set<String>(), Set<String>())
    for other in ahead.sorted(by: precedes) where rest.hasSlot {
      guard let lacked = rest.lackedPools(of: other, blueprint, at: now, certainly: false),
        let surelyLacked = rest.lackedPools(of: other, blueprint, at: now, certainly: true)
      else { continue }
      let asked = Set(blueprint.member(other.id).step.control.pools.map(\.pool))
      if lacked.isEmpty, asked.isDisjoint(with: perhapsKept) {
        defer { _ = rest.start(other, of: blueprint, at: now) }
        guard hasWaited(other) else { continue }
        // What an end gives back is there a little after it is told: in the same moment, both start. Of elements
        // of one step, any may if there are more slots than one.
        let (moment, isFileOrder) = (now, priorities.isFileOrder)
        requireSoon("\(name(spot)) starts, and it is the turn of \(name(other))") {
          $0.state(other).phase == .ended
            || $0.states.contains {
              (isFileOrder ? $0.key == other : $0.key.id == other.id)
                && $0.value.startedAt == moment && $0.value.attempt > 0
            }
        }
      }
      perhapsKept.formUnion(lacked)
      if hasWaited(other) { kept.formUnion(surelyLacked) }
    }
    for request in blueprint.member(spot.id).step.control.pools where kept.contains(request.pool) {
      require(false, "\(name(spot)) takes of \(request.pool) what is kept for who comes first")
    }
  }

  /// Since before this moment.
  private func hasWaited(_ spot: Spot) -> Bool { waitsSince(spot) < now }

  /// It waits, and nothing has been decided in this moment that may turn it away.
  private func isCertain(_ spot: Spot) -> Bool {
    waitsSince(spot) <= now && obstacle(to: spot) == nil && !isUncertain(spot)
  }

  private func waitsSince(_ spot: Spot) -> Duration {
    state(spot).phase == .queued ? state(spot).queuedAt : state(spot).resumesAt
  }
}
