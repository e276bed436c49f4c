import WeftDefinition
import WeftExecution
import WeftPlanning

/// Holds the events of a run against what a run promises. It knows the rules and not the engine.
struct RunChecker {
  private(set) var violations: [String] = []
  /// How many values were read.
  private(set) var readings = 0
  private let plan: Plan
  private var phases: [StepAddress: Phase] = [:]
  private var skips: [StepAddress: SkipReason] = [:]
  private var ends: [StepAddress: StepEnd] = [:]
  private var startedGroups: Set<StepAddress> = []
  private var groupEnds: [StepAddress: GroupEnd] = [:]
  private var cancelled: CancelReason?
  private var isFinished = false
  private var lastSequence: UInt64 = 0
  private var running = 0
  private let maxParallel: Int
  private let nodeOf: [StepAddress: Int]
  private let variables: [StepAddress: [(name: String, value: String?)]]

  private enum Phase { case queued, started, ended }

  init(_ simulation: Simulation) {
    plan = simulation.plan
    maxParallel = simulation.maxParallel
    variables = simulation.variables
    var nodeOf: [StepAddress: Int] = [:]
    for step in plan.steps { nodeOf[step.address] = step.node }
    self.nodeOf = nodeOf
    for event in simulation.events { check(event) }
    require(isFinished, "the run did not finish")
    for group in startedGroups { require(groupEnds[group] != nil, "\(group) has no end") }
    for step in plan.steps { require(phases[step.address] == .ended, "\(step.address) has no end") }
    checkReport(simulation.report)
  }

  private mutating func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { violations.append(message()) }
  }

  private mutating func check(_ event: RunEvent) {
    let expected = lastSequence + 1
    require(event.sequence == expected, "a gap before \(event.sequence)")
    lastSequence = event.sequence
    require(!isFinished, "an event after the end: \(event.kind)")
    switch event.kind {
    case .runStarted: require(event.sequence == 1, "the run starts late")
    case .stepQueued(let step):
      require(phases.updateValue(.queued, forKey: step) == nil, "\(step) is queued again")
      requireDependencies(of: step)
    case .stepStarted(let step, _):
      require(phases.updateValue(.started, forKey: step) == .queued, "\(step) was not queued")
      requireDependencies(of: step)
      requireValues(of: step)
      require(cancelled == nil, "\(step) starts in a run that is being cancelled")
      running += 1
      let (count, limit) = (running, maxParallel)
      require(count <= limit, "\(count) run at once, of \(limit)")
    case .stepFinished(let step, let end):
      require(phases.updateValue(.ended, forKey: step) == .started, "\(step) did not run")
      ends[step] = end
      running -= 1
    case .stepSkipped(let step, let reason):
      let before = phases.updateValue(.ended, forKey: step)
      require(before != .started && before != .ended, "\(step) is skipped after its start")
      skips[step] = reason
      checkSkip(of: step, reason)
    case .groupStarted(let group, _):
      require(startedGroups.insert(group).inserted, "\(group) starts again")
    case .groupFinished(let group, let end):
      require(startedGroups.contains(group), "\(group) did not start")
      require(groupEnds.updateValue(end, forKey: group) == nil, "\(group) ends again")
    case .runCancelling(let reason):
      require(cancelled == nil, "the run is cancelled again")
      cancelled = reason
    case .runFinished: isFinished = true
    case .stepOutput, .stepRetrying, .groupRetrying, .runWarning, .outputDropped, .snapshot:
      violations.append("unexpected \(event.kind)")
    }
  }

  /// Everything that the step waits for has ended well.
  private mutating func requireDependencies(of step: StepAddress) {
    for node in plan.dependencies[nodeOf[step]!] {
      switch plan.nodes[Int(node)] {
      case .step(let index):
        let needed = plan.steps[Int(index)].address
        require(ends[needed]?.conclusion == .success, "\(step) runs, but \(needed) did not succeed")
      case .groupStart(let index):
        let group = plan.groups[Int(index)].address!
        require(startedGroups.contains(group), "\(step) runs, but \(group) has not started")
      case .groupEnd(let index):
        let group = plan.groups[Int(index)].address!
        require(
          groupEnds[group]?.conclusion == .success, "\(step) runs, but \(group) did not succeed")
      }
    }
  }

  /// What it reads has ended, and it was told how.
  private mutating func requireValues(of step: StepAddress) {
    for (name, value) in variables[step] ?? [] {
      readings += 1
      let read = StepAddress(name)
      let end =
        ends[read].map { "\($0.outcome) as \($0.conclusion)" }
        ?? groupEnds[read].map { "\($0.outcome) as \($0.conclusion)" }
      require(end != nil, "\(step) reads \(read), which has not ended")
      require(
        end == nil || value == end,
        "\(step) reads \(value ?? "nothing") of \(read), which ended in \(end ?? "")")
    }
  }

  private mutating func checkSkip(of step: StepAddress, _ reason: SkipReason) {
    switch reason {
    case .dependencyFailed(let culprit):
      require(hasFailed(culprit), "\(step) is skipped after \(culprit), which did not fail")
    case .heldBack(let culprit):
      require(hasFailed(culprit), "\(step) is held back by \(culprit), which did not fail")
      require(plan.workflow.onFailure != .continue, "\(step) is held back under continue")
    case .cancelled(.groupTimeout(let group, _)):
      require(isInside(step, group), "\(step) is cancelled by the limit of \(group)")
    case .condition, .notSelected:
      violations.append("\(step) is skipped, but there are no conditions")
    case .cancelled(let reason):
      require(reason == cancelled, "\(step): nobody cancelled for \(reason)")
    }
  }

  /// A step that failed (tolerated or not), or a group whose limit passed.
  private func hasFailed(_ address: StepAddress) -> Bool {
    if let end = ends[address] { return end.outcome == .failure }
    guard let group = plan.groups.first(where: { $0.address == address }) else { return false }
    return group.step?.timeout != nil
  }

  private func isInside(_ step: StepAddress, _ address: StepAddress) -> Bool {
    guard let index = plan.groups.firstIndex(where: { $0.address == address }),
      let planned = plan.steps.first(where: { $0.address == step })
    else { return false }
    return plan.enclosingGroups(ofGroup: planned.group).contains(index)
  }

  /// The report says of every step what its events said, and of the run what follows from the steps.
  private mutating func checkReport(_ report: RunReport) {
    for step in report.steps {
      switch step.state {
      case .finished(let end):
        require(ends[step.address] == end, "\(step.address) is reported otherwise")
      case .skipped(let reason):
        require(skips[step.address] == reason, "\(step.address) is reported otherwise")
      case .pending, .queued, .running, .retrying:
        violations.append("\(step.address) is reported unfinished")
      }
    }
    guard let end = report.end else { return violations.append("no end is reported") }
    let counts = end.counts
    let total =
      counts.succeeded + counts.failed + counts.tolerated + counts.cancelled + counts.skipped
    let stepCount = plan.steps.count
    require(total == stepCount, "\(total) of \(stepCount) steps are counted")
    if end.outcome == .success {
      require(counts.skipped == 0 || hasToleratedScope, "a success with skipped steps")
    }
    if counts.failed > 0, !hasToleratedScope {
      require(end.outcome != .success, "a success with failed steps")
    }
  }

  /// Inside a group that tolerates failures, steps may fail and hold others back in a run that succeeds.
  private var hasToleratedScope: Bool {
    plan.groups.contains { $0.step.map { $0.allowFailure != .none } ?? false }
  }
}
