import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Runs the programs of attempts, but not as children of this process. A new kind is a type like ``SSHRunner``, or a
/// ``JobScheduler``, and a case of `Runner.Kind`.
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
  /// For commands of this machine that a resumed run adopts; `nil` if that is impossible.
  private let adopting: (any RemoteRunner)?
  /// Jobs of earlier engines, whose steps have other runners now.
  private let former: FormerJobs?

  init(
    plan: Plan, run: RunID, configuration: EngineConfiguration, threads: ThreadPool,
    enclosing: any Containment
  ) {
    self.plan = plan
    resolver = CommandResolver(
      plan: plan, run: run, cookie: configuration.journal.cookie ?? EngineCookie(),
      startDirectory: configuration.startDirectory, inheriting: .empty,
      trace: configuration.trace)
    let folder = JobFolder(of: configuration)
    let mayAdopt =
      LocalJobs.isAvailable && folder != nil && plan.steps.contains(where: plan.isAdoptable)
    let former = configuration.journal.recorded.flatMap { recorded in
      folder.flatMap { folder in
        FormerJobs(of: run, recorded, in: folder, plan) { plan.jobKind(of: $0, mayAdopt: mayAdopt) }
      }
    }
    self.former = former
    func jobs(of scheduler: any JobScheduler, in directory: String?) -> JobRunner {
      JobRunner(
        scheduler, workingDirectory: directory ?? configuration.startDirectory, run: run,
        configuration: configuration, sparing: former, threads)
    }
    adopting = mayAdopt ? jobs(of: LocalJobs(), in: nil) : nil
    // One for all runners: a new connection kills what other engines have left, and two runners may have one host.
    let engine = RemoteProgram.word()
    runners = Dictionary(
      uniqueKeysWithValues: plan.runners.map { runner in
        switch runner.kind {
        case .ssh(let hosts):
          (
            runner,
            SSHRunner(
              hosts, run: run, engine: engine, isResumed: configuration.journal.recorded != nil,
              startDirectory: configuration.startDirectory, threads)
          )
        case .slurm(let cluster):
          (runner, jobs(of: SlurmScheduler(cluster), in: cluster.workingDirectory))
        }
      })
  }

  /// Ends the job of an earlier engine whose step is about to start with another runner.
  func endFormerJob(
    of attempt: Attempt, in executor: CommandExecutor
  ) throws(StepFailure) {
    try former?.end(before: attempt, in: executor)
  }

  /// The runner of a step; `nil` if its program is a child of this process.
  func runner(of step: PlannedStep) -> (any RemoteRunner)? {
    if let runner = plan.runner(of: step) { return runners[runner] }
    return plan.isAdoptable(step) ? adopting : nil
  }

  /// The scheduler of the jobs of a step; `nil` if its programs are no jobs.
  func jobKind(of step: PlannedStep) -> JobKind? {
    plan.mayUseRunners || adopting != nil
      ? plan.jobKind(of: step, mayAdopt: adopting != nil) : nil
  }

  func finish() -> Future<Void, Never> {
    let all = Array(runners.values) + [adopting].compactMap(\.self)
    return Future.zip(all.map { $0.finish() }).map { _ in }
  }
}

extension Plan {
  fileprivate func jobKind(of step: PlannedStep, mayAdopt: Bool) -> JobKind? {
    switch runner(of: step)?.kind {
    case .slurm: .slurm
    case .ssh: nil
    case nil: mayAdopt && isAdoptable(step) ? .local : nil
    }
  }
}
