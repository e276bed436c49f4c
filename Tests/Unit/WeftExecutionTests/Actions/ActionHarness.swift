import Testing
import WeftDefinition
import WeftDiagnostics
import WeftFutures
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A run whose actions are the test's own, on threads of their own, with a clock that the test moves. Its commands end
/// when the test ends them.
struct ActionHarness {
  let time = ManualTime()
  let commands = ScriptedExecutor()
  let run: RunEngine
  let subscription: EventSubscription

  init(
    _ json: String, _ actions: Action..., secrets: [SecretName: Secret] = [:],
    registering registered: [Action]? = nil
  ) throws {
    let workflow = try WorkflowFiles(["main.json": json]).workflow("main.json")
    let (plan, diagnostics) = Planner.plan(workflow, actions: Set(actions.map(\.name)))
    let sound = try #require(plan, "\(diagnostics.map(\.message))")
    var configuration = EngineConfiguration()
    configuration.maxParallel = 100
    configuration.actions = ActionRegistry(registered ?? actions)
    configuration.secrets = RunSecrets(secrets)
    configuration.randomSeed = 1
    let executor = StepExecutors(
      commands: commands, run: RunID("run-1"), configuration: configuration, time: time)
    var subscription: EventSubscription?
    run = RunEngine.start(
      sound, id: RunID("run-1"), configuration: configuration, executor: executor, time: time
    ) { subscription = $0.subscribe() }
    self.subscription = subscription!
  }

  func ended() async -> RunReport { await run.ended() }

  /// The end of a step, once the run has ended.
  func end(of step: String) async throws -> StepEnd {
    let report = await ended()
    guard case .finished(let end) = report.steps.first(where: { $0.address.text == step })?.state
    else { throw NoEnd() }
    return end
  }

  struct NoEnd: Error {}

  func log(of step: String) -> String {
    let address = StepAddress(step)
    let bytes = run.log(of: address, in: 0..<run.logSize(of: address))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// The kinds of the warnings, once the run has ended.
  func warnings() async -> [RunWarning.Kind] {
    _ = await ended()
    return (subscription.takeAll() ?? []).compactMap { event in
      if case .runWarning(let warning) = event.kind { warning.kind } else { nil }
    }
  }
}
