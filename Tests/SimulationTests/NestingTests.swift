import Testing
import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// A file means the same wherever it runs: what a seed describes behaves alike as a run of its own and as a nested
/// workflow.
@Suite struct NestingTests {
  @Test("G14: a workflow goes on in another as it does by itself")
  func aWorkflowGoesOnInAnotherAsByItself() throws {
    var compared = 0
    // The consequences of one event happen in one moment, and their order is not guaranteed: it depends on how deeply
    // futures are nested, which is deeper in a nested workflow.
    var decidedInOneMoment: [UInt64] = []
    for seed in SimulationTests.seeds {
      var made = RandomWorkflow.make(seed: seed, .all)
      // The end of the run ends everything; the end of a nested file ends only that file. What else may start then
      // differs.
      made.workflow.timeout = nil
      if made.workflow.onFailure == .cancel { made.workflow.onFailure = .stop }
      guard let alone = Simulation(seed: seed, made) else { continue }
      made.workflow = Workflow(steps: [Step("c", workflow: made.workflow)])
      let nested = try #require(Simulation(seed: seed, made, prefix: "c/"), "seed \(seed)")
      if SimulationTests.seeds.count == 1 {
        made.report([RunPart(events: alone.events), RunPart(events: nested.events)])
      }
      #expect(nested.remains == alone.remains, "seed \(seed)")
      let difference = NestingTests.difference(alone.attempts, nested.attempts)
      let counts = (alone.report.end?.counts, nested.report.end?.counts)
      if difference != nil || counts.0 != counts.1 {
        print("seed \(seed): \(difference?.text ?? "\(counts)")")
        decidedInOneMoment.append(seed)
        #expect(difference?.isOfOneMoment ?? true, "seed \(seed)")
      }
      compared += alone.attempts.count
    }
    print("\(compared) attempts are the same in another file")
    #expect(decidedInOneMoment.count <= SimulationTests.seeds.count / 10_000)
  }

  private struct Difference {
    let text: String
    /// Whether both runs are the same before the moment of the first difference.
    let isOfOneMoment: Bool
  }

  private static func difference(
    _ alone: [ScriptedWorld.Record], _ nested: [ScriptedWorld.Record]
  ) -> Difference? {
    let (one, other) = (alone.map { reported($0) }, nested.map { reported($0, without: "c/") })
    guard one != other else { return nil }
    guard let first = zip(one, other).enumerated().first(where: { $1.0 != $1.1 }) else {
      return Difference(
        text: "\(one.count) alone, \(other.count) nested", isOfOneMoment: false)
    }
    return Difference(
      text: "\(first.element.0) alone, \(first.element.1) nested",
      isOfOneMoment: alone[first.offset].startedAt == nested[first.offset].startedAt)
  }

  private static func reported(_ record: ScriptedWorld.Record, without prefix: String = "")
    -> String
  {
    let status = record.status.map { "\($0)" } ?? "goes on"
    return "\(record.address.text.dropFirst(prefix.count)) \(record.number) from"
      + " \(record.startedAt) to \(record.endedAt ?? .zero): \(status)"
  }
}
