package import WeftEvents
package import WeftExecution
package import WeftJSON
package import WeftPlanning
package import WeftPlatform

/// A replacement for everything around an engine, for tests: time, programs, secrets and randomness. The run takes the
/// same way as any other from its preparation to its report.
package struct SimulatedWorld: Sendable {
  package var time: any TimeSource
  package var wallClock: @Sendable () -> WallTime
  /// The environment of the engine.
  package var environment: EnvironmentBlock
  package var secrets: RunSecrets
  /// Determines random delays.
  package var seed: UInt64
  /// Takes the state that a run keeps.
  package var keepState: @Sendable (JSONObject) -> Void = { _ in }
  /// Makes the executor of all attempts.
  package var makeExecutor:
    @Sendable (Plan, EngineConfiguration) throws(ContainmentError) -> any StepExecutor

  package init(
    time: any TimeSource, wallClock: @escaping @Sendable () -> WallTime,
    environment: EnvironmentBlock, secrets: RunSecrets, seed: UInt64,
    makeExecutor:
      @escaping @Sendable (Plan, EngineConfiguration) throws(ContainmentError) ->
      any StepExecutor
  ) {
    self.time = time
    self.wallClock = wallClock
    self.environment = environment
    self.secrets = secrets
    self.seed = seed
    self.makeExecutor = makeExecutor
  }

  func configure(_ configuration: inout EngineConfiguration) {
    configuration.wallClock = wallClock
    configuration.environment = environment
    configuration.randomSeed = seed
    // The machine that simulates says nothing about the one that will run the workflow.
    configuration.resources.capacity = .unlimited
    let keepState = keepState
    configuration.keepState = { state throws(StepFailure) in keepState(state) }
  }

  func start(
    _ plan: Plan, _ configuration: EngineConfiguration, _ subscribe: (RunEngine) -> Void
  ) throws(ContainmentError) -> RunEngine {
    RunEngine.start(
      plan, id: configuration.run ?? .make(at: WallClock.now), configuration: configuration,
      executor: try makeExecutor(plan, configuration), time: time,
      warnings: configuration.earlyWarnings, subscribing: subscribe)
  }
}

extension Engine {
  /// Checks a plan's inputs and starts it in a simulated world, without a journal.
  ///
  /// - Parameter subscribing: Called with the run before its first event.
  package func start(
    _ plan: Plan, inputs: [String: JSONValue], arguments: [String], in world: SimulatedWorld,
    approver: any Approver, subscribing: @escaping (RunEngine) -> Void
  ) throws(WorkflowError) -> Run {
    try checkOptions()
    let values = try values(of: inputs, arguments: arguments, for: plan.workflow)
    var surroundings = RunSurroundings.embedding
    surroundings.approver = approver
    surroundings.simulation = world
    surroundings.subscribe = subscribing
    do throws(StartError) {
      return try launch(try prepare(plan, values, in: nil), surroundings)
    } catch {
      throw error.workflowError
    }
  }
}
