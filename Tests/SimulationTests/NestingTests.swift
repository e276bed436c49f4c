import Testing
import WeftDefinition
import WeftExecution
import WeftPlanning

/// A file means the same wherever it is run: what a seed describes goes on alike by itself and as what a step
/// runs.
@Suite struct NestingTests {
  @Test("G14: a workflow goes on in another as it does by itself")
  func aWorkflowGoesOnInAnotherAsByItself() throws {
    var compared = 0
    for seed in SimulationTests.seeds {
      var made = RandomWorkflow.make(seed: seed, .all)
      // The end of the run ends all of it, the end of a file that only: what else may start then differs.
      made.workflow.timeout = nil
      if made.workflow.onFailure == .cancel { made.workflow.onFailure = .stop }
      guard let alone = Simulation(seed: seed, made) else { continue }
      made.workflow = Workflow(steps: [Step("c", workflow: made.workflow)])
      let nested = try #require(Simulation(seed: seed, made, prefix: "c/"), "seed \(seed)")
      #expect(nested.remains == alone.remains, "seed \(seed)")
      let difference = NestingTests.difference(alone.attempts, nested.attempts)
      #expect(difference == nil, "seed \(seed): \(difference ?? "")")
      let counts = (alone.report.end?.counts, nested.report.end?.counts)
      #expect(counts.0 == counts.1, "seed \(seed)")
      compared += alone.attempts.count
    }
    print("\(compared) attempts are the same in another file")
  }

  private static func difference(
    _ alone: [ScriptedWorld.Record], _ nested: [ScriptedWorld.Record]
  ) -> String? {
    let (one, other) = (alone.map { told($0) }, nested.map { told($0, without: "c/") })
    guard one != other else { return nil }
    let first = zip(one, other).first { $0 != $1 }
    return first.map { "\($0) alone, \($1) nested" } ?? "\(one.count) alone, \(other.count) nested"
  }

  private static func told(_ record: ScriptedWorld.Record, without prefix: String = "") -> String {
    let status = record.status.map { "\($0)" } ?? "goes on"
    return "\(record.address.text.dropFirst(prefix.count)) \(record.number) from"
      + " \(record.startedAt) to \(record.endedAt ?? .zero): \(status)"
  }
}
