package import WeftDefinition
package import WeftEvents
package import WeftHTTP
package import WeftJSON
import WeftPlanning
package import WeftPlatform

/// The settings of a run besides the workflow. A setting here overrides that of the workflow.
///
/// The library fills it in, also for the command line; ``RunEngine`` and the executors read it.
package struct EngineConfiguration: Sendable {
  /// The run's id; `nil` for a new one.
  package var run: RunID?
  /// The maximum number of attempts that run at once; `nil` for that of the workflow, or else the processor count.
  package var maxParallel: Int?
  package var onFailure: FailureResponse?
  /// The time limit of the run, from its start, without the cleanups of the top level and `finally`.
  package var timeout: Duration?
  /// The values of the workflow's inputs.
  package var inputs = InputValues.none
  /// Keeps the state of the workflow for its next run; called when the run has succeeded.
  package var keepState: (@Sendable (JSONObject) throws(StepFailure) -> Void)?
  /// The directory that relative working directories are relative to; `nil` for that of the process.
  package var startDirectory: String?
  /// The way programs are asked to terminate before they are killed.
  package var stopPolicy = StopPolicy()
  /// The steps to skip.
  package var selection = Selection()
  /// The percentage of steps from which ``RetryBudget`` computes how many retries the whole run may make, after
  /// failures that tend to hit many steps at once.
  package var retryBudgetPercent = RetryBudget.defaultPercent
  /// The seed of random delays; `nil` for system randomness.
  package var randomSeed: UInt64?
  /// The wall clock, for steps that wait for a moment.
  package var wallClock: @Sendable () -> WallTime = { .now }

  /// The environment of the engine, for steps and expressions; `nil` for that of the process.
  package var environment: EnvironmentBlock?
  /// Runs commands in place of processes of this machine; `nil` for those.
  package var commandRunner: CommandRunner?
  /// The time of the engine; `nil` for that of the system.
  package var time: (any TimeSource)?
  /// The actions that steps with `use` may name.
  package var actions = ActionRegistry()
  package var journal = Journal()
  package var resources = Resources()
  /// The secrets, which programs may get and which are masked everywhere else.
  package var secrets = RunSecrets()
  /// The results of earlier runs; `nil` to cache nothing and run every step.
  package var cache: CacheAccess?
  /// Whether the durations of steps are measured, for later runs.
  package var measuresDurations = false
  /// The number of events that a late subscriber still gets one by one.
  package var historyLimit = 1024
  /// The knowledge from earlier runs, for a run that only predicts; `nil` to run steps.
  package var rehearsal: (any Rehearsal)?
  /// Warnings to report right after the start.
  package var earlyWarnings: [RunWarning] = []
  /// The trace of the run, which its steps learn of; `nil` if it is not traced.
  package var trace: RunTrace?

  package init() {}

  /// The journal of the run, and what there is only with one.
  package struct Journal: Sendable {
    /// Writes the journal; `nil` if nothing is recorded.
    package var recorder: (any RunRecorder)?
    /// The fold of the journal of previous engines, if the run is resumed.
    @StoredOutside package var recorded: RunState? = nil
    /// The steps to rerun although they are reusable.
    package var rerunning = RerunSelection()
    /// Passed to all programs of the run, and recorded with it, to find them again; `nil` for a new one.
    package var cookie: EngineCookie?
    /// The absolute path of the run directory, for steps to read; `nil` if there is none.
    package var runDirectory: String?
    /// Keeps the logs of steps beyond the end of the run; `nil` if they are dropped with it.
    package var logFolder: LogFolder?
    /// Control requests from other processes (`weft approve`, `weft cancel`).
    package var inbox: (any ControlInbox)?
    /// Whether the run is suspended, to be resumed from its journal, when nothing can proceed without an approval that
    /// cannot be given here. If not, such steps fail.
    package var suspendsWhileWaiting = false
  }

  /// Whatever the executors of steps use besides the plan.
  package struct Resources: Sendable {
    /// The terminal for steps with `tty`; `nil` if there is none, and such steps fail at their start.
    package var terminal: (any TerminalAccess)?
    /// Asks the approver of steps with `approve`; `nil` if there is none, and such steps fail at their start.
    package var approver: (any Approver)?
    /// Sends the requests of steps with `http`; `nil` for libcurl, opened by the first of them.
    package var transport: (any Transport)?
    /// The requested mechanism that tracks all processes of steps.
    package var containment = ContainmentRequest.automatic
    /// The processors and memory that steps may request in total; `nil` for those of this machine.
    package var capacity: MachineCapacity?
    /// A jobserver to take slots from, unless a maximum is given.
    package var jobserver: JoinedJobserver?
    /// Whether a display asks for lines that have not ended.
    package var tracksOpenLines = false
    /// Learns which files each attempt of a cached step reads and makes, before it is looked up.
    package var cachedFiles: (@Sendable (CachedFiles) -> Void)?
  }

  /// The wanted maximum number of attempts that run at once.
  func maxParallel(for plan: Plan) -> Int {
    // A jobserver sets the limit by itself; more slots than the plan has steps would be of no use.
    maxParallel ?? plan.workflow.maxParallel
      ?? (resources.jobserver == nil ? ThisProcess.processorCount : max(1, plan.steps.count))
  }
}

/// Decides how many attempts of a run may run at once, from the wanted number and the limit of open files.
///
/// ``RunEngine`` asks it once, before a run starts.
struct ParallelLimit: Sendable, Hashable {
  let count: Int
  /// The warning to report if fewer are possible than wanted.
  let warning: RunWarning?

  /// - Parameters:
  ///   - wanted: The number that the caller, the workflow or the processor count asks for.
  ///   - steps: The number of steps, which is an upper bound.
  ///   - extra: The number of descriptors that each step may need besides those of any program.
  init(wanted: Int, steps: Int, budget: DescriptorBudget, extra: Int = 0) {
    let (needed, possible) = (min(wanted, max(1, steps)), budget.programs(extra: extra))
    guard possible < needed else {
      count = wanted
      warning = nil
      return
    }
    count = possible
    warning = RunWarning(
      kind: .fewDescriptors,
      message: "only \(possible) of \(wanted) steps can run at once: the limit of open files is "
        + "\(budget.limit), and \(budget.open) are already open",
      help:
        "raise the limit first (ulimit -n \(budget.limit(forPrograms: needed, extra: extra))), or "
        + "run fewer (-j \(possible))")
  }
}
