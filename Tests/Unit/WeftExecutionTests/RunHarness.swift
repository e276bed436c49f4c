import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform
import WeftTestKit

@testable import WeftEvents
@testable import WeftExecution

/// A run whose steps the test ends by hand, with a clock that it moves.
struct RunHarness {
  let executor = ScriptedExecutor()
  let time = ManualTime()
  let run: RunEngine
  let subscription: EventSubscription

  init(
    _ workflow: Workflow, maxParallel: Int = 100, onFailure: FailureResponse? = nil,
    recorder: (any RunRecorder)? = nil,
    configuring edit: (inout EngineConfiguration) -> Void = { _ in }
  ) throws {
    let (plan, diagnostics) = Planner.plan(workflow)
    self.init(
      try #require(plan, "\(diagnostics)"), maxParallel: maxParallel, onFailure: onFailure,
      recorder: recorder, configuring: edit)
  }

  init(
    _ plan: Plan, maxParallel: Int = 100, onFailure: FailureResponse? = nil,
    recorder: (any RunRecorder)? = nil,
    configuring edit: (inout EngineConfiguration) -> Void = { _ in }
  ) {
    var configuration = EngineConfiguration()
    configuration.journal.recorder = recorder
    configuration.maxParallel = maxParallel
    configuration.onFailure = onFailure
    edit(&configuration)
    var subscription: EventSubscription?
    run = RunEngine.start(plan, configuration: configuration, executor: executor, time: time) {
      subscription = $0.subscribe()
    }
    self.subscription = subscription!
  }

  /// The events since the last call, a word and an address each.
  func newEvents() -> [String] { (subscription.takeAll() ?? []).map { brief($0.kind) } }

  var states: [String] {
    run.report.steps.map { "\($0.address): \(brief($0.state))" }
  }

  var running: [String] { executor.runningSteps }

  private func brief(_ state: StepState) -> String {
    switch state {
    case .pending: "pending"
    case .queued: "queued"
    case .running: "running"
    case .asking: "asking"
    case .waiting: "waiting"
    case .retrying(let attempt, _): "retrying after \(attempt)"
    case .skipped(let reason): brief(reason)
    case .finished(let end): brief(end)
    case .restored(let end): "before: \(brief(end))"
    case .cached(let end): "cached: \(brief(end))"
    }
  }

  private func brief(_ end: StepEnd) -> String {
    end.outcome == end.conclusion ? end.outcome.rawValue : "\(end.outcome) tolerated"
  }

  private func brief(_ reason: SkipReason) -> String {
    switch reason {
    case .dependencyFailed(let address): "skipped after \(address)"
    case .heldBack(let address): "held back by \(address)"
    case .cancelled(let reason): "cancelled: \(brief(reason))"
    case .condition(let address): "skipped by if of \(address)"
    case .notSelected: "not selected"
    }
  }

  func brief(_ reason: CancelReason) -> String {
    switch reason {
    case .requested: "requested"
    case .filesChanged: "files changed"
    case .signal(let name): name
    case .runTimeout: "run timeout"
    case .groupTimeout(let address, _): "timeout of \(address)"
    case .failure(let address): "failure of \(address)"
    case .raceWon(_, let winner): "lost to \(winner)"
    case .joined(let address): "enough of \(address)"
    case .recordLost: "record lost"
    }
  }

  private func brief(_ kind: RunEvent.Kind) -> String {
    switch kind {
    case .runStarted: "run started"
    case .stepQueued(let address, _, _): "\(address) queued"
    case .stepStarted(let address, _, _): "\(address) started"
    case .stepBegun(let address, _): "\(address) has left the queue"
    case .stepAsking(let address, let message): "\(address) asks \(message)"
    case .stepWaiting(let address, let delay): "\(address) waits for \(delay)"
    case .stepOutput(let address, let output): "\(address) wrote \(output.text)"
    case .stepProgress(let address, let progress): "\(address) has done \(progress.done)"
    case .stepReady(let address, _): "\(address) ready"
    case .stepFinished(let address, let end): "\(address) \(brief(.finished(end)))"
    case .stepRestored(let address, let end): "\(address) \(brief(.restored(end)))"
    case .stepCached(let address, let end): "\(address) \(brief(.cached(end)))"
    case .stepSkipped(let address, let reason): "\(address) \(brief(reason))"
    case .groupStarted(let address, let start):
      "\(address) group started" + (start.elements.map { " for \($0)" } ?? "")
    case .stepRetrying(let address, let retry), .groupRetrying(let address, let retry):
      "\(address) retrying after \(retry.attempt)"
    case .groupFinished(let address, let end):
      "\(address) group \(end.outcome == end.conclusion ? "\(end.outcome)" : "\(end.outcome) tolerated")"
    case .runWarning(let warning): "warning: \(warning.kind.rawValue)"
    case .runCancelling(let reason): "run cancelling: \(brief(reason))"
    case .runFinished(let end): "run finished: \(end.outcome)"
    case .runWaiting(let pause):
      "run waits for \(pause.requests.map(\.step.text).joined(separator: " "))"
    case .outputDropped(let gap): "dropped \(gap.count)"
    case .snapshot: "snapshot"
    }
  }
}
