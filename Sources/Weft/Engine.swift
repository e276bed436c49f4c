import WeftCaching
public import WeftDefinition
import WeftDiagnostics
import WeftExecution
public import WeftHTTP
public import WeftJSON
public import WeftPlanning
import WeftPlatform
import WeftRecord

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
    /// The time limit of a run, counted from its start; `nil` uses the workflow's.
    public var timeout: Duration?
    /// The directory to which steps' working directories are relative; `nil` is the current directory.
    public var startDirectory: String?
    /// The grace period: the time between TERM and KILL for a program. A cancelled action that takes longer is
    /// left behind and its step ends without it.
    public var grace = Duration.seconds(10)
    /// The directory for results of steps with `cache`, created if missing; `nil` runs every step and keeps no
    /// result.
    public var cacheDirectory: String?
    /// The addresses of the steps and groups to run, with their dependencies; empty for all. The others are
    /// skipped (``SkipReason/notSelected``). `finally` runs in any case. A resumed run keeps the selection that
    /// it began with.
    public var only: [String] = []
    /// The addresses of steps and groups to skip as if their `if` were false; steps that need them still run.
    public var skip: [String] = []
    /// The addresses of the steps and groups to run, with their dependents; empty for all.
    public var from: [String] = []
    /// The cap on retries after failures of the classes `network` and `http` in a run: this percentage of its
    /// steps, plus 100. A retry beyond it is reported as refused (``StepEnd/notRetried``).
    public var retryBudgetPercent = 20

    public init() {}
  }

  private let options: Options
  private let actions: ActionRegistry
  private let approver: (any Approver)?
  private let transport: any Transport
  private let threads = BlockingThreads()

  /// - Parameters:
  ///   - actions: The actions that steps with `use` can name.
  ///   - transport: Sends the requests of `http` steps. `nil` uses libcurl, loaded by the first such step;
  ///     all runs of the engine share its connections.
  ///   - approve: Decides steps with `approve`: `true` approves, `false` fails the step. Called in a task of its
  ///     own, which is cancelled when the answer is no longer needed; the run neither waits for a cancelled task
  ///     nor uses its answer. Without it, such steps fail.
  /// - Precondition: No two actions have the same name.
  public init(
    options: Options = Options(), actions: [Action] = [], transport: (any Transport)? = nil,
    approve: (@Sendable (ApprovalRequest) async -> Bool)? = nil
  ) {
    self.options = options
    self.actions = ActionRegistry(actions)
    self.transport = transport ?? CurlTransport()
    approver = approve.map(CallbackApprover.init)
  }

  /// Checks a workflow and starts it. Returns at once, except for the time it takes to read the workflow's
  /// secrets, which includes the commands that print them.
  ///
  /// `concurrency` serializes a workflow with other runs of its key in this process. With the policies `wait`
  /// and `cancelPrevious` this blocks until such a run has ended, or the calling task is cancelled. A run with a
  /// ``RunStore`` is serialized with runs of other processes too.
  ///
  /// - Parameter inputs: Values by name, in upper or lower case; inputs with a default may be omitted.
  /// - Throws: All errors of the first of these that has any: the workflow, the inputs, the steps named in the
  ///   options, the secrets, the key of `concurrency` (held by another run). Nothing has been started then.
  public func start(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:]
  ) throws(WorkflowError) -> Run {
    try start(try plan(workflow), inputs: inputs)
  }

  /// Starts a plan. Returns at once, except for the time it takes to read its secrets.
  ///
  /// - Parameter inputs: Values by name, in upper or lower case; inputs with a default may be omitted.
  /// - Throws: All errors of the first of these that has any: the inputs, the steps named in the options, the
  ///   secrets. Nothing has been started then.
  public func start(
    _ plan: Plan, inputs: [String: JSONValue] = [:]
  ) throws(WorkflowError) -> Run {
    let made = try prepare(plan, .make(at: WallClock.now), inputs: inputs)
    let key: HeldKey?
    do { key = try waitForTurn(of: made, in: .process) } catch {
      throw WorkflowError(diagnostics: [
        Diagnostic(
          .error, code: "W0229", message: error.message, place: nil, help: error.help,
          key: "concurrency")
      ])
    }
    return launch(made.plan.leavingOut(made.leftOut), made.configuration, holding: key)
  }

  /// A plan with its values and its configuration.
  struct Preparation {
    let plan: Plan
    let run: RunID
    var configuration: EngineConfiguration
    /// The steps that are not selected.
    let leftOut: [Int]
  }

  /// Checks everything that can be wrong before anything starts.
  ///
  /// - Parameters:
  ///   - past: The opening record of the run to resume.
  ///   - directory: The absolute path of the directory of its journal, if it will have one.
  func prepare(
    _ plan: Plan, _ run: RunID, inputs: [String: JSONValue], after past: RecordOpening? = nil,
    directory: String? = nil
  ) throws(WorkflowError) -> Preparation {
    try checkOptions()
    var configuration = configuration
    configuration.inputs = try values(of: inputs, past?.inputs ?? [], for: plan.workflow)
    configuration.run = run
    configuration.runDirectory = directory
    let (bound, problems) = plan.bound(to: configuration.inputs, run: run, in: directory)
    guard problems.isEmpty else { throw WorkflowError(diagnostics: problems) }
    let leftOut: [Int]
    if let past {
      leftOut = bound.steps(called: past.leftOut)
    } else {
      leftOut = try stepsLeftOut(of: bound)
    }
    configuration.selection = Selection(leavingOut: leftOut, of: bound)
    configuration.secrets = try secrets(of: plan)
    return Preparation(plan: bound, run: run, configuration: configuration, leftOut: leftOut)
  }

  private func checkOptions() throws(WorkflowError) {
    let unfit = BuiltValues.unfitOptions(
      maxParallel: options.maxParallel, timeout: options.timeout, grace: options.grace,
      retryBudgetPercent: options.retryBudgetPercent, startDirectory: options.startDirectory,
      cacheDirectory: options.cacheDirectory)
    guard unfit.isEmpty else { throw WorkflowError(diagnostics: unfit) }
  }

  private func stepsLeftOut(of plan: Plan) throws(WorkflowError) -> [Int] {
    let choice = StepChoice(only: options.only, skip: options.skip, from: options.from)
    do throws(StepChoice.UnknownStep) { return try plan.stepsLeftOut(by: choice) } catch {
      throw WorkflowError(diagnostics: [
        Diagnostic(
          .error, code: "W0226",
          message:
            "the engine's options name \"\(error.name)\", which is not a step of this workflow",
          place: nil, help: error.nearest.asSuggestion)
      ])
    }
  }

  /// Blocks while another run has the key of the workflow's `concurrency`, or until the task is cancelled.
  ///
  /// - Returns: `nil` for a workflow without `concurrency`.
  func waitForTurn(
    of made: Preparation, in place: ConcurrencyTurn.Place
  ) throws(RunStoreError) -> HeldKey? {
    guard let concurrency = made.plan.workflow.concurrency else { return nil }
    let turn = ConcurrencyTurn(concurrency, of: made.run, in: place)
    switch try turn.wait(isGivenUp: { Task.isCancelled }) {
    case .begins(let key): return key
    case .givenUp:
      throw RunStoreError(
        message:
          "the task that waited for its turn with the key \"\(concurrency.key)\" was cancelled")
    }
  }

  /// - Parameter key: Held until the run has ended.
  func launch(_ plan: Plan, _ configuration: EngineConfiguration, holding key: HeldKey?) -> Run {
    do {
      let live = try RunEngine.start(plan, configuration: configuration, threads: threads)
      if let key {
        key.whenWanted { [weak live] in live?.cancel(.requested) }
        live.completion.whenSettled { _ in withExtendedLifetime(key) {} }
      }
      return Run(live)
    } catch {
      preconditionFailure("a containment that was left open cannot be had: \(error)")
    }
  }

  /// Checks a workflow without starting anything: the dry run.
  ///
  /// - Throws: Everything that is wrong with the workflow.
  public func plan(_ workflow: Workflow) throws(WorkflowError) -> Plan {
    let (plan, diagnostics) = Planner.plan(workflow, actions: actions.names)
    guard let plan else { throw WorkflowError(diagnostics: diagnostics) }
    return plan
  }

  private func secrets(of plan: Plan) throws(WorkflowError) -> RunSecrets {
    let reader = SecretReader(
      plan.usedSecrets, startDirectory: options.startDirectory)
    do { return try reader.read() } catch {
      throw WorkflowError(diagnostics: error.diagnostics)
    }
  }

  private func values(
    of inputs: [String: JSONValue], _ recorded: [HandedOn], for workflow: Workflow
  ) throws(WorkflowError) -> InputValues {
    let known = recorded.compactMap { input in
      input.value.map { GivenInput(input.name, .value($0), .program) }
    }
    // A dictionary has no order, but messages need one.
    let given = inputs.sorted { $0.key < $1.key }.map { name, value in
      GivenInput(name, .value(value), .program)
    }
    do {
      return try InputBinding.bind(
        workflow.inputs.demanding(recorded), known + given, inputSource: .program)
    } catch {
      throw WorkflowError(error)
    }
  }

  private func openCache(for configuration: inout EngineConfiguration) {
    guard let path = options.cacheDirectory else { return }
    do {
      configuration.cache = CacheAccess(try StepCache(path), stateDirectory: path)
    } catch {
      configuration.earlyWarnings.append(.noCache(because: error.message))
    }
  }

  private var configuration: EngineConfiguration {
    var configuration = EngineConfiguration()
    configuration.maxParallel = options.maxParallel
    configuration.onFailure = options.onFailure
    configuration.timeout = options.timeout
    configuration.retryBudgetPercent = options.retryBudgetPercent
    configuration.startDirectory = options.startDirectory
    configuration.stopPolicy.grace = options.grace
    configuration.approver = approver
    configuration.actions = actions
    configuration.transport = transport
    openCache(for: &configuration)
    return configuration
  }
}

extension Plan {
  fileprivate func steps(called addresses: [StepAddress]) -> [Int] {
    if addresses.isEmpty { return [] }
    let known = Set(addresses)
    return steps.indices.filter { known.contains(steps[$0].address) }
  }
}
