import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftTestKit

/// A run that is killed repeatedly, and resumed each time, until it ends.
struct InterruptedRun {
  let made: RandomWorkflow
  /// The run without kills.
  let undisturbed: Simulation
  private(set) var parts: [RunPart] = []
  /// The differences between the forecasts of resumptions and their events.
  private(set) var wrongForecasts: [String] = []

  /// - Parameter isIdempotent: Whether interrupted steps are started again.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all, isIdempotent: Bool
  ) {
    var made = RandomWorkflow.make(seed: seed, vocabulary)
    if isIdempotent { made.workflow = made.workflow.withIdempotentSteps }
    guard let undisturbed = Simulation(seed: seed, made, in: .init(isRecorded: true)) else {
      return nil
    }
    (self.made, self.undisturbed) = (made, undisturbed)
    var random = SeededGenerator(seed: seed ^ 0xDEAD)
    var recorded = RunHistory()
    var simulation = undisturbed
    for kill in 0...Int.random(in: 1...3, using: &random) {
      let isLast = kill > 0 && Int.random(in: 0..<2, using: &random) == 0
      let count =
        isLast
        ? simulation.events.count : Int.random(in: 1...simulation.events.count, using: &random)
      let events = Array(simulation.events.prefix(count))
      recorded.append(simulation, until: count)
      parts.append(RunPart(events: events))
      let circumstances = Simulation.Circumstances(isRecorded: true, recorded: recorded.run)
      guard let next = Simulation(seed: seed, made, in: circumstances) else { return nil }
      wrongForecasts += ResumeForecast.faults(of: next.plan, recorded.run, next.events)
      simulation = next
    }
    parts.append(
      RunPart(events: simulation.events, leaks: simulation.leaks, end: simulation.report.end))
  }
}

extension ResumeForecast {
  /// Compares the forecast with the first event of each step in the resumed part.
  fileprivate static func faults(
    of plan: Plan, _ recorded: RunState, _ events: [RunEvent]
  ) -> [String] {
    let addresses = PlanAddresses(plan)
    var (forecast, seen) = (ResumeForecast(plan, recorded), Set<StepAddress>())
    // The next attempt of a group voids what is recorded in it.
    let events = events.prefix { if case .groupRetrying = $0.kind { false } else { true } }
    let inDoubt = Set(events.compactMap(\.failureInDoubt))
    let skipped = Set(events.compactMap(\.skipped))
    return events.compactMap { event in
      let (address, starts): (StepAddress, Bool)
      switch event.kind {
      case .stepStarted(let step, _, _): (address, starts) = (step, true)
      case .stepRestored(let step, _): (address, starts) = (step, false)
      default: return nil
      }
      guard seen.insert(address).inserted, let known = recorded.steps[address],
        !recorded.isInDoubt(address), !inDoubt.contains(address),
        let index = addresses.step(at: address),
        !plan.bodies.cleanupSteps.contains(index),
        // The latest record of what is in a group that never started counts, and is reported as restored at the end.
        skipped.isDisjoint(with: addresses.groups(around: address, in: plan)),
        !skipped.contains(where: address.isInElement)
      else { return nil }
      // A condition may be true now.
      if case .skipped(.condition) = known.state { return nil }
      return forecast.startsAgain(address, known) == starts
        ? nil : "\(address) \(starts ? "starts again" : "is restored"), against the forecast"
    }
  }
}

extension RunEvent {
  fileprivate var skipped: StepAddress? {
    if case .stepSkipped(let step, _) = kind { step } else { nil }
  }

  /// The step that fails instead of starting, because it is in doubt.
  fileprivate var failureInDoubt: StepAddress? {
    guard case .stepFinished(let step, let end) = kind,
      end.failure?.classes.contains(.inDoubt) == true
    else { return nil }
    return step
  }
}

extension InterruptedRun {
  /// Prints the run for debugging.
  func report() { made.report(parts) }
}

extension RandomWorkflow {
  func report(_ parts: [RunPart]) {
    print(outline)
    for (index, part) in parts.enumerated() {
      let rerun = part.rerunSteps.sorted() + part.rerunAddresses.map(\.text).sorted()
      print(
        index == 0 ? "begins" : "goes on", rerun.isEmpty ? "" : "rerunning \(rerun)",
        part.answers.isEmpty ? "" : "with \(part.answers)")
      for event in part.events { print(event.elapsed, String("\(event.kind)".prefix(90))) }
    }
  }
}
