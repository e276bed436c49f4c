import WeftCurl
public import WeftDefinition
import WeftDiagnostics
public import WeftEvents
package import WeftExecution
import WeftFutures
public import WeftHTTP
public import WeftJSON
public import WeftPlanning
package import WeftPlatform
public import WeftRecord

/// Runs workflows inside another program.
///
/// ```swift
/// import Weft
///
/// let workflow = try Workflow(contentsOf: "release.json")
/// let run = try Engine().start(workflow)
/// for await event in run.events { print(event.kind) }
/// print(await run.report.succeeded)
/// ```
///
/// An engine has its own threads: running programs and actions block those, never the host's. It installs no
/// signal handlers, waits for no processes but those that it started, and writes nothing but an unlinked
/// temporary file per run, the entries of a ``RunStore``, and ``Options/cacheDirectory``. It executes any number
/// of runs at once, each with its own limit of parallel steps. A run continues when the engine is released.
public final class Engine: Sendable {
  /// Settings of a run that are not part of the workflow.
  public struct Options: Sendable, Hashable {
    /// The number of steps that may run at once; `nil` uses the workflow's limit, or the number of processors
    /// if it has none.
    public var maxParallel: Int?
    /// The effect of a failure on the rest of the run; `nil` uses the workflow's.
    public var onFailure: FailureResponse?
    /// The time limit of a run, from its start, without the cleanups of the top level and `finally`; `nil` uses the
    /// workflow's.
    public var timeout: Duration?
    /// The directory to which steps' working directories are relative; `nil` is the current directory.
    public var startDirectory: String?
    /// The grace period: the time between TERM and KILL for a program. A cancelled action that takes longer is
    /// left behind and its step ends without it.
    public var grace = Duration.seconds(10)
    /// The directory for results of steps with `cache`, created when a run has such steps; `nil` runs every step
    /// and keeps no result.
    public var cacheDirectory: String?
    /// Whether results in ``cacheDirectory`` replace running their steps; if not, every step runs, and its result
    /// is kept.
    public var readsCache = true
    /// The size in bytes from which the oldest results in ``cacheDirectory`` are removed; `nil` is 10 GiB.
    public var cacheLimitBytes: Int?
    /// The number of runs to keep in a ``FileRunStore``: when a run ends, older ones that have ended are removed,
    /// those that could be resumed stay. `nil` keeps all. The run itself always stays.
    public var keptRuns: Int?
    /// The addresses of the steps and groups to run, with their dependencies; empty for all. The others are
    /// skipped (``SkipReason/notSelected``). `finally` runs in any case. A resumed run keeps the selection that
    /// it began with.
    public var only: [String] = []
    /// The addresses of steps and groups to skip as if their `if` were false; steps that need them still run.
    public var skip: [String] = []
    /// The addresses of the steps and groups to run, with their dependents; empty for all.
    public var from: [String] = []
    /// The cap on retries after failures of the classes `network`, `http` and `runner` in a run: this percentage of its
    /// steps, plus 100. A retry beyond it is reported as refused (``StepEnd/notRetried``).
    public var retryBudgetPercent = RetryBudget.defaultPercent
    /// The mechanism that finds all processes of steps; `nil` for the strongest available. A run does not start if the
    /// one given here is not available.
    public var containment: WeftEvents.ContainmentLevel?
    /// The environment of the engine, for steps and expressions; `nil` for that of the process.
    public var environment: [String: String]?
    /// The runner of all commands for which neither a step nor a group names one: `local`, or one that the workflow
    /// declares; `nil` for the workflow's own. A resumed run has by default the one that it began with.
    public var runner: String?
    /// The seed of random delays, to repeat a run exactly; `nil` for the randomness of the system.
    public var randomSeed: UInt64?

    /// Creates the default settings.
    public init() {}

    var choice: StepChoice { StepChoice(only: only, skip: skip, from: from) }

    /// The environment for steps and expressions; `nil` for that of the process.
    var environmentBlock: EnvironmentBlock? {
      guard let environment else { return nil }
      // A variable that no environment can have is rejected with the options.
      return try? EnvironmentBlock.empty.setting(
        environment.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
    }
  }

  let options: Options
  let actions: ActionRegistry
  let approver: (any Approver)?
  let transport: (any Transport)?
  let tracer: (any RunTracer)?
  let commands: CommandRunner?
  let time: (any TimeSource)?
  package let threads = ThreadPool()

  /// - Parameters:
  ///   - actions: The actions that steps with `use` can name.
  ///   - transport: Sends the requests of `http` steps. `nil` uses libcurl, loaded by the first such step;
  ///     all runs of the engine share its connections.
  ///   - tracer: Follows each run as a trace; without one, runs have none.
  ///   - commands: Runs the commands of steps in place of processes of this machine. Steps with `cache` then always
  ///     run, and `tty`, `jobserver`, `stallTimeout` and `leftovers` have no effect.
  ///   - clock: The time of runs: backoff, time limits and waits. `nil` uses the system's. Processes of this machine
  ///     have their time limits by the system's clock in any case.
  ///   - approve: Decides steps with `approve`: `true` approves, `false` fails the step. Called in a task of its
  ///     own, which is cancelled when the answer is no longer needed; the run neither waits for a cancelled task
  ///     nor uses its answer. Without it, such steps fail.
  /// - Precondition: No two actions have the same name.
  public init(
    options: Options = Options(), actions: [Action] = [], transport: (any Transport)? = nil,
    tracer: (any RunTracer)? = nil,
    commands: CommandRunner? = nil, clock: (any Clock<Duration>)? = nil,
    approve: (@Sendable (ApprovalRequest) async -> Bool)? = nil
  ) {
    self.commands = commands
    time = clock.map(TimeSources.of)
    self.options = options
    self.actions = ActionRegistry(actions)
    self.transport = transport ?? CurlTransport()
    self.tracer = tracer
    approver = approve.map(CallbackApprover.init)
  }

  // MARK: Starting

  /// Checks a workflow and starts it. Returns at once, except for the time it takes to read the workflow's
  /// secrets, which includes the commands that print them.
  ///
  /// `concurrency` serializes a workflow with other runs of its key in this process. With the policies `wait`
  /// and `cancelPrevious` this blocks until such a run has ended, or the calling task is cancelled. A run with a
  /// ``RunStore`` is serialized with runs of other processes too.
  ///
  /// - Parameters:
  ///   - inputs: Values by name, in upper or lower case; inputs with a default may be omitted.
  ///   - arguments: The value of `run.args`; an error if the workflow never reads it.
  /// - Throws: All errors of the first of these that has any: the workflow, the inputs, the steps named in the
  ///   options, the key of `concurrency` (held by another run), the secrets. Nothing has been started then.
  public func start(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], arguments: [String] = []
  ) throws(WorkflowError) -> Run {
    try start(try plan(workflow), inputs: inputs, arguments: arguments)
  }

  /// Starts a plan. Returns at once, except for the time it takes to read its secrets.
  ///
  /// - Parameters:
  ///   - inputs: Values by name, in upper or lower case; inputs with a default may be omitted.
  ///   - arguments: The value of `run.args`; an error if the workflow never reads it.
  /// - Throws: All errors of the first of these that has any: the inputs, the steps named in the options, the key
  ///   of `concurrency`, the secrets. Nothing has been started then.
  public func start(
    _ plan: Plan, inputs: [String: JSONValue] = [:], arguments: [String] = []
  ) throws(WorkflowError) -> Run {
    do { return try start(plan, inputs, arguments, in: nil) } catch { throw error.workflowError }
  }

  /// Checks a workflow and starts it, with a journal in a store.
  ///
  /// A record is in the store before the action that it announces. If one cannot be written, nothing new starts,
  /// running steps finish, and ``Run/recordFault`` says why. A run that can only proceed with an answer, and has
  /// no approver, is suspended (``RunReport/pause``); another engine can resume it.
  ///
  /// The first records, up to the starts of the first steps, are written on the calling thread, which a slow store holds
  /// up; all others are written on threads of the engine.
  ///
  /// `concurrency` serializes a workflow with other runs of its key: with a ``FileRunStore`` with all runs whose
  /// journals are in its directory, including those of `weft` and of other processes; with another store with
  /// runs of this process. With the policies `wait` and `cancelPrevious` this blocks until such a run has ended,
  /// or the calling task is cancelled.
  ///
  /// - Parameters:
  ///   - inputs: Values by name, in upper or lower case; inputs with a default may be omitted. Inputs that are
  ///     not secret are recorded.
  ///   - arguments: The value of `run.args`; an error if the workflow never reads it. It is recorded, unless it contains
  ///     a secret; the run cannot be resumed then.
  ///   - store: The store for the journal.
  /// - Throws: ``WorkflowError``, or ``RunStoreError`` if the journal cannot be created, or another run has the
  ///   key of the workflow's `concurrency` and its policy is `refuse`; nothing has been started then.
  public func start(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:], arguments: [String] = [],
    in store: any RunStore
  ) throws -> Run {
    try start(try plan(workflow), inputs: inputs, arguments: arguments, in: store)
  }

  /// Starts a plan, with a journal in a store, as workflows are started.
  ///
  /// - Throws: ``WorkflowError`` for the inputs, the steps named in the options and the secrets; ``RunStoreError``
  ///   for the journal and the key of `concurrency`. Nothing has been started then.
  public func start(
    _ plan: Plan, inputs: [String: JSONValue] = [:], arguments: [String] = [],
    in store: any RunStore
  ) throws -> Run {
    do { return try start(plan, inputs, arguments, in: store) } catch { throw error.reported }
  }

  private func start(
    _ plan: Plan, _ inputs: [String: JSONValue], _ arguments: [String], in store: (any RunStore)?
  ) throws(StartError) -> Run {
    let values: InputValues
    do throws(WorkflowError) {
      try checkOptions()
      values = try self.values(of: inputs, arguments: arguments, for: plan.workflow)
    } catch {
      throw .workflow(error)
    }
    return try launch(try prepare(plan, values, in: store), .embedding)
  }

  // MARK: Checking

  /// Checks a workflow without starting anything: the dry run.
  ///
  /// - Throws: Everything that is wrong with the workflow.
  public func plan(_ workflow: Workflow) throws(WorkflowError) -> Plan {
    let (plan, diagnostics) = Planner.plan(workflow, actions: actions.names)
    guard let plan else { throw WorkflowError(diagnostics: diagnostics) }
    return plan
  }

  /// - Parameter maxParallel: `nil` for that of the options.
  func checkOptions(maxParallel: Int? = nil) throws(WorkflowError) {
    let unfit = BuiltValues.unfitOptions(
      maxParallel: maxParallel ?? options.maxParallel, timeout: options.timeout,
      grace: options.grace,
      retryBudgetPercent: options.retryBudgetPercent, startDirectory: options.startDirectory,
      cacheDirectory: options.cacheDirectory, environment: options.environment)
    guard unfit.isEmpty else { throw WorkflowError(diagnostics: unfit) }
  }

  /// - Parameters:
  ///   - recorded: The inputs of the run to resume.
  ///   - allowsMissing: Whether inputs that are not given are omitted rather than reported.
  func values(
    of inputs: [String: JSONValue], _ recorded: [ReportedOutput] = [], arguments: [String] = [],
    for workflow: Workflow, allowsMissing: Bool = false
  ) throws(WorkflowError) -> InputValues {
    // A dictionary has no order, but messages need one.
    let given = inputs.sorted { $0.key < $1.key }.map { name, value in
      GivenInput(name, .value(value), .program)
    }
    do {
      var values = try InputBinding.bind(
        workflow.inputs.demanding(recorded), workflow.inputs.given(recorded) + given,
        inputSource: .program, allowsMissing: allowsMissing)
      values.arguments = arguments
      return values
    } catch {
      throw WorkflowError(error)
    }
  }
}

extension [InputDeclaration] {
  /// Returns the recorded values of inputs that are still declared.
  package func given(_ recorded: [ReportedOutput]) -> [GivenInput] {
    recorded.compactMap { input in
      guard let value = input.value, contains(where: { $0.name.text == input.name }) else {
        return nil
      }
      return GivenInput(input.name, .value(value), .program)
    }
  }
}

/// Asks the embedding program through its callback.
private struct CallbackApprover: Approver {
  let approve: @Sendable (ApprovalRequest) async -> Bool

  /// The callback's task is cancelled when a stop is requested, and never waited for: a callback that ignores the
  /// cancellation would otherwise hold up the step, and with it the run. Its answer is then ignored.
  func ask(
    _ request: ApprovalRequest, stop: StopSwitch, reportAbsence: AbsenceReport?
  ) -> Future<ApprovalAnswer, Never> {
    let answer = Promise<ApprovalAnswer, Never>(ifDropped: .success(.rejected))
    let asked = Future<ApprovalAnswer, Never> {
      .ofProgram(await approve(request))
    }
    asked.whenSettled { answer.settle($0) }
    stop.whenRequested {
      asked.cancel()
      answer.succeed(.rejected)
    }
    return answer.future
  }
}

extension ApprovalAnswer {
  /// The answer of the embedding program.
  static func ofProgram(_ approves: Bool) -> ApprovalAnswer {
    approves ? .approved(by: "the program") : .rejected
  }
}
