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

  /// - Parameter isIdempotent: Whether interrupted steps are started again.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all, isIdempotent: Bool
  ) {
    var made = RandomWorkflow.make(seed: seed, vocabulary)
    if isIdempotent { made.workflow = made.workflow.withIdempotentSteps }
    guard let undisturbed = Simulation(seed: seed, made) else { return nil }
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
      recorded.append(events)
      parts.append(RunPart(events: events))
      guard let next = Simulation(seed: seed, made, in: .init(recorded: recorded.run)) else {
        return nil
      }
      simulation = next
    }
    parts.append(
      RunPart(events: simulation.events, leaks: simulation.leaks, end: simulation.report.end))
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
      print(index == 0 ? "begins" : "goes on", rerun.isEmpty ? "" : "rerunning \(rerun)")
      for event in part.events { print(event.elapsed, String("\(event.kind)".prefix(90))) }
    }
  }
}
