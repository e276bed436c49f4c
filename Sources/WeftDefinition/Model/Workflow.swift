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
  /// The limit for the whole run, from its start.
  public var timeout: Duration?
  public var onFailure: FailureResponse
  /// The runs from which this one is kept apart; `nil` for none. It only applies to the file that is run, not
  /// to one that a step runs.
  public var concurrency: Concurrency?
  /// The pools that steps share; no two have the same name.
  public var pools: [Pool] = []
  /// Steps that run one after another when all others have ended, whatever the outcome.
  public var finally: [Step] = []
  /// Settings for steps that do not have their own.
  public var defaults = StepDefaults()
  /// The outputs of a run, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration]
  /// The texts of keys that an expression computes: ``ComputedKey/timeout`` and ``ComputedKey/maxParallel``.
  public var computed: [ComputedKey: String]
  /// The locations of the workflow's own texts that contain expressions.
  public var texts: Written<[TextPlace]>
  /// The file it was read from; `nil` if it was built in Swift.
  public var source: Written<SourceFile?>

  public init(
    name: String? = nil, description: String? = nil, body: StepGroup,
    settings: CommandSettings = CommandSettings(), timeout: Duration? = nil,
    onFailure: FailureResponse = .stop, outputs: [OutputDeclaration] = [],
    computed: [ComputedKey: String] = [:], source: SourceFile? = nil
  ) {
    self.name = name
    self.description = description
    self.body = body
    self.settings = settings
    self.timeout = timeout
    self.onFailure = onFailure
    self.outputs = outputs
    self.computed = computed
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

/// Settings for every step that runs something and does not have its own; not for groups.
public struct StepDefaults: Sendable, Hashable {
  public var timeout: Duration?
  public var retry: [RetryPolicy]?
  /// The shell of scripts; a shell of the workflow or of a group takes precedence.
  public var shell: Shell?
  /// The texts of keys that an expression computes, as if each step had them.
  public var computed: [ComputedKey: String]
  /// The locations of the texts that contain expressions.
  public var texts: Written<[TextPlace]>

  public init(
    timeout: Duration? = nil, retry: [RetryPolicy]? = nil, shell: Shell? = nil,
    computed: [ComputedKey: String] = [:], texts: [TextPlace] = []
  ) {
    self.timeout = timeout
    self.retry = retry
    self.shell = shell
    self.computed = computed
    self.texts = Written(texts)
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
