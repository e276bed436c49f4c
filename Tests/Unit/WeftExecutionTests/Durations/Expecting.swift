import Testing
import WeftDefinition
import WeftPlanning

extension Plan {
  /// The plan of a workflow whose steps took this many seconds in an earlier run.
  static func expecting(
    _ workflow: Workflow, seconds: KeyValuePairs<String, Int>, times: [String: Int] = [:],
    excluding excluded: [Int] = []
  ) throws -> Plan {
    let (plan, diagnostics) = Planner.plan(workflow)
    let entries = try seconds.map { address, seconds in
      DurationHistory.Entry(
        address,
        try #require(MeasuredStep(recent: [seconds * 1_000_000], times: times[address] ?? 1)))
    }
    return try #require(plan, "\(diagnostics)").excluding(excluded).expecting(
      DurationHistory(entries))
  }
}

extension Step {
  init(_ id: StepID) { self.init(id, run: "true") }
}
