package import WeftDefinition
package import WeftHTTP
import WeftPlanning
package import WeftPlatform

/// How a run is to be carried out, beside what the workflow says; what is set here wins.
package struct EngineConfiguration: Sendable {
  /// The run's id; `nil`: a new one.
  package var run: RunID?
  /// Given to all programs of the run, and recorded with it; `nil`: a new one.
  package var cookie: EngineCookie?
  /// How many attempts may run at once; `nil`: what the workflow says, else the processor count.
  package var maxParallel: Int?
  package var onFailure: FailureResponse?
  /// Limits the whole run, from its start.
  package var timeout: Duration?
  /// The values of the workflow's inputs.
  package var inputs = InputValues.none
  /// What relative working directories are relative to; `nil`: where the process stands.
  package var startDirectory: String?
  /// How steps are asked to end before they are made to.
  package var stopPolicy = StopPolicy()
  /// Where steps with `tty` get the terminal; `nil`: they fail at their start.
  package var terminal: (any TerminalAccess)?

  /// What is recorded of the run, if it is gone on with.
  package var past: RecordedRun?
  /// What of it is to be done again all the same.
  package var anew = StepsAnew()
  /// Which steps are left out.
  package var selection = Selection()
  /// How many further attempts there may be in all for a hundred steps, of failures that many tend to have at
  /// once.
  package var retryBudgetPercent = 20
  /// What random pauses are made of; `nil`: of numbers that nobody knows.
  package var randomSeed: UInt64?
  /// The clock on the wall, for steps that wait for a moment.
  package var wallClock: @Sendable () -> WallTime = {
    WallTime(nanoseconds: WallClock.now.nanoseconds)
  }

  /// Whom steps with `approve` ask; `nil`: they fail at their start.
  package var approver: (any Approver)?

  /// Whether the run is left, for whoever goes on with its record, when nothing can go on before somebody has
  /// answered who cannot be asked here; if not, such steps fail.
  package var leavesWhileWaiting = false

  /// Where others leave what they ask of the run.
  package var inbox: (any ControlInbox)?

  /// What steps with `use` run.
  package var actions = ActionRegistry()

  /// By what steps with `http` send their requests; `nil`: libcurl, opened by the first of them.
  package var transport: (any Transport)?

  /// What is to hold everything that steps start.
  package var containment = ContainmentRequest.automatic
  /// How long a start waits for descriptors, processes or memory.
  package var shortagePatience = ShortagePatience()

  /// A jobserver to take slots from, when nothing else says how many.
  package var jobserver: JoinedJobserver?
  /// What programs may get, and nobody may see.
  package var secrets = RunSecrets()
  /// Writes down what happens before it is acted upon; `nil`: nobody does.
  package var recorder: (any RunRecorder)?
  /// What steps have made in earlier runs; `nil`: nothing is kept, and every step is run.
  package var cache: CacheAccess?
  /// The directory of the run's record, from the root, for its steps to read; `nil`: it has none.
  package var runDirectory: String?
  /// Where what steps write is kept when the run has ended; `nil`: it goes with the run.
  package var logFolder: LogFolder?
  /// Whether the run learns how long its steps take, for later ones.
  package var measuresDurations = false
  /// How many events a late subscriber can still get one by one.
  package var historyLimit = 1024
  /// What to tell right after the start.
  package var earlyWarnings: [RunWarning] = []

  package init() {}

  /// How many attempts of a plan's run are wanted at once.
  func maxParallel(for plan: Plan) -> Int {
    // With a jobserver, that says how many; the plan, how many more would be of no use.
    maxParallel ?? plan.workflow.maxParallel
      ?? (jobserver == nil ? ThisProcess.processorCount : max(1, plan.steps.count))
  }
}
