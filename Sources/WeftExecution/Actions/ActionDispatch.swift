package import WeftDefinition
package import WeftEvents
package import WeftFutures
package import WeftPlanning
package import WeftPlatform

/// The code that runs each kind of action. Kinds that make attempts get a slot for each, and an executor from
/// ``StepExecutors``; the engine itself runs the others.
extension RunEngine {
  /// Runs the action of an admitted step.
  func perform(_ task: StepTask) -> MaybeReady<NodeResult, Never> {
    if rehearsal?.endsAtOnce(task.step, at: task.address) == true, let end = rehearse(task) {
      return .now(end)
    }
    switch task.step.kind {
    case .run, .use, .http:
      var task = task
      if let ledger = ledger(for: task) { task.keep(ledger) }
      if let cache, task.step.isCached { return lookUp(task, in: cache) }
      return queue(task)
    case .compute: return .now(compute(task))
    case .wait: return .later(wait(task))
    case .approve: return .later(approve(task))
    case .workflow, .steps, .parallel, .race:
      preconditionFailure("the planner let pass \(task.address), which is no group")
    }
  }
}

/// Dispatches each attempt to the executor for its kind of action.
package struct StepExecutors: StepExecutor {
  private let commands: any StepExecutor
  private let actions: ActionExecutor
  private let requests: HTTPExecutor

  package init(
    commands: any StepExecutor, run: RunID, configuration: EngineConfiguration,
    time: any TimeSource
  ) {
    self.commands = commands
    actions = ActionExecutor(run: run, configuration: configuration, time: time)
    requests = HTTPExecutor(run: run, configuration: configuration, time: time)
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    switch attempt.step.kind {
    case .run: commands.execute(attempt)
    case .use: actions.execute(attempt)
    case .http: requests.execute(attempt)
    case .workflow, .wait, .approve, .compute, .steps, .parallel, .race:
      preconditionFailure("\(attempt.address) is to be attempted and runs nothing")
    }
  }

  package func probe(
    _ attempt: Attempt, for service: Command.Service, stop: StopSwitch
  ) -> Future<Bool, Never> {
    commands.probe(attempt, for: service, stop: stop)
  }

  package func jobKind(of step: PlannedStep) -> JobKind? {
    step.kind == .run ? commands.jobKind(of: step) : nil
  }

  package var containment: WeftEvents.ContainmentLevel? { commands.containment }

  /// Does not wait for actions that were left behind, because they may never end.
  package func finish(stop: StopSwitch) -> Future<RunOrphans, Never> { commands.finish(stop: stop) }
}
