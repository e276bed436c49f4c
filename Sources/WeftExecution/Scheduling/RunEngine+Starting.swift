import WeftDefinition
import WeftEvents
package import WeftPlanning
package import WeftPlatform

/// The start of a run outside of tests: it creates the executors, timers and logs, and limits the attempts that run at
/// once to what the limit of open files allows.
extension RunEngine {
  /// Starts a plan with real programs and real time.
  ///
  /// - Parameters:
  ///   - threads: The threads that block on running programs; those of one run are enough for any number of
  ///     runs.
  ///   - subscribing: Called with the run before its first event.
  /// - Throws: If the containment that was asked for is not available; never if the choice was left to the
  ///   engine.
  package static func start(
    _ plan: Plan, configuration: EngineConfiguration = EngineConfiguration(),
    threads: ThreadPool = ThreadPool(), subscribing: (RunEngine) -> Void = { _ in }
  ) throws(ContainmentError) -> RunEngine {
    let id = configuration.run ?? .make(at: WallClock.now)
    var configuration = configuration
    // Acquires the descriptors that the engine itself needs, while some are left.
    let logs = StepLogs(in: configuration.journal.logFolder)
    logs.prepare()
    ChildProgram.prepare()
    let own = Timers()
    let hasTimers = configuration.time != nil || (try? own.prepare()) != nil
    let timers: any TimeSource = configuration.time ?? own
    func executor(_ commands: any StepExecutor) -> StepExecutors {
      StepExecutors(commands: commands, run: id, configuration: configuration, time: timers)
    }
    if let runner = configuration.commandRunner {
      let commands = RunnerExecutor(
        runner, plan: plan, run: id, configuration: configuration, time: timers)
      return start(
        plan, id: id, configuration: configuration, executor: executor(commands), time: timers,
        logs: logs, warnings: configuration.earlyWarnings, subscribing: subscribing)
    }
    let commands = try CommandExecutor(
      plan: plan, run: id, configuration: configuration, threads: threads,
      time: hasTimers ? timers : nil)
    let executors = executor(commands)
    let limit = ParallelLimit(
      wanted: configuration.maxParallel(for: plan), steps: plan.steps.count,
      budget: .ofThisProcess,
      extra: (plan.offersJobservers ? StepJobserver.descriptors : 0)
        + (configuration.journal.logFolder == nil ? 0 : 1))
    configuration.maxParallel = limit.count
    let isBlind = commands.containment != .cgroup && !ProcessTable.isReadable
    return start(
      plan, id: id, configuration: configuration, executor: executors, time: timers, logs: logs,
      warnings: configuration.earlyWarnings
        + [limit.warning, isBlind ? .processesNotSeen : nil].compactMap(\.self),
      cache: configuration.cache.map {
        CommandCache(
          $0, plan: plan, run: id, resolver: commands.resolver, secrets: configuration.secrets,
          startDirectory: configuration.startDirectory, containment: commands.enclosing)
      },
      subscribing: subscribing)
  }
}
