import WeftDefinition
package import WeftPlanning
package import WeftPlatform

extension LiveRun {
  /// Starts a plan with real programs and real time.
  ///
  /// - Parameters:
  ///   - threads: What running programs block; those of one run are enough for any number of runs.
  ///   - subscribing: Called with the run before anything of it has happened.
  /// - Throws: When the containment that was asked for cannot be had; never when it was left open.
  package static func start(
    _ plan: Plan, configuration: EngineConfiguration = EngineConfiguration(),
    threads: BlockingThreads = BlockingThreads(), subscribing: (LiveRun) -> Void = { _ in }
  ) throws(NoContainment) -> LiveRun {
    let id = RunID.make(at: WallClock.now)
    let executor = try CommandExecutor(
      plan: plan, run: id, configuration: configuration, threads: threads)
    let timers = Timers()
    if plan.hasTimeLimits || configuration.timeout != nil {
      // While there is room for a thread. If there is none now, there may be when a limit needs it.
      try? timers.prepare()
    }
    return start(
      plan, id: id, configuration: configuration, executor: executor, time: timers,
      subscribing: subscribing)
  }
}

extension Plan {
  /// Whether the run or a group has a limit; a step's is kept by whoever runs it.
  fileprivate var hasTimeLimits: Bool {
    workflow.timeout != nil || groups.contains { $0.step?.timeout != nil }
  }
}
