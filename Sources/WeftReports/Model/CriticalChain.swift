import WeftDefinition
package import WeftEvents
package import WeftPlanning
import WeftReporting

/// The steps that determined when the run ended, the last first, found from there backwards: before each the dependency
/// that ended last. Waits between them are part of the chain. A service counts only until it is ready.
///
/// A plan has the longest path by durations; this is what happened in one run, also with resumed and repeated steps.
package struct CriticalChain {
  private let timeline: RunTimeline
  private let plan: Plan
  private let addresses: PlanAddresses
  /// The index of each step.
  private var places: [StepAddress: Int] = [:]
  /// The steps in each loop, element and group.
  private var members: [StepAddress: [Int]] = [:]
  /// The winner of each race.
  private let winners: [StepAddress: StepAddress]
  /// The steps whose end no other step waited for, because they lost a race.
  private var losers: Set<Int> = []

  /// Times of records may be late, but a dependency has ended in any case, except before a resume or a retry.
  private static let tolerance = 50_000

  /// - Parameter groups: The recorded groups of the run.
  package init(
    _ timeline: RunTimeline, _ plan: Plan, _ groups: [StepAddress: RecordedGroup] = [:]
  ) {
    (self.timeline, self.plan) = (timeline, plan)
    winners = groups.compactMapValues { $0.end?.winner }
    addresses = PlanAddresses(plan)
    for index in timeline.steps.indices where timeline.steps[index].done != nil { note(index) }
  }

  private mutating func note(_ step: Int) {
    let address = timeline.steps[step].address
    places[address] = step
    if let loop = address.loop { members[loop, default: []].append(step) }
    guard let group = addresses.innermostGroup(at: address) else { return }
    for group in plan.allEnclosingGroups(ofGroup: group) {
      guard let planned = plan.groups[group].address else { continue }
      for instance in addresses.instances(of: planned, around: address) {
        if let winner = winners[instance], !address.isInside(winner) {
          losers.insert(step)
          return
        }
        members[instance, default: []].append(step)
      }
    }
  }

  /// The steps in order of time, as indices into ``RunTimeline/steps``.
  package var steps: [Int] {
    let ended = timeline.steps.indices.filter {
      timeline.steps[$0].done != nil && !losers.contains($0)
    }
    guard var step = ended.max(by: { timeline.steps[$0].done! < timeline.steps[$1].done! }) else {
      return []
    }
    var chain = [step]
    var seen: Set<Int> = [step]
    while let before = predecessor(of: step), seen.insert(before).inserted {
      chain.append(before)
      step = before
    }
    return Array(chain.reversed())
  }

  /// The dependency of a step that ended last before the step became ready.
  package func predecessor(of step: Int) -> Int? {
    let around = timeline.steps[step].address
    guard let ready = timeline.steps[step].lastExecution.first?.start,
      let planned = addresses.step(at: around)
    else { return nil }
    var (found, seen): (Int?, Set<Plan.NodeIndex>) = (nil, [])
    var next = plan.dependencies[plan.steps[planned].node].map(Int.init)
    while let node = next.popLast() {
      guard seen.insert(node).inserted else { continue }
      if case .groupStart = plan.nodes[node] {
        next += plan.dependencies[node].map(Int.init)
        continue
      }
      guard let candidate = last(of: node, around: around, by: ready + CriticalChain.tolerance),
        let end = timeline.steps[candidate].done, candidate != step
      else {
        // It was skipped, or was never reached, or ended in a later attempt; its own dependencies had ended.
        next += plan.dependencies[node].map(Int.init)
        continue
      }
      if found.map({ end > timeline.steps[$0].done! }) ?? true { found = candidate }
    }
    return found
  }

  /// The step that ended last by some time in the instance of a node that a step with this address depends on: in the
  /// innermost element of a loop around both. Another attempt of a group around both may have ended others later.
  private func last(of node: Plan.NodeIndex, around address: StepAddress, by time: Int) -> Int? {
    guard let instance = addresses.instances(of: plan.address(of: node), around: address).first
    else { return nil }
    var found: (step: Int, end: Int)?
    for step in members[instance] ?? places[instance].map({ [$0] }) ?? [] {
      guard let end = timeline.steps[step].done, end <= time, end >= found?.end ?? end else {
        continue
      }
      found = (step, end)
    }
    return found?.step
  }
}

/// A step that took long, and what held it up.
struct SlowStep {
  /// Its index in the timeline.
  let step: Int
  /// The reason why it did not start earlier, as a clause: `waited 3.1 s for pool "db", after "migrate"`.
  let cause: String?
}

/// A step of the critical path.
struct ChainLink {
  /// Its index in the timeline.
  let step: Int
  /// The time of its attempts.
  let ran: Int
  /// The other time since the step before it ended.
  let waited: Int
}

extension ReportedRun {
  /// The steps of the critical path. Their times add up to that from the first one's readiness to the end.
  var links: [ChainLink] {
    var before: Int?
    return chain.map { index in
      let execution = timeline.steps[index].lastExecution
      let (start, end) = (before ?? execution.first?.start ?? 0, timeline.steps[index].done ?? 0)
      let ran = execution.reduce(0) { $1.beginsAttempt && $1.end <= end ? $0 + $1.duration : $0 }
      before = max(start, end)
      return ChainLink(step: index, ran: ran, waited: max(0, end - start - ran))
    }
  }

  /// The steps with the longest attempts in total, the longest first.
  func slowestSteps(_ count: Int = 10) -> [SlowStep] {
    let steps = timeline.steps.indices.map { ($0, timeline.steps[$0].runningTime) }
      .filter { $0.1 > 0 }
    return steps.sorted { $0.1 == $1.1 ? $0.0 < $1.0 : $0.1 > $1.1 }.prefix(count)
      .map { SlowStep(step: $0.0, cause: cause(of: $0.0)) }
  }

  /// The longest wait of a step, and the step that caused it; the dependency before it if it did not wait.
  func cause(of step: Int) -> String? {
    let execution = timeline.steps[step].lastExecution
    let waits = execution.filter { $0.isForSlots || $0.kind == .cluster }
    guard let wait = waits.max(by: { $0.duration < $1.duration }), wait.duration >= 10_000 else {
      return causes?.predecessor(of: step).map { "started after \(named($0))" }
    }
    let time = ShownDuration.precise(.microseconds(wait.duration))
    switch wait.kind {
    case .pool:
      let names = timeline.steps[step].pools.map {
        CountedResource.noun(ofPool: $0.pool)
      }.joined(separator: ", ")
      let holder = holder(ofPoolsOf: step, until: wait.end)
      return "waited \(time) for \(names)" + (holder.map { ", held by \(named($0))" } ?? "")
    case .rate:
      let names = timeline.steps[step].pools.map { quoted($0.pool) }.joined(separator: ", ")
      return "waited \(time) for the rate of pool \(names)"
    case .group: return "waited \(time) until its group had room"
    case .cluster: return "waited \(time) for the cluster"
    default:
      let attempt = execution.first { $0.start >= wait.end && $0.beginsAttempt }
      let before = attempt?.predecessor.map { ", after \(named($0))" }
      return "waited \(time) for a slot" + (before ?? "")
    }
  }

  /// The step whose slots of a pool became free last before this time.
  private func holder(ofPoolsOf step: Int, until time: Int) -> Int? {
    let wanted = Set(timeline.steps[step].pools.map(\.pool))
    var found: (step: Int, end: Int)?
    for (index, other) in timeline.steps.enumerated() where index != step {
      guard other.pools.contains(where: { wanted.contains($0.pool) }) else { continue }
      for held in other.holdings where held.upperBound <= time + 2000 {
        if held.upperBound > found?.end ?? -1 { found = (index, held.upperBound) }
      }
    }
    return found?.step
  }

  private func named(_ step: Int) -> String { quoted(timeline.steps[step].address.text) }
  private func quoted(_ text: String) -> String { "\"\(shown(text))\"" }
}
