import Testing
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftRecord

@testable import Weft

/// A workflow and runs of it, made up record by record, from which a run is predicted.
struct Predicted {
  let plan: Plan
  var samples: [RunSample] = []
  var speeds: [String: Double] = [:]
  var configuration = EngineConfiguration()

  /// - Parameter json: The workflow file.
  init(_ json: String) throws {
    plan = try Engine().plan(try Workflow(json: json, path: "w.json"))
  }

  /// Adds a run, newer than those before.
  mutating func addRun(_ kinds: [RunRecord.Kind]) {
    var sample = RunSample(RunID("20260101-00000\(samples.count)-000000"))
    for (index, kind) in kinds.enumerated() {
      sample.apply(RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 0), kind))
    }
    samples.insert(sample, at: 0)
  }

  /// Adds a run whose steps succeeded after these milliseconds.
  mutating func addRun(_ milliseconds: KeyValuePairs<String, Int>) {
    addRun(milliseconds.flatMap { Predicted.ended($0.key, after: $0.value) })
  }

  /// The records of a step that succeeded.
  static func ended(
    _ step: String, after milliseconds: Int, outputs: [ReportedOutput] = [],
    stdout: RecordedText? = nil
  ) -> [RunRecord.Kind] {
    var end = StepEnd(
      outcome: .success, conclusion: .success, attempts: 1, exit: .code(0),
      duration: .milliseconds(milliseconds))
    end.outputs = outputs
    return [
      .event(.stepStarted(StepAddress(step), attempt: 1)),
      .event(.stepFinished(StepAddress(step), end), keeping: RecordedValues(stdout: stdout)),
    ]
  }

  /// The records of a step that ended otherwise.
  static func ended(
    _ step: String, after milliseconds: Int, _ outcome: Outcome, as conclusion: Outcome,
    _ failure: StepFailure? = nil, for reason: CancelReason? = nil
  ) -> [RunRecord.Kind] {
    let end = StepEnd(
      outcome: outcome, conclusion: conclusion, attempts: 1, exit: nil, failure: failure,
      cancellation: reason, duration: .milliseconds(milliseconds))
    return [
      .event(.stepStarted(StepAddress(step), attempt: 1)),
      .event(.stepFinished(StepAddress(step), end)),
    ]
  }

  func estimate(_ parallel: Int...) throws -> Estimate {
    var factors = [Double](repeating: 1, count: plan.steps.count)
    for (index, step) in plan.steps.enumerated() { factors[index] = speeds[step.address.text] ?? 1 }
    let addresses = PlanAddresses(plan)
    let samples = samples.map { $0.settled(in: plan) }
    let estimator = Estimator(
      plan: plan, addresses: addresses, samples: samples,
      durations: StepDurations(plan, addresses, samples, DurationHistory()),
      configuration: configuration, speeds: factors)
    let wanted = parallel.isEmpty ? [nil] : parallel.map(Optional.some)
    return try estimator.estimate(wanted, Estimate.Basis()) { _ in nil }
  }

  /// The predicted milliseconds.
  func milliseconds(_ parallel: Int = 8) throws -> Double {
    try estimate(parallel).duration / .milliseconds(1)
  }
}
