import WeftExecution
import WeftPlanning

@testable import WeftEvents
@testable import WeftReporting

/// Compares the views of a run that has ended: the counts of its end, its report, the counts of a display, the steps by
/// its journal, and the report rebuilt from the journal.
struct ViewChecker {
  private(set) var violations: [String] = []

  /// - Parameters:
  ///   - simulation: The part that has ended.
  ///   - recorded: The journal of all parts, including the ended one.
  ///   - again: The report rebuilt from that.
  ///   - rerun: The steps that were named for a rerun.
  init(
    _ simulation: Simulation, _ recorded: RunState, _ again: RunReport?, rerunning rerun: Set<Int>
  ) {
    compareGroups(of: simulation, with: recorded)
    findRestored(rerun, in: simulation)
    let report = simulation.report
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
      recorded.steps.filter { !$0.value.isOutdated && !recorded.isInDoubt($0.key) }
        .compactMapValues(Kind.init(recorded:)), reported.filter { !recorded.isInDoubt($0.key) })
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

  /// A group that this engine has not started, because it skips what is inside, is no recorded success.
  private mutating func compareGroups(of simulation: Simulation, with recorded: RunState) {
    let plan = simulation.plan
    let addresses = PlanAddresses(plan)
    var (started, skipped): (Set<StepAddress>, Set<StepAddress>) = ([], [])
    for event in simulation.events {
      switch event.kind {
      case .groupStarted(let group, _): started.insert(group)
      case .stepSkipped(let step, _): skipped.insert(step)
      default: break
      }
    }
    for step in skipped {
      guard let inner = addresses.innermostGroup(at: step) else { continue }
      for group in plan.allEnclosingGroups(ofGroup: inner) where !plan.groups[group].isTopLevel {
        guard let planned = plan.groups[group].address else { continue }
        for group in addresses.instances(of: planned, around: step) where !started.contains(group) {
          guard case .finished(let end)? = recorded.groups[group]?.state, end.conclusion == .success
          else { continue }
          violations.append("\(group) is recorded as a success, and \(step) in it is skipped")
        }
      }
    }
  }

  /// A step that is named for a rerun is not restored. Cleanups and `finally` follow rules of their own.
  private mutating func findRestored(_ rerun: Set<Int>, in simulation: Simulation) {
    let plan = simulation.plan
    let addresses = PlanAddresses(plan)
    for case .stepRestored(let address, _) in simulation.events.map(\.kind) {
      guard let step = addresses.step(at: address), rerun.contains(step),
        !plan.bodies.cleanupSteps.contains(step),
        !plan.allEnclosingGroups(ofGroup: plan.steps[step].group).contains(
          where: plan.bodies.finallyGroups.contains)
      else { continue }
      violations.append("\(address) is to be rerun, and is restored")
    }
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
