public import WeftDiagnostics

/// What is to be done, as written: steps, the order between them, and what surrounds them.
///
/// A workflow is decoded from JSON or built in Swift; both are the same value, and the planner turns
/// both into the same plan. Being a `Workflow` promises well-formed parts, not a sound whole: only a
/// plan promises that names resolve and that there is no cycle.
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
  /// What may be given from outside, in the order in which it is declared.
  public var inputs: [InputDeclaration] = []
  /// The top level is a group like any other, without an id.
  public var body: StepGroup
  /// What every step inherits.
  public var settings: CommandSettings
  /// In the order of the file; no two have the same name.
  public var secrets: [SecretDeclaration] = []
  /// How many attempts may run at once; `nil` leaves it to the engine (processor count, or `-j`).
  public var maxParallel: Int? {
    get { body.maxParallel }
    set { body.maxParallel = newValue }
  }
  /// Limits the whole run, from its start.
  public var timeout: Duration?
  public var onFailure: FailureResponse
  /// Which other runs this one is kept apart from; `nil`: none. Only of the file that is run, not of one that
  /// a step runs.
  public var concurrency: Concurrency?
  /// What steps share; no two have the same name.
  public var pools: [Pool] = []
  /// One after another when all else has ended, however it has.
  public var finally: [Step] = []
  /// What holds for steps that do not say otherwise.
  public var defaults = StepDefaults()
  /// What a run of it hands on, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration]
  /// Keys that an expression computes, each with its text: ``ComputedKey/timeout`` and
  /// ``ComputedKey/maxParallel``.
  public var computed: [ComputedKey: String]
  /// The texts of the workflow's own that have expressions in them.
  public var texts: Written<[TextPlace]>
  /// The file it was read from; `nil` when it was built in Swift.
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

  /// Steps one after another.
  public init(name: String? = nil, steps: [Step], onFailure: FailureResponse = .stop) {
    self.init(name: name, body: StepGroup(.steps, steps), onFailure: onFailure)
  }

  /// Steps side by side; with `needs` among them, a graph.
  public init(name: String? = nil, parallel: [Step], onFailure: FailureResponse = .stop) {
    self.init(name: name, body: StepGroup(.parallel, parallel), onFailure: onFailure)
  }
}

/// What holds for every step that runs something and does not say otherwise; for no group.
public struct StepDefaults: Sendable, Hashable {
  public var timeout: Duration?
  public var retry: [RetryPolicy]?
  /// Of scripts; a shell of the workflow or of a group says otherwise for all in it.
  public var shell: Shell?
  /// Keys that an expression computes, each with its text: as if each step had it.
  public var computed: [ComputedKey: String]
  /// The texts that have expressions in them.
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

/// What happens to the rest of a scope when something in it fails untolerated.
public enum FailureResponse: String, Sendable, Hashable, CaseIterable {
  /// Start nothing new, let the running finish.
  case stop
  /// Start nothing new, and end the running too.
  case cancel
  /// Go on with everything that does not depend on the failure; the run still fails.
  case `continue`
}
