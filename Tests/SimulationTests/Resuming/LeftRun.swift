import WeftDefinition
import WeftExecution
import WeftPlanning
import WeftTestKit

/// A run at which nobody is there to ask: it is left whenever it waits for answers alone, and gone on with when
/// there are some.
struct LeftRun {
  let made: RandomWorkflow
  private(set) var parts: [RunPart] = []
  /// How often it was left.
  private(set) var departures = 0
  /// Whether it asked so often that somebody ended it.
  var wasEnded: Bool { departures > LeftRun.patience }

  /// A group that fails and is tried again asks again, for ever if it always fails: each engine counts its own
  /// attempts. Somebody ends such a run.
  private static let patience = 40

  /// - Parameter approvesAll: Whether nobody ever says no.
  init?(seed: UInt64, approvesAll: Bool) {
    var made = RandomWorkflow.make(seed: seed, .all)
    made.workflow = made.workflow.withIdempotentSteps
    self.made = made
    var random = SeededGenerator(seed: seed ^ 0xA5C)
    var past = PastOfRun()
    guard var simulation = Simulation(seed: seed, made, in: .init(requests: [])) else { return nil }
    while let pause = simulation.report.pause, departures <= LeftRun.patience {
      departures += 1
      past.append(simulation.events)
      parts.append(RunPart(events: simulation.events, remains: simulation.remains))
      // Not everybody answers at once.
      let answered = pause.requests.prefix(Int.random(in: 1...pause.requests.count, using: &random))
      var requests: [ControlRequest] = answered.map { request in
        let approves = approvesAll || Int.random(in: 0..<10, using: &random) < 7
        return approves ? .approve(request.step) : .reject(request.step)
      }
      if departures > LeftRun.patience { requests = [.cancel] }
      guard
        let next = Simulation(
          seed: seed, made, in: .init(past: past.run, requests: requests))
      else {
        return nil
      }
      simulation = next
    }
    parts.append(
      RunPart(events: simulation.events, remains: simulation.remains, end: simulation.report.end))
  }
}

extension LeftRun {
  /// For a person who looks for what went wrong.
  func tell() { made.tell(parts) }
}
