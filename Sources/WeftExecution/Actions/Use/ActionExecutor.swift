package import WeftDefinition
package import WeftEvents
package import WeftFutures
import WeftPlanning
package import WeftPlatform

/// The actions that a program has registered, and the threads that they run on.
package struct ActionRegistry: Sendable {
  private let actions: [ActionName: Action]
  /// Stacks as large as those of the host's own threads, because host code runs on them.
  let threads = ThreadPool(name: "weft-action", stackBytes: 8 << 20)

  /// - Precondition: No two have the same name.
  package init(_ actions: [Action] = []) {
    self.actions = Dictionary(actions.map { ($0.name, $0) }) { first, _ in
      preconditionFailure("two actions are called \"\(first.name)\"")
    }
  }

  package var names: Set<ActionName> { Set(actions.keys) }

  subscript(name: ActionName) -> Action? { actions[name] }
}

/// Runs actions, each on a thread of its own until it ends.
package final class ActionExecutor: StepExecutor {
  private let registry: ActionRegistry
  private let run: RunID
  private let starts: StartQueue
  private let time: any TimeSource
  private let grace: Duration

  package init(run: RunID, configuration: EngineConfiguration, time: any TimeSource) {
    self.run = run
    self.time = time
    registry = configuration.actions
    grace = configuration.stopPolicy.grace
    starts = StartQueue(
      registry.threads, patience: configuration.resources.shortagePatience, time: time)
  }

  package func execute(_ attempt: Attempt) -> Future<AttemptEnd, Never> {
    guard let call = attempt.resolved.action.call else {
      preconditionFailure("\(attempt.address) is to run an action and has none")
    }
    guard let action = registry[call.name] else {
      return Future(value: AttemptEnd(.failed(.unregistered(call.name))))
    }
    let run = ActionRun(attempt, action, given: call, run: run, time: time, grace: grace)
    // Never on this thread, though it may be one of these: it may be running an action that has cancelled a
    // step.
    starts.submit(
      StartQueue.Request(
        stop: attempt.stop,
        warn: { attempt.warnings.reportOnce($0.warning(step: attempt.address.text)) },
        refuse: { run.promise.succeed(AttemptEnd($0)) },
        job: { [starts] in
          starts.programStarted()
          run.perform()
          starts.programEnded()
          return nil
        }), onThisThread: false)
    return run.promise.future
  }
}

extension StepFailure {
  fileprivate static func unregistered(_ name: ActionName) -> StepFailure {
    StepFailure(
      classes: [.spawn], message: "did not start: the action \"\(name)\" is not registered",
      help: "pass it to the engine that runs the plan")
  }
}
