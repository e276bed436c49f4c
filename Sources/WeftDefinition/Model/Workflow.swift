public import WeftDiagnostics

/// A workflow as written: steps, the order between them, and their settings.
///
/// A workflow is decoded from JSON or built in Swift; both give the same value, and the planner turns both
/// into the same plan. A `Workflow` has well-formed parts, but need not be sound as a whole: only a plan
/// guarantees that names resolve and that there is no cycle.
///
/// ```swift
/// let workflow = Workflow(name: "release", steps: [
///   Step("build", run: "make all"),
///   Step("checks", parallel: [Step(run: "make test"), Step(run: "make lint")]),
/// ])
/// ```
public struct Workflow: Sendable, Hashable {
  public var name: String?
  public var description: String?
  /// The inputs in the order of their declarations.
  public var inputs: [InputDeclaration] = []
  /// The top level is a group like any other, without an id.
  public var body: StepGroup
  /// Settings that every step inherits.
  public var settings: CommandSettings
  /// The secrets in the order of the file; no two have the same name.
  public var secrets: [SecretDeclaration] = []
  /// The most attempts that may run at once; `nil` leaves it to the engine (processor count, or `-j`).
  public var maxParallel: Int? {
    get { body.maxParallel }
    set { body.maxParallel = newValue }
  }
  /// The time limit of the run, from its start, without the cleanups of the top level and ``finally``.
  @Computable public var timeout: Duration?
  public var onFailure: FailureResponse
  /// The runs from which this one is kept apart; `nil` for none. It only applies to the file that is run, not
  /// to one that a step runs.
  public var concurrency: Concurrency?
  /// The pools that steps share; no two have the same name.
  public var pools: [Pool] = []
  /// The places besides this machine where commands may run; no two have the same name.
  public var runners: [Runner] = []
  /// The values that are kept between runs, in the order of the file; no two have the same name. Only the file that
  /// is run may have them, not one that a step runs.
  public var state: [StateDeclaration] = []
  /// Steps that run one after another when all others have ended, whatever the outcome.
  public var finally: [Step] = []
  /// Settings for steps that do not have their own.
  public var defaults = StepDefaults()
  /// The outputs of a run, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration]
  /// The locations of the workflow's own texts that contain expressions.
  public var texts: Written<[TextPlace]>
  /// The file it was read from; `nil` if it was built in Swift.
  public var source: Written<SourceFile?>
  /// The script files that its steps name, each once.
  public var scripts = Written<[SourceFile]>([])

  public init(
    name: String? = nil, description: String? = nil, body: StepGroup,
    settings: CommandSettings = CommandSettings(), timeout: Duration? = nil,
    onFailure: FailureResponse = .stop, outputs: [OutputDeclaration] = [],
    source: SourceFile? = nil
  ) {
    self.name = name
    self.description = description
    self.body = body
    self.settings = settings
    self.timeout = timeout
    self.onFailure = onFailure
    self.outputs = outputs
    texts = Written([])
    self.source = Written(source)
  }

  /// Creates a workflow whose steps run one after another.
  public init(name: String? = nil, steps: [Step], onFailure: FailureResponse = .stop) {
    self.init(name: name, body: StepGroup(.steps, steps), onFailure: onFailure)
  }

  /// Creates a workflow whose steps run concurrently; with `needs` among them, they form a graph.
  public init(name: String? = nil, parallel: [Step], onFailure: FailureResponse = .stop) {
    self.init(name: name, body: StepGroup(.parallel, parallel), onFailure: onFailure)
  }
}

/// Settings for every step that runs something and does not have its own; not for groups and services.
public struct StepDefaults: Sendable, Hashable {
  @Computable public var timeout: Duration?
  public var retry: [RetryPolicy]?
  /// The shell of scripts; a shell of the workflow or of a group takes precedence.
  public var shell: Shell?

  public init(timeout: Duration? = nil, retry: [RetryPolicy]? = nil, shell: Shell? = nil) {
    self.timeout = timeout
    self.retry = retry
    self.shell = shell
  }
}

/// The effect of an untolerated failure on the rest of its scope.
public enum FailureResponse: String, Sendable, Hashable, CaseIterable {
  /// Starts nothing new, and lets running steps finish.
  case stop
  /// Starts nothing new, and cancels running steps.
  case cancel
  /// Continues with everything that does not depend on the failure; the run still fails.
  case `continue`
}

extension Workflow {
  /// The workflow without needs for steps whose ids were rejected: that no step has such an id only
  /// follows from that.
  func withoutNeeds(on ids: Set<String>) -> Workflow {
    guard !ids.isEmpty else { return self }
    var workflow = self
    workflow.body = body.withoutNeeds(on: ids)
    workflow.finally = finally.map { $0.withoutNeeds(on: ids) }
    return workflow
  }
}

extension StepGroup {
  /// Recursive: groups are at most ``WorkflowLimits/groupDepth`` deep.
  fileprivate func withoutNeeds(on ids: Set<String>) -> StepGroup {
    var group = self
    group.members = members.map { $0.withoutNeeds(on: ids) }
    return group
  }
}

extension Step {
  fileprivate func withoutNeeds(on ids: Set<String>) -> Step {
    var step = self
    step.needs?.removeAll { ids.contains($0.name) }
    if hasControl, !control.cleanup.isEmpty {
      step.control.cleanup = control.cleanup.map { $0.withoutNeeds(on: ids) }
    }
    if case .group(let group) = action {
      step.action = .group(group.withoutNeeds(on: ids))
    } else if case .log(let need)? = action.command?.stdin, ids.contains(need.name) {
      step.action.command?.stdin = nil
    }
    return step
  }
}

extension Workflow {
  /// The workflow with ``defaults`` applied to the steps that they concern.
  ///
  /// A timeout and a retry policy are set on every step with a command, an action or a request that has none of its
  /// own, including those in ``finally`` and in cleanups. The shell is set on the workflow, whose steps inherit it.
  /// Groups, services, and steps that run nothing, are not changed. Other files have their own defaults. A second call changes
  /// nothing more.
  public func withDefaults() -> Workflow {
    guard defaults != StepDefaults() else { return self }
    var workflow = self
    if settings.shell == nil { workflow.settings.shell = defaults.shell }
    guard defaults.concernsSteps else { return workflow }
    workflow.body.members = defaults.applied(to: body.members, depth: 0)
    workflow.finally = defaults.applied(to: finally, depth: 0)
    return workflow
  }
}

extension StepDefaults {
  fileprivate var concernsSteps: Bool { $timeout != .literal(nil) || retry != nil }

  /// Groups nested deeper than the limit are not changed: the planner rejects them.
  fileprivate func applied(to steps: [Step], depth: Int) -> [Step] {
    steps.map { applied(to: $0, depth: depth) }
  }

  private func applied(to step: Step, depth: Int) -> Step {
    var step = step
    if step.action.kind.makesAttempts, !step.isService {
      if step.$timeout == .literal(nil) { step.$timeout = $timeout }
      if let retry, !step.hasControl || step.control.retry.isEmpty { step.control.retry = retry }
    } else if case .group(var group) = step.action, depth <= WorkflowLimits.groupDepth {
      group.members = applied(to: group.members, depth: depth + 1)
      step.action = .group(group)
    }
    if step.hasControl, !step.control.cleanup.isEmpty {
      step.control.cleanup = applied(to: step.control.cleanup, depth: depth)
    }
    return step
  }
}

extension Step {
  fileprivate var isService: Bool {
    if case .run(let command) = action { command.service != nil } else { false }
  }
}

/// Keeps runs with the same key apart: only one of them is active at a time.
public struct Concurrency: Sendable, Hashable {
  /// The behavior of a run while another one with the same key is active.
  public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// Waits until the other one has ended.
    case wait
    /// Does not start.
    case refuse
    /// Cancels the other one and waits until it has ended; if several wait, the latest run wins.
    case cancelPrevious
  }

  /// Any text; its expressions may read `inputs`, `run` and `workflow`.
  public var key: String
  public var policy: Policy

  public init(key: String, policy: Policy = .wait) {
    self.key = key
    self.policy = policy
  }
}
