import Testing
import WeftDefinition
import WeftDiagnostics
import WeftHTTP
import WeftJSON
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A run whose requests a ``ScriptedTransport`` answers, with a clock that the test moves.
struct RequestHarness {
  let time = ManualTime()
  let transport: ScriptedTransport
  let run: RunEngine
  let subscription: EventSubscription

  init(
    _ json: String, _ transport: ScriptedTransport, secrets: [SecretName: Secret] = [:],
    maxParallel: Int = 100, directory: String? = nil
  ) throws {
    self.transport = transport
    let workflow = try WorkflowFiles(["main.json": json]).workflow("main.json")
    let (plan, diagnostics) = Planner.plan(workflow)
    let sound = try #require(plan, "\(diagnostics.map(\.message))")
    var configuration = EngineConfiguration()
    configuration.maxParallel = maxParallel
    configuration.resources.transport = transport
    configuration.secrets = RunSecrets(secrets)
    configuration.randomSeed = 1
    configuration.startDirectory = directory
    let id = RunID("run-1")
    let executor = StepExecutors(
      commands: ScriptedExecutor(), run: id, configuration: configuration, time: time)
    var subscription: EventSubscription?
    run = RunEngine.start(
      sound, id: id, configuration: configuration, executor: executor, time: time
    ) { subscription = $0.subscribe() }
    self.subscription = subscription!
  }

  /// The end of a step, once the run has ended.
  func end(of step: String = "a") async throws -> StepEnd {
    let report = await run.ended()
    guard case .finished(let end) = report.steps.first(where: { $0.address.text == step })?.state
    else { throw NoEnd() }
    return end
  }

  struct NoEnd: Error {}

  /// An output of a step, once the run has ended.
  func output(_ name: String = "x", of step: String = "a") async throws -> JSONValue? {
    let end = try await end(of: step)
    #expect(end.outcome == .success, "\(end.failure?.message ?? "")")
    return end.outputs.first { $0.name == name }?.value ?? nil
  }

  func log(of step: String = "a") -> String {
    let address = StepAddress(step)
    let bytes = run.log(of: address, in: 0..<run.logSize(of: address))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Advances the clock whenever the run waits, until it has ended.
  func endedInTime() async -> RunReport {
    await withTaskGroup(of: RunReport?.self) { group in
      group.addTask { await run.ended() }
      group.addTask {
        while !Task.isCancelled {
          time.advance(by: .seconds(1))
          try? await Task.sleep(for: .microseconds(200))
        }
        return nil
      }
      var report: RunReport?
      for await ended in group {
        if let ended {
          report = ended
          group.cancelAll()
        }
      }
      return report!
    }
  }
}
