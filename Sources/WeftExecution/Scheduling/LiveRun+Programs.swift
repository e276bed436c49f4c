package import WeftPlanning
package import WeftPlatform

extension LiveRun {
  /// Starts a plan with real programs and real time.
  ///
  /// - Parameters:
  ///   - threads: What running programs block; those of one run are enough for any number of runs.
  ///   - subscribing: Called with the run before anything of it has happened.
  package static func start(
    _ plan: Plan, configuration: EngineConfiguration = EngineConfiguration(),
    threads: BlockingThreads = BlockingThreads(), subscribing: (LiveRun) -> Void = { _ in }
  ) -> LiveRun {
    let id = RunID.make(at: WallClock.now)
    let executor = CommandExecutor(
      plan: plan, run: id, configuration: configuration, threads: threads)
    return start(
      plan, id: id, configuration: configuration, executor: executor, time: Timers(),
      subscribing: subscribing)
  }
}
