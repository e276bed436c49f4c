import WeftDefinition
import WeftExecution
import WeftPlanning
import WeftRecord

@testable import WeftEvents
@testable import WeftReporting

/// Compares the views of a run that has ended: the counts of its end, its report, the counts of a display, the steps by
/// its journal, and the report rebuilt from the journal.
struct ViewChecker {
  private(set) var violations: [String] = []
  private let plan: Plan
  private let addresses: PlanAddresses

  /// - Parameters:
  ///   - simulation: The part that has ended.
  ///   - recorded: The journal of all parts, including the ended one.
  ///   - again: The report rebuilt from that.
  ///   - accepted: The steps in doubt that count as done.
  init(
    _ simulation: Simulation, _ recorded: RunState, _ again: RunReport?,
    accepted: Set<StepAddress> = []
  ) {
    plan = simulation.plan
    addresses = PlanAddresses(plan)
    compareGroups(of: simulation, with: recorded)
    findDoubts(in: simulation, except: accepted)
    let report = simulation.report
    if let pause = report.pause { compareSuccesses(pause, with: recorded) }
    guard let end = report.end else { return }
    compare(end.counts, with: simulation)
    let reported = Dictionary(
      report.steps.map { ($0.address, Kind($0.state)) }, uniquingKeysWith: { $1 })
    var counted: [Kind: Int] = [:]
    for kind in reported.values { counted[kind, default: 0] += 1 }
    for group in report.groups {
      guard case .finished(let end) = group.state, let left = end.notStarted else { continue }
      counted[left.outcome == .cancelled ? .cancelled : .skipped, default: 0] += left.steps
    }
    let ended: [Kind: Int] = [
      .succeeded: end.counts.succeeded, .failed: end.counts.failed + end.counts.tolerated,
      .cancelled: end.counts.cancelled, .skipped: end.counts.skipped,
    ].filter { $0.value > 0 }
    if ended != counted {
      violations.append("counts are \(text(ended)), and in the report \(text(counted))")
    }
    compare(
      "the record",
      Dictionary(
        uniqueKeysWithValues: recorded.steps.compactMap { address, step in
          step.isOutdated ? nil : Kind(recorded: step.shown).map { (address, $0) }
        }), reported)
    compareCounts(of: recorded)
    if let again {
      compare(
        "the report made again",
        Dictionary(
          again.steps.map { ($0.address, Kind($0.state)) }, uniquingKeysWith: { $1 }), reported)
    }
  }

  private mutating func compare(_ counts: OutcomeCounts, with simulation: Simulation) {
    var progress = RunProgress(shape: RunShape(simulation.plan))
    for event in simulation.events { progress.apply(event, log: { _, _ in [] }) }
    var (ended, shown) = (counts, progress.counts)
    shown.skipped += progress.tally.unselected
    (shown.restored, shown.cached) = (ended.restored, ended.cached)
    // Whether something around a failure tolerated it is not always known from events alone.
    ended.tolerate(ended.failed)
    shown.tolerate(shown.failed)
    if shown != ended { violations.append("counts are \(ended), and in the display \(shown)") }
  }

  /// Compares the number of successes of a suspended run with the record, in which those to be rerun do not count, nor
  /// those before the latest attempt of a group around them. A service counts if nothing needs it any more.
  private mutating func compareSuccesses(_ pause: RunPause, with recorded: RunState) {
    let known = recorded.steps.count { address, step in
      let since = [address, addresses.planned(address)].compactMap { recorded.rerunSince[$0] }
      guard case .finished(let end, _) = step.state, end.outcome == .success else { return false }
      let retries = addresses.groups(around: address, in: plan).compactMap {
        recorded.groups[$0]?.startedBy
      }
      return !step.isServing && !step.isOutdated && step.number > (since + retries).max() ?? 0
    }
    let serving = recorded.steps.count { $0.step.isServing && !$0.step.isOutdated }
    if !(known...known + serving).contains(pause.counts.succeeded) {
      violations.append(
        "\(pause.counts.succeeded) steps have succeeded when it is suspended, and \(known) in the record"
      )
    }
  }

  /// Checks that no step of a run that has ended is said to be still to come, except in elements that never began.
  private mutating func compareCounts(of recorded: RunState) {
    guard recorded.loops.allSatisfy({ $0.notStarted == 0 }) else { return }
    // What failed at its start, and was not tolerated, is still to run as a whole.
    let isToRun = recorded.groups.values.contains { known in
      known.end?.failsAtStart == true && known.end?.conclusion == .failure
    }
    if isToRun { return }
    let (count, known) = (recorded.stepCount(plan) ?? 0, recorded.steps.count)
    if count != known { violations.append("\(known) steps are recorded, out of \(count)") }
  }

  /// Checks groups around steps: a restored group starts no step, and one that this engine has not started, because it
  /// skips what is inside, is no recorded success. Cleanups follow rules of their own.
  private mutating func compareGroups(of simulation: Simulation, with recorded: RunState) {
    var started: [StepAddress: GroupStart] = [:]
    // Reported as failed, and not run.
    var inDoubt: Set<StepAddress> = []
    for event in simulation.events {
      switch event.kind {
      case .groupStarted(let group, let start): started[group] = start
      case .stepFinished(let step, let end) where end.failure?.classes.contains(.inDoubt) == true:
        inDoubt.insert(step)
      default: break
      }
    }
    for event in simulation.events {
      switch event.kind {
      case .stepStarted(let step, _, _)
      where !inDoubt.contains(step) && !isFinal(step) && !isService(step):
        for group in addresses.groups(around: step, in: plan)
        where started[group]?.isRestored == true {
          violations.append("\(group) is restored, and \(step) in it starts")
        }
      case .stepSkipped(let step, _) where !isFinal(step):
        // What is in a group that does not start keeps its state, and so does what an earlier attempt left.
        let around = addresses.groups(around: step, in: plan)
        guard
          let index = around.firstIndex(where: {
            recorded.groups[$0] != nil && started[$0] == nil
          }), let known = recorded.groups[around[index]], case .finished(let end) = known.state,
          end.conclusion == .success,
          around[..<index].allSatisfy({ recorded.groups[$0]?.startedBy ?? 0 < known.number })
        else { continue }
        violations.append("\(around[index]) is recorded as a success, and \(step) in it is skipped")
      default: break
      }
    }
  }

  /// Checks that a run with a step in doubt that does not count as done does not succeed, unless a race or join around the
  /// step is decided.
  private mutating func findDoubts(
    in simulation: Simulation, except accepted: Set<StepAddress>
  ) {
    let report = simulation.report
    guard report.end?.outcome == .success else { return }
    for step in report.steps {
      guard case .finished(let end) = step.state,
        end.failure?.classes.contains(.inDoubt) == true, !accepted.contains(step.address),
        let group = addresses.innermostGroup(at: step.address),
        !plan.allEnclosingGroups(ofGroup: group).contains(where: { plan.groups[$0].endsEarly })
      else { continue }
      violations.append("\(step.address) is in doubt, and the run succeeds")
    }
  }

  /// Whether a step is a cleanup, or in `finally`.
  private func isFinal(_ step: StepAddress) -> Bool {
    guard let index = addresses.step(at: step) else { return false }
    return plan.bodies.cleanupSteps.contains(index)
      || plan.allEnclosingGroups(ofGroup: plan.steps[index].group).contains(
        where: plan.bodies.finallyGroups.contains)
  }

  /// Whether a step is a service, which runs again in a restored group if a cleanup there is pending.
  private func isService(_ step: StepAddress) -> Bool {
    addresses.step(at: step).map { plan.steps[$0].isService } ?? false
  }

  private func text(_ counts: [Kind: Int]) -> String {
    counts.map { "\($0.value) \($0.key.rawValue)" }.sorted().joined(separator: ", ")
  }

  private mutating func compare(
    _ name: String, _ known: [StepAddress: Kind], _ reported: [StepAddress: Kind]
  ) {
    for (address, kind) in known where reported[address] != kind {
      violations.append(
        "\(address) is \(kind) in \(name), and \(reported[address].map { "\($0)" } ?? "nothing") in the report"
      )
    }
    for (address, kind) in reported where known[address] == nil {
      violations.append("\(address) is \(kind) in the report, and nothing in \(name)")
    }
  }

  private enum Kind: String {
    case succeeded, failed, cancelled, skipped, open

    init(_ state: StepState) {
      self =
        switch state {
        case .finished(let end), .restored(let end), .cached(let end): Kind(end.outcome)
        case .skipped(let reason): Kind(reason.outcome)
        case .pending, .queued, .running, .asking, .waiting, .retrying: .open
        }
    }

    init?(recorded step: RecordedStep) {
      switch step.state {
      case .finished(let end, _): self.init(end.outcome)
      case .skipped(let reason): self.init(reason.outcome)
      case .queued, .started, .retrying: self = .open
      }
    }

    private init(_ outcome: Outcome) {
      self =
        switch outcome {
        case .success: .succeeded
        case .failure: .failed
        case .cancelled: .cancelled
        case .skipped: .skipped
        }
    }
  }
}

extension PlanAddresses {
  /// The instances of the groups around a step, the outermost first.
  func groups(around step: StepAddress, in plan: Plan) -> [StepAddress] {
    guard let inner = innermostGroup(at: step) else { return [] }
    return plan.allEnclosingGroups(ofGroup: inner).reversed().flatMap { group in
      guard !plan.groups[group].isTopLevel, let planned = plan.groups[group].address else {
        return [] as [StepAddress]
      }
      return instances(of: planned, around: step).reversed()
    }
  }
}
