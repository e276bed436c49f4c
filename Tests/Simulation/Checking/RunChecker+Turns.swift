import WeftDefinition
import WeftPlanning

/// The order in which ready steps get slots: the longest path to the end first, by durations of earlier runs if known,
/// then file order. With one slot, only file order counts, one element of a loop after the other (SPEC §6).
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

  /// Elements of one step are served first come, first served, unless there is only one slot.
  func precedes(_ one: Subject, _ other: Subject) -> Bool {
    guard let one = ranks[one.id], let other = ranks[other.id] else { return false }
    if one.below != other.below, !isFileOrder { return one.below > other.below }
    return one.place < other.place
  }
}

/// Checks that no step overtakes one of higher priority: neither for a free slot, nor for slots of a pool that the
/// step ahead is still short of.
extension RunChecker {
  private func precedes(_ one: Subject, _ other: Subject) -> Bool {
    guard priorities.isFileOrder, let loop = innermostLoop(around: one, and: other) else {
      return priorities.precedes(one, other)
    }
    let (keys, depth) = (keys(of: loop), loop.keys.count)
    guard let place = keys.firstIndex(of: one.keys[depth]),
      let otherPlace = keys.firstIndex(of: other.keys[depth]), place != otherPlace
    else { return priorities.precedes(one, other) }
    return place < otherPlace
  }

  /// The innermost loop with both spots in one element of each loop around it.
  private func innermostLoop(around one: Subject, and other: Subject) -> Subject? {
    let (loops, others) = (blueprint.member(one.id).loops, blueprint.member(other.id).loops)
    var common: Subject?
    for depth in 0..<min(one.keys.count, other.keys.count) where loops[depth] == others[depth] {
      common = Subject(id: loops[depth], keys: Array(one.keys.prefix(depth)))
      if one.keys[depth] != other.keys[depth] { break }
    }
    return common
  }

  /// Checks that it is the step's turn to begin an attempt, with the slots that it takes still free.
  mutating func requireTurn(of subject: Subject) {
    let ahead = capacity.waiting.filter { other in
      other != subject && precedes(other, subject) && isCertain(other)
    }
    // Steps ahead that can begin leave less for the next.
    var (rest, kept, perhapsKept) = (capacity, Set<String>(), Set<String>())
    for other in ahead.sorted(by: precedes) where rest.hasSlot {
      guard let lacked = rest.lackedPools(of: other, blueprint, at: now, certainly: false),
        let surelyLacked = rest.lackedPools(of: other, blueprint, at: now, certainly: true)
      else { continue }
      let asked = capacity.pools(of: other, blueprint)
      if lacked.isEmpty, asked.isDisjoint(with: perhapsKept) {
        defer { _ = rest.start(other, of: blueprint, at: now) }
        guard hasWaited(other) else { continue }
        // An end returns its slots slightly after it is reported: within one moment both steps start. With more than
        // one slot, any element of a step may start.
        let (moment, isFileOrder) = (now, priorities.isFileOrder)
        requireSoon("\(name(subject)) starts, and it is the turn of \(name(other))") {
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
    for pool in capacity.pools(of: subject, blueprint).intersection(kept) {
      require(false, "\(name(subject)) takes of \(pool) what is kept for who comes first")
    }
  }

  /// Whether it has waited since before this moment.
  private func hasWaited(_ subject: Subject) -> Bool { waitsSince(subject) < now }

  /// Whether it waits, and nothing decided in this moment may keep it from starting.
  private func isCertain(_ subject: Subject) -> Bool {
    waitsSince(subject) <= now && obstacle(to: subject) == nil && !isUncertain(subject)
  }

  private func waitsSince(_ subject: Subject) -> Duration {
    state(subject).phase == .queued ? state(subject).queuedAt : state(subject).resumesAt
  }
}
