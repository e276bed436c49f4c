import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// The slots of the run, of groups and of pools: which spots hold them, and which wait.
struct Capacity {
  private let workflow: Workflow
  private let maxParallel: Int
  private(set) var running: [Subject] = []
  /// The services that are up: they hold slots of pools, and no others.
  private(set) var serving: [Subject] = []
  var waiting: [Subject] = []
  /// For each pool, what its rate still allows, as of a time.
  private var buckets: [String: (level: Double, at: Duration)] = [:]

  init(_ simulation: Simulation) {
    workflow = simulation.made.workflow
    maxParallel = simulation.maxParallel
  }

  private func held(ofPool pool: String, _ blueprint: Blueprint) -> Int {
    (running + serving).reduce(0) { $0 + Capacity.slots(of: pool, blueprint.member($1.id)) }
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
    let lacked = workflow.pools.filter { pool in
      let slots = Capacity.slots(of: pool.name, blueprint.member(subject.id))
      guard slots > 0 else { return false }
      return held(ofPool: pool.name, blueprint) + slots > pool.slots
        || level(of: pool, at: now) < Double(slots) + (isCertain ? -1e-6 : 1e-6)
    }
    return Set(lacked.map(\.name))
  }

  private static func slots(of pool: String, _ member: Blueprint.Member) -> Int {
    member.step.control.pools.first { $0.pool == pool }?.slots ?? 0
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
    for pool in workflow.pools {
      let slots = Capacity.slots(of: pool.name, blueprint.member(subject.id))
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
    return workflow.pools.allSatisfy { pool in
      let slots = Capacity.slots(of: pool.name, blueprint.member(subject.id))
      guard slots > 0 else { return true }
      let others = waiting.contains {
        $0 != subject && Capacity.slots(of: pool.name, blueprint.member($0.id)) > 0
      }
      return !others && held(ofPool: pool.name, blueprint) + slots <= pool.slots
        && level(of: pool, at: now) > Double(slots) + 1e-6
    }
  }
}
