import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A place besides this machine where the programs of attempts run. A new kind is a type like ``SSHRunner``, and a case
/// of `Runner.Kind`.
///
/// It neither orders nor retries: the engine has given the attempt its slot of the runner.
protocol RemoteRunner: Sendable {
  /// Runs the program of an attempt; may block the calling thread until it has ended.
  ///
  /// - Parameters:
  ///   - program: Its command, its limits and its input. Its environment has only what the workflow sets.
  ///   - executor: Starts programs of this machine.
  func run(
    _ program: ChildProgram, for attempt: Attempt, in executor: CommandExecutor
  ) throws(AttemptStartError) -> Future<AttemptEnd, Never>

  /// Ends what it keeps between attempts. Called once, after the last attempt.
  func finish() -> Future<Void, Never>
}

/// The runners of a run, by their declarations. They connect to nothing before the first attempt.
struct RemoteRunners: Sendable {
  /// Combines the settings around a step without the environment of this machine.
  let resolver: CommandResolver
  private let plan: Plan
  private let runners: [Runner: any RemoteRunner]

  init(
    plan: Plan, run: RunID, configuration: EngineConfiguration, threads: ThreadPool,
    enclosing: any Containment
  ) {
    self.plan = plan
    resolver = CommandResolver(
      plan: plan, run: run, cookie: configuration.journal.cookie ?? EngineCookie(),
      startDirectory: configuration.startDirectory, inheriting: .empty,
      trace: configuration.trace)
    // One for all runners: a new connection kills what other engines have left, and two runners may have one host.
    let engine = RemoteProgram.word()
    let declared = plan.runners
    runners = Dictionary(
      uniqueKeysWithValues: declared.map { runner in
        switch runner.kind {
        case .ssh(let hosts):
          (
            runner,
            SSHRunner(
              hosts, run: run, engine: engine, isResumed: configuration.journal.recorded != nil,
              startDirectory: configuration.startDirectory, threads)
          )
        case .slurm(let cluster):
          (
            runner,
            SlurmRunner(cluster, plan: plan, run: run, configuration: configuration, threads)
          )
        }
      })
  }

  /// The runner of a step; `nil` for this machine.
  func runner(of step: PlannedStep) -> (any RemoteRunner)? {
    plan.runner(of: step).flatMap { runners[$0] }
  }

  func finish() -> Future<Void, Never> {
    Future.zip(runners.values.map { $0.finish() }).map { _ in }
  }
}
