import Synchronization
import Testing
import WeftDefinition
import WeftDiagnostics
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// The plan of a workflow file as a test writes it, with its inputs bound.
func boundPlan(
  _ json: String, inputs: KeyValuePairs<String, JSONValue> = [:], run: RunID? = RunID("run-1")
) throws -> (plan: Plan, inputs: InputValues, problems: [Diagnostic]) {
  let workflow = try WorkflowFiles(["workflow.json": json]).workflow("workflow.json")
  return try boundPlan(workflow, inputs: inputs, run: run)
}

func boundPlan(
  _ workflow: Workflow, inputs: KeyValuePairs<String, JSONValue> = [:],
  run: RunID? = RunID("run-1")
) throws -> (plan: Plan, inputs: InputValues, problems: [Diagnostic]) {
  let (plan, diagnostics) = Planner.plan(workflow)
  let sound = try #require(plan, "\(diagnostics.map(\.message))")
  let given = inputs.map { GivenInput($0.key, .value($0.value), .program) }
  let values = try InputBinding.bind(
    sound.workflow.inputs, given, inputSource: .program, allowsMissing: run == nil)
  let (bound, problems) = sound.bound(to: values, run: run)
  return (bound, values, problems)
}

/// A run, from the file's text to the end, whose steps start nothing: each writes what the test says.
struct ValueRun {
  /// The simulated behaviour of a step's program.
  struct Act: Sendable {
    var stdout: [[UInt8]] = []
    var stderr: [[UInt8]] = []
    /// The text written to `$WEFT_OUTPUT`.
    var writesOutputs: String?
    var status = AttemptEnd.Status.ended(.code(0))

    static func exit(_ code: Int) -> Act { Act(status: .ended(.code(code))) }
    static func writes(_ text: String) -> Act { Act(stdout: [Array(text.utf8)]) }
    static func writesOutputs(_ text: String) -> Act { Act(writesOutputs: text) }
  }

  let report: RunReport
  /// The resolved steps that were started.
  let started: [String: ResolvedStep]
  let groups: [String: GroupEnd]
  /// The addresses of all steps and elements that were started, in order.
  let addresses: [String]
  let run: RunEngine

  init(
    _ json: String, inputs: KeyValuePairs<String, JSONValue> = [:],
    secrets: [SecretName: Secret] = [:], acts: [String: Act] = [:]
  ) throws {
    let workflow = try WorkflowFiles(["workflow.json": json]).workflow("workflow.json")
    try self.init(workflow, inputs: inputs, secrets: RunSecrets(secrets), acts: acts)
  }

  init(
    _ workflow: Workflow, inputs: KeyValuePairs<String, JSONValue> = [:],
    secrets: RunSecrets = RunSecrets(), acts: [String: Act] = [:]
  ) throws {
    let (plan, values, problems) = try boundPlan(workflow, inputs: inputs)
    try #require(problems.map(\.message) == [])
    let started = Mutex<[String: ResolvedStep]>([:])
    let executor = ImmediateExecutor { attempt in
      let address = attempt.step.address.text
      started.withLock { $0[address] = attempt.resolved }
      return acts[address].map { ValueRun.play($0, attempt) } ?? .ended(.code(0))
    }
    var configuration = EngineConfiguration()
    configuration.inputs = values
    configuration.secrets = secrets
    var subscription: EventSubscription?
    run = RunEngine.start(
      plan, id: RunID("run-1"), configuration: configuration, executor: executor, time: ManualTime()
    ) { subscription = $0.subscribe() }
    report = run.report
    self.started = started.withLock { $0 }
    var groups: [String: GroupEnd] = [:]
    var addresses: [String] = []
    for event in subscription?.takeAll() ?? [] {
      if case .groupFinished(let address, let end) = event.kind { groups[address.text] = end }
      if case .stepStarted(let address, _, _) = event.kind { addresses.append(address.text) }
    }
    self.groups = groups
    self.addresses = addresses
  }

  private static func play(_ act: Act, _ attempt: Attempt) -> AttemptEnd.Status {
    for chunk in act.stdout { chunk.withUnsafeBytes { attempt.output.write($0, to: .stdout) } }
    for chunk in act.stderr { chunk.withUnsafeBytes { attempt.output.write($0, to: .stderr) } }
    if let text = act.writesOutputs, let path = attempt.outputFile {
      do {
        let file = try Descriptor.creating(path, .orEmptied)
        try file.writeAll(text)
      } catch {
        Issue.record("\(error)")
      }
    }
    return act.status
  }

  /// The command line with which a step was started.
  func arguments(of step: String) -> [String]? { started[step]?.command?.arguments(shell: .sh) }

  /// A variable of a step itself; `nil` if it was removed or never set.
  func variable(_ name: String, of step: String) -> String? {
    started[step]?.environment[name] ?? nil
  }

  func end(of step: String) -> StepEnd? {
    guard let state = report.steps.first(where: { $0.address.text == step })?.state,
      case .finished(let end) = state
    else { return nil }
    return end
  }

  func failure(of step: String) -> StepFailure? { end(of: step)?.failure }

  /// The outputs of a step, as JSON.
  func outputs(of step: String) -> [String: String]? { end(of: step).map { shown($0.outputs) } }

  var outputs: [String: String] { shown(report.end?.outputs ?? []) }
  var outcome: Outcome? { report.end?.outcome }
}

/// Outputs as JSON; `-` for one whose value is not reported.
func shown(_ outputs: [ReportedOutput]) -> [String: String] {
  Dictionary(uniqueKeysWithValues: outputs.map { ($0.name, $0.value.map(\.description) ?? "-") })
}
