import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftTestKit

/// A run without an approver: it is suspended whenever it only waits for answers, and resumed when there are some.
struct LeftRun {
  let made: RandomWorkflow
  private(set) var parts: [RunPart] = []
  /// The number of suspensions.
  private(set) var departures = 0
  /// Whether it asked so often that the test ended it.
  var wasEnded: Bool { departures > LeftRun.patience }

  /// The limit of suspensions. A group that fails and is retried asks again, for ever if it always fails, since each
  /// engine counts its own attempts. The test ends such a run.
  private static let patience = 40

  /// - Parameter approvesAll: Whether every answer is yes.
  init?(
    seed: UInt64, _ vocabulary: RandomWorkflow.Vocabulary = .all, approvesAll: Bool
  ) {
    var made = RandomWorkflow.make(seed: seed, vocabulary)
    made.workflow = made.workflow.withIdempotentSteps
    self.made = made
    var random = SeededGenerator(seed: seed ^ 0xA5C)
    var recorded = RunHistory()
    guard var simulation = Simulation(seed: seed, made, in: .init(requests: [])) else { return nil }
    while let pause = simulation.report.pause, departures <= LeftRun.patience {
      departures += 1
      recorded.append(simulation.events)
      parts.append(RunPart(events: simulation.events, leaks: simulation.leaks))
      // Not all answers arrive at once.
      let answered = pause.requests.prefix(Int.random(in: 1...pause.requests.count, using: &random))
      var requests: [ControlRequest] = answered.map { request in
        let approves = approvesAll || Int.random(in: 0..<10, using: &random) < 7
        return approves ? .approve(request.step) : .reject(request.step)
      }
      if departures > LeftRun.patience { requests = [.cancel] }
      guard
        let next = Simulation(
          seed: seed, made, in: .init(recorded: recorded.run, requests: requests))
      else {
        return nil
      }
      simulation = next
    }
    parts.append(
      RunPart(events: simulation.events, leaks: simulation.leaks, end: simulation.report.end))
  }
}

extension LeftRun {
  /// Prints the run for debugging.
  func report() { made.report(parts) }
}
