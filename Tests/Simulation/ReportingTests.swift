import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftRecord
import WeftReports
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// Reports of the runs that seeds describe: their times keep to the sizes of the run, and their causes to the plan.
@Suite struct ReportingTests {
  @Test func noMoreSlotsAreUsedThanThereAre() async {
    _ = await Seeds.map { seed -> Void? in
      let made = RandomWorkflow.make(seed: seed, .all)
      guard let simulation = Simulation(seed: seed, made, in: .init(isRecorded: true)) else {
        return nil
      }
      let timeline = RunTimeline(simulation)
      #expect(timeline.laneCount <= simulation.maxParallel, "seed \(seed)")
      for series in [timeline.slots] + timeline.pools {
        let most = series.points.map(\.used).max() ?? 0
        #expect(most <= series.capacity ?? 0, "\(series.name), seed \(seed)")
      }
    }
  }
}

extension Simulation {
  /// The records of its journal.
  fileprivate var journal: [RunRecord] {
    let opening = RecordOpening(
      run: RunID("simulated"), resumption: 0, workflow: nil, file: nil, hash: nil, nested: [],
      inputs: [])
    let all =
      [(RunRecord.Kind.opened(opening), Duration.zero)] + records.map { ($0.kind, $0.elapsed) }
    return all.enumerated().map { number, record in
      RunRecord(
        number: UInt64(number + 1), at: WallTime(nanoseconds: 0).advanced(by: record.1), record.0)
    }
  }
}

extension RunTimeline {
  fileprivate init(_ simulation: Simulation) {
    var builder = TimelineBuilder()
    for record in simulation.journal { builder.apply(record) }
    let pools = simulation.plan.pools.map { ($0.name, $0.slots) }
    self.init(builder, capacities: Dictionary(pools, uniquingKeysWith: { $1 }))
  }
}
