import WeftDefinition
import WeftDiagnostics
import WeftDrawing
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftRecord
import WeftReporting

/// The graph of a run: its plan with what became of each step.
extension ReportedRun {
  func outcomes(of plan: Plan) -> DrawnRun {
    let addresses = PlanAddresses(plan)
    let mask = mask
    var drawn = DrawnRun(summary: [verdictText]) { mask.masked($0) }
    var tallies: [StepAddress: Tally] = [:]
    for (address, step) in detail.steps {
      tallies[addresses.planned(address), default: Tally()]
        .add(verdict(of: step, at: address), duration(of: step) ?? 0)
    }
    for (address, tally) in tallies { drawn.steps[address] = tally.outcome }
    for (address, group) in recorded.groups {
      guard case .finished(let end) = group.state, end.outcome == .failure else { continue }
      let isTolerated = verdict(of: end, at: address) == .tolerated
      drawn.groups[addresses.planned(address)] =
        isTolerated
        ? DrawnRun.Outcome(.tolerated, .tolerated, "failed, tolerated")
        : DrawnRun.Outcome(.failed, .failed, "failed")
    }
    for step in chain {
      guard let index = addresses.step(at: timeline.steps[step].address),
        drawn.criticalPath.last != index
      else { continue }
      drawn.criticalPath.append(index)
    }
    if !drawn.criticalPath.isEmpty {
      drawn.summary.append("the thick lines are the critical path of the run")
    }
    return drawn
  }
}

/// The outcomes of all instances of one step.
private struct Tally {
  private var counts: [Verdict: Int] = [:]
  private var longest = 0

  mutating func add(_ verdict: Verdict, _ duration: Int) {
    counts[verdict, default: 0] += 1
    longest = max(longest, duration)
  }

  /// The worst first.
  private static let order: [Verdict] = [
    .failed, .interrupted, .tolerated, .cancelled, .waiting, .running, .notStarted, .succeeded,
    .cached, .skipped,
  ]

  var outcome: DrawnRun.Outcome {
    let found = Tally.order.filter { counts[$0] != nil }
    let worst = found.first ?? .notStarted
    let total = counts.values.reduce(0, +)
    guard total > 1 else {
      let time = longest > 0 ? " \(ShownDuration.precise(.microseconds(longest)))" : ""
      return DrawnRun.Outcome(worst.trait, worst.sign, worst.rawValue + time)
    }
    let text = found.map { "\(counts[$0]!) \($0.rawValue)" }.joined(separator: ", ")
    return DrawnRun.Outcome(worst.trait, worst.sign, text)
  }
}

extension Verdict {
  fileprivate var trait: Picture.Traits {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .tolerated: .tolerated
    case .cancelled: .cancelled
    case .interrupted: .interrupted
    case .skipped: .skipped
    case .cached: .cached
    case .running, .waiting, .notStarted: []
    }
  }

  fileprivate var sign: Picture.Sign {
    switch self {
    case .succeeded: .succeeded
    case .failed: .failed
    case .tolerated: .tolerated
    case .cancelled: .cancelled
    case .interrupted: .interrupted
    case .skipped, .notStarted: .skipped
    case .cached: .cached
    case .running, .waiting: .duration
    }
  }
}
