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
/// An engine has threads of its own: running programs, and actions, block those, never the host's. It installs no
/// signal handlers, waits for no processes but those that it started, and writes nothing but an unlinked
/// temporary file per run, what a ``RunStore`` is given, and ``Options/cacheDirectory``. Any number of runs may go on at
/// once; each has its own limit of parallel
/// steps. A run goes on when the engine is released.
public final class Engine: Sendable {
  /// How a run is carried out, beside what the workflow says.
  public struct Options: Sendable, Hashable {
    /// How many steps of a run may run at once; `nil`: what the workflow says, else the number of
    /// processors.
    public var maxParallel: Int?
    /// What a failure means for the rest; `nil`: what the workflow says.
    public var onFailure: FailureResponse?
    /// Limits a run, from its start; `nil`: what the workflow says.
    public var timeout: Duration?
    /// What working directories of steps are relative to; `nil`: where the process stands.
    public var startDirectory: String?
    /// How long a step may take to end after TERM before it is killed; an action, after it was cancelled,
    /// before its step ends without it.
    public var grace = Duration.seconds(10)
    /// Where what steps with `cache` make is kept for later runs; made where it is missing. `nil`: nothing is kept,
    /// and every step is run.
    public var cacheDirectory: String?
    /// Of the steps and groups, by their addresses, only these and what they need; empty: all. The others count as
    /// skipped (``SkipReason/notSelected``). What is done finally is done all the same. Of a run that is gone on
    /// with, what it began with holds.
    public var only: [String] = []
    /// Not these steps and groups, which count as skipped by their own conditions: what needs them goes on.
    public var skip: [String] = []
    /// Of the steps and groups only these and what depends on them; empty: all.
    public var from: [String] = []
    /// How many further attempts there may be in all for a hundred steps, beside a hundred in any case, of
    /// failures of the classes `network` and `http`; what it refuses says so (``StepEnd/notRetried``).
    public var retryBudgetPercent = 20

    public init() {}
  }

  private let options: Options
  private let actions: ActionRegistry
  private let approver: (any Approver)?
  private let transport: any Transport
  private let threads = BlockingThreads()

  /// - Parameters:
  ///   - actions: What steps with `use` may name, and run.
  ///   - transport: By what steps with `http` send their requests. `nil`: by libcurl, which the first of them
  ///     opens; all runs of the engine share its connections.
  ///   - approve: Asked by steps with `approve`, in a task of its own that is cancelled when the answer is
  ///     wanted no more; `true` lets the run go on, `false` fails the step. Without it such steps fail. The run does
  ///     not wait for a cancelled task, whose answer counts for nothing.
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

  /// Checks a workflow and starts it. Returns at once, but for the time that it takes to read the
  /// workflow's secrets, if it has any: that of the commands that print them.
  ///
  /// A workflow with `concurrency` is kept apart from other runs of its key in this process. With the policies `wait`
  /// and `cancelPrevious` this blocks until such a run has ended, or the calling task is cancelled. A run with a
  /// ``RunStore`` is kept apart from other processes' runs too.
  ///
  /// - Parameter inputs: Values by name, in upper or lower case; those that have a default may be left out.
  /// - Throws: Everything that is wrong with the workflow, else with the inputs, else a step in the options that
  ///   it does not have, else secrets that cannot be read, else that another run has the key of its `concurrency`;
  ///   nothing has been started then.
  public func start(
    _ workflow: Workflow, inputs: [String: JSONValue] = [:]
  ) throws(WorkflowRejected) -> Run {
    try start(try plan(workflow), inputs: inputs)
  }

  /// Starts a plan. Returns at once, but for the time that it takes to read its secrets.
  ///
  /// - Parameter inputs: Values by name, in upper or lower case; those that have a default may be left out.
  /// - Throws: Everything that is wrong with the inputs, else a step in the options that the plan does not have,
  ///   else the secrets that cannot be read; nothing has been started then.
  public func start(
    _ plan: Plan, inputs: [String: JSONValue] = [:]
  ) throws(WorkflowRejected) -> Run {
    let made = try prepare(plan, .make(at: WallClock.now), inputs: inputs)
    let key: HeldKey?
    do { key = try waitForTurn(of: made, in: .process) } catch {
      throw WorkflowRejected(diagnostics: [
        Diagnostic(
          .error, code: "W0229", message: error.message, place: nil, help: error.help,
          key: "concurrency")
      ])
    }
    return launch(made.plan.leavingOut(made.leftOut), made.configuration, holding: key)
  }

  /// A plan with its values, and how it is to be carried out.
  struct Preparation {
    let plan: Plan
    let run: RunID
    var configuration: EngineConfiguration
    /// The steps that nobody has asked for.
    let leftOut: [Int]
  }

  /// All that can be wrong before anything is started.
  ///
  /// - Parameters:
  ///   - past: The opening of the run that is resumed.
  ///   - directory: The directory of its record, from the root, if it will have one.
  func prepare(
    _ plan: Plan, _ run: RunID, inputs: [String: JSONValue], after past: RecordOpening? = nil,
    directory: String? = nil
  ) throws(WorkflowRejected) -> Preparation {
    try checkOptions()
    var configuration = configuration
    configuration.inputs = try values(of: inputs, past?.inputs ?? [], for: plan.workflow)
    configuration.run = run
    configuration.runDirectory = directory
    let (bound, problems) = plan.bound(to: configuration.inputs, run: run, in: directory)
    guard problems.isEmpty else { throw WorkflowRejected(diagnostics: problems) }
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

  private func checkOptions() throws(WorkflowRejected) {
    let unfit = BuiltValues.unfitOptions(
      maxParallel: options.maxParallel, timeout: options.timeout, grace: options.grace,
      retryBudgetPercent: options.retryBudgetPercent, startDirectory: options.startDirectory,
      cacheDirectory: options.cacheDirectory)
    guard unfit.isEmpty else {
      throw WorkflowRejected(
        diagnostics: unfit.map {
          Diagnostic(
            .error, code: $0.code.rawValue, message: $0.message, place: nil, help: $0.help,
            key: $0.key)
        })
    }
  }

  private func stepsLeftOut(of plan: Plan) throws(WorkflowRejected) -> [Int] {
    let choice = StepChoice(only: options.only, skip: options.skip, from: options.from)
    do throws(StepChoice.UnknownStep) { return try plan.stepsLeftOut(by: choice) } catch {
      throw WorkflowRejected(diagnostics: [
        Diagnostic(
          .error, code: "W0226",
          message:
            "the engine's options name \"\(error.name)\", which is not a step of this workflow",
          place: nil, help: error.nearest.map { "did you mean \"\($0)\"?" })
      ])
    }
  }

  /// Blocks while another run has the key of the workflow's `concurrency`, in a cancelled task not any longer.
  ///
  /// - Returns: `nil` of a workflow without `concurrency`.
  func waitForTurn(
    of made: Preparation, in place: ConcurrencyTurn.Place
  ) throws(RunStoreFault) -> HeldKey? {
    guard let concurrency = made.plan.workflow.concurrency else { return nil }
    let turn = ConcurrencyTurn(concurrency, of: made.run, in: place)
    switch try turn.wait(isGivenUp: { Task.isCancelled }) {
    case .begins(let key): return key
    case .givenUp:
      throw RunStoreFault(
        message:
          "the task that waited for its turn with the key \"\(concurrency.key)\" was cancelled")
    }
  }

  /// - Parameter key: Held until the run has ended.
  func launch(_ plan: Plan, _ configuration: EngineConfiguration, holding key: HeldKey?) -> Run {
    do {
      let live = try LiveRun.start(plan, configuration: configuration, threads: threads)
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
  public func plan(_ workflow: Workflow) throws(WorkflowRejected) -> Plan {
    let (plan, diagnostics) = Planner.plan(workflow, actions: actions.names)
    guard let plan else { throw WorkflowRejected(diagnostics: diagnostics) }
    return plan
  }

  private func secrets(of plan: Plan) throws(WorkflowRejected) -> RunSecrets {
    let reader = SecretReader(
      plan.usedSecrets, startDirectory: options.startDirectory)
    do { return try reader.read() } catch {
      throw WorkflowRejected(diagnostics: error.diagnostics)
    }
  }

  private func values(
    of inputs: [String: JSONValue], _ recorded: [HandedOn], for workflow: Workflow
  ) throws(WorkflowRejected) -> InputValues {
    let known = recorded.compactMap { input in
      input.value.map { GivenInput(input.name, .value($0), .program) }
    }
    // A dictionary has no order, and messages need one.
    let given = inputs.sorted { $0.key < $1.key }.map { name, value in
      GivenInput(name, .value(value), .program)
    }
    do {
      return try InputBinding.bind(
        workflow.inputs.demanding(recorded), known + given, manner: .program)
    } catch {
      throw WorkflowRejected(error)
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
