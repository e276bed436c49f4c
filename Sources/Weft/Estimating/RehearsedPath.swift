import WeftDefinition
import WeftEvents
import WeftPlanning

/// The critical path of a rehearsed run: from the attempt that ended last backwards, each time to the attempt whose end
/// led to the start of the next.
struct RehearsedPath {
  let links: [Estimate.Link]
  /// The time of the attempts of each step of the plan on the path.
  let work: [Int: Duration]
  let finalDelay: Duration

  init(_ result: RunRehearsal.Result, of plan: Plan) {
    let attempts = result.attempts
    var links: [Estimate.Link] = []
    var work: [Int: Duration] = [:]
    var next = attempts.indices.filter { !attempts[$0].isStopped }
      .max { attempts[$0].end < attempts[$1].end }
    finalDelay = result.duration - (next.map { attempts[$0].end } ?? result.duration)
    while let last = next {
      // All attempts of one execution are one link.
      var first = last
      var duration = attempts[last].end - attempts[last].start
      while let cause = attempts[first].cause, attempts[cause].address == attempts[last].address {
        duration += attempts[cause].end - attempts[cause].start
        first = cause
      }
      next = attempts[first].cause
      let begin = next.map { attempts[$0].end } ?? .zero
      links.append(
        Estimate.Link(
          step: attempts[last].address, duration: duration,
          delay: attempts[last].end - begin - duration,
          start: RehearsedPath.start(of: attempts[first], after: next, in: result, plan)))
      work[attempts[last].step, default: .zero] += duration
    }
    self.links = Array(links.reversed())
    self.work = work
  }

  private static func start(
    of attempt: RunRehearsal.Attempted, after cause: Int?, in result: RunRehearsal.Result,
    _ plan: Plan
  ) -> Estimate.Start {
    guard let cause else { return .immediate }
    if attempt.isStopping { return .stopping }
    let before = result.attempts[cause]
    let cleanups = plan.bodies.cleanupSteps
    if cleanups.contains(attempt.step), cleanups.contains(before.step) { return .cleanup }
    if plan.depends(attempt.step, on: before.step), attempt.address.isNear(before.address) {
      return .dependency
    }
    if attempt.runningAtCause >= result.maxParallel { return .slot }
    let pools = plan.steps[attempt.step].control.pools.map(\.pool)
    let held = plan.steps[before.step].control.pools.map(\.pool)
    if let shared = pools.first(where: held.contains) { return .pool(shared) }
    if plan.steps[attempt.step].hasResources, plan.steps[before.step].hasResources {
      return .resources
    }
    if attempt.start > before.end { return .immediate }
    return plan.hasLimit(around: attempt.step) ? .limit : .dependency
  }
}

extension StepAddress {
  /// Whether the other is not in another element of a loop around this one.
  fileprivate func isNear(_ other: StepAddress) -> Bool {
    guard let own = innermostElement, let others = other.innermostElement, own != others,
      let loop = own.loop, others.loop == loop
    else { return true }
    return false
  }
}

extension Plan {
  /// Whether a step is in a group or loop with `maxParallel`, or is one.
  fileprivate func hasLimit(around step: Int) -> Bool {
    if steps[step].control.fanOut?.hasLimit == true { return true }
    return allEnclosingGroups(ofGroup: steps[step].group).contains { around in
      let group = groups[around]
      return group.step != nil
        && (group.maxParallel != nil || group.step?.control.fanOut?.hasLimit == true)
    }
  }

  /// Whether a step directly or indirectly depends on another one, by their indices.
  fileprivate func depends(_ step: Int, on other: Int) -> Bool {
    let target = steps[other].node
    var seen: Set<NodeIndex> = []
    var rest = dependencies[steps[step].node].map(Int.init)
    while let node = rest.popLast() {
      if node == target { return true }
      guard seen.insert(node).inserted else { continue }
      rest += dependencies[node].map(Int.init)
    }
    return false
  }
}
