import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The slots of the run, of groups and of pools: which spots hold them, and which wait. The resources of the machine are
/// pools, too.
struct Capacity {
  private let pools: [Pool]
  private let maxParallel: Int
  private(set) var running: [Subject] = []
  /// The services that are up: they hold slots of pools, and no others.
  private(set) var serving: [Subject] = []
  var waiting: [Subject] = []
  /// The resources that steps request, by pool: they may depend on other steps.
  private var requested: [Subject: [String: Int]] = [:]
  /// For each pool, what its rate still allows, as of a time.
  private var buckets: [String: (level: Double, at: Duration)] = [:]

  init(_ simulation: Simulation) {
    pools = simulation.made.workflow.pools + (simulation.made.machine?.pools ?? [])
    maxParallel = simulation.maxParallel
  }

  private func held(ofPool pool: String, _ blueprint: Blueprint) -> Int {
    (running + serving).reduce(0) { $0 + slots(of: pool, $1, blueprint) }
  }

  mutating func request(_ resources: [String: Int], for subject: Subject) {
    requested[subject] = resources
  }

  /// The pools of which a step needs something.
  func pools(of subject: Subject, _ blueprint: Blueprint) -> Set<String> {
    Set(pools.map(\.name).filter { slots(of: $0, subject, blueprint) > 0 })
  }

  /// Whether a step requests more of a resource than there is.
  func isTooLarge(_ subject: Subject) -> Bool {
    pools.contains { requested[subject]?[$0.name] ?? 0 > $0.slots }
  }

  /// The pools that cannot give a step what it asks for. `nil` if an enclosing limit is reached, so that the step
  /// takes nothing from others. A pool whose rate allows it at exactly this time may count either way.
  func lackedPools(
    of subject: Subject, _ blueprint: Blueprint, at now: Duration, certainly isCertain: Bool
  ) -> Set<String>? {
    for group in blueprint.enclosing(subject) where !blueprint.isWholeLoop(group) {
      guard let limit = blueprint.member(group.id).group?.maxParallel else { continue }
      if running(in: group, blueprint) >= limit { return nil }
    }
    let lacked = pools.filter { pool in
      let slots = self.slots(of: pool.name, subject, blueprint)
      guard slots > 0 else { return false }
      return held(ofPool: pool.name, blueprint) + slots > pool.slots
        || level(of: pool, at: now) < Double(slots) + (isCertain ? -1e-6 : 1e-6)
    }
    return Set(lacked.map(\.name))
  }

  private func slots(of pool: String, _ subject: Subject, _ blueprint: Blueprint) -> Int {
    let written = blueprint.member(subject.id).step.control.pools.first { $0.pool == pool }
    return written?.slots ?? requested[subject]?[pool] ?? 0
  }

  private func running(in group: Subject, _ blueprint: Blueprint) -> Int {
    running.count { blueprint.enclosing($0).contains(group) }
  }

  private func level(of pool: Pool, at now: Duration) -> Double {
    guard let rate = pool.rate else { return .infinity }
    let (level, then) = buckets[pool.name] ?? (Double(rate.count), .zero)
    let refilled = (now - then) / rate.period * Double(rate.count)
    return min(Double(rate.count), level + refilled)
  }

  /// Starts an attempt and returns the limits that it exceeds.
  mutating func start(_ subject: Subject, of blueprint: Blueprint, at now: Duration) -> [String] {
    waiting.removeAll { $0 == subject }
    running.append(subject)
    var excesses: [String] = []
    if running.count > maxParallel { excesses.append("\(running.count) run, of \(maxParallel)") }
    for group in blueprint.enclosing(subject) where !blueprint.isWholeLoop(group) {
      guard let limit = blueprint.member(group.id).group?.maxParallel else { continue }
      let count = running(in: group, blueprint)
      if count > limit { excesses.append("\(count) run in \(group.id), of \(limit)") }
    }
    for pool in pools {
      let slots = self.slots(of: pool.name, subject, blueprint)
      guard slots > 0 else { continue }
      let held = held(ofPool: pool.name, blueprint)
      if held > pool.slots { excesses.append("\(held) of \(pool.name) are held, of \(pool.slots)") }
      let level = level(of: pool, at: now)
      if level < Double(slots) - 1e-6 { excesses.append("\(pool.name) is taken too fast") }
      buckets[pool.name] = (level - Double(slots), now)
    }
    return excesses
  }

  mutating func end(_ subject: Subject) {
    running.removeAll { $0 == subject }
    serving.removeAll { $0 == subject }
  }

  /// Gives back what a service holds that is up, except for its slots of pools.
  mutating func vacate(_ subject: Subject) {
    running.removeAll { $0 == subject }
    serving.append(subject)
  }

  var hasSlot: Bool { running.count < maxParallel }

  /// Whether it could have what it waits for and no other spot waits for the same pool.
  func hasRoom(for subject: Subject, of blueprint: Blueprint, at now: Duration) -> Bool {
    guard hasSlot else { return false }
    for group in blueprint.enclosing(subject) where !blueprint.isWholeLoop(group) {
      guard let limit = blueprint.member(group.id).group?.maxParallel else { continue }
      if running(in: group, blueprint) >= limit { return false }
    }
    return pools.allSatisfy { pool in
      let slots = self.slots(of: pool.name, subject, blueprint)
      guard slots > 0 else { return true }
      let others = waiting.contains {
        $0 != subject && self.slots(of: pool.name, $0, blueprint) > 0
      }
      return !others && held(ofPool: pool.name, blueprint) + slots <= pool.slots
        && level(of: pool, at: now) > Double(slots) + 1e-6
    }
  }
}
