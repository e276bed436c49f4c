import Testing
import WeftDefinition
import WeftFutures
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// A complete run of real programs.
struct RealRun {
  let report: RunReport
  let events: [RunEvent]
  /// The output of each step, both streams.
  let logs: [String: String]

  /// - Parameter onEvent: Called with each event as it arrives.
  init(
    _ workflow: Workflow, configuration: EngineConfiguration = EngineConfiguration(),
    onEvent: (RunEvent) -> Void = { _ in }
  ) async throws {
    let (plan, diagnostics) = Planner.plan(workflow)
    try await self.init(
      try #require(plan, "\(diagnostics)"), configuration: configuration, onEvent: onEvent)
  }

  /// Runs a plan whose inputs are bound.
  init(
    _ plan: Plan, configuration: EngineConfiguration = EngineConfiguration(),
    onEvent: (RunEvent) -> Void = { _ in }
  ) async throws {
    var subscription: EventSubscription?
    let run = try RunEngine.start(plan, configuration: configuration) {
      subscription = $0.subscribe()
    }
    var events: [RunEvent] = []
    for await event in subscription! {
      events.append(event)
      onEvent(event)
    }
    self.events = events
    report = await run.completion.value
    var logs: [String: String] = [:]
    for step in run.plan.steps {
      let bytes = run.log(of: step.address, in: 0..<run.logSize(of: step.address))
      logs[step.address.text] = String(decoding: bytes, as: UTF8.self)
    }
    self.logs = logs
  }

  /// The end of a step; `nil` if it did not start.
  func end(of step: String) -> StepEnd? {
    guard let state = report.steps.first(where: { $0.address.text == step })?.state,
      case .finished(let end) = state
    else { return nil }
    return end
  }
}

/// A step with one command.
func step(
  _ id: StepID, _ invocation: Command.Invocation, stdin: StandardInput? = nil,
  settings: CommandSettings = CommandSettings(), timeout: Duration? = nil
) -> Step {
  Step(
    id: id, action: .run(Command(invocation, stdin: stdin)), settings: settings, timeout: timeout)
}
