public import WeftDiagnostics

/// One step of a workflow: an action, its dependencies and its settings.
public struct Step: Sendable, Hashable {
  /// `nil` if the step is addressed by its position.
  public var id: StepID?
  /// The name that people see instead of the address.
  public var name: String?
  public var description: String?
  public var action: StepAction
  /// The exact dependencies of the step; `nil` if they follow from its position in the enclosing group.
  public var needs: [Need]?
  /// Settings for the step's command, or for every command of the group.
  public var settings: CommandSettings
  /// The limit for one attempt, from its start; for a group, from the moment its dependencies are done.
  public var timeout: Duration?
  /// The failures that do not fail the run.
  public var allowFailure: FailureTolerance
  /// Boxed because few steps have outputs or computed keys, and there may be very many steps.
  @usableFromInline var boxedValues: Boxed<Values>?
  @usableFromInline var boxedControl: Boxed<StepControl>?
  /// The locations of the step and of its id in the file.
  public var place: Written<StepPlace?>

  public init(
    id: StepID? = nil, name: String? = nil, description: String? = nil, action: StepAction,
    needs: [Need]? = nil, settings: CommandSettings = CommandSettings(), timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none, outputs: [OutputDeclaration] = [],
    computed: [ComputedKey: String] = [:], control: StepControl? = nil,
    place: StepPlace? = nil
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.action = action
    self.needs = needs
    self.settings = settings
    self.timeout = timeout
    self.allowFailure = allowFailure
    self.place = Written(place)
    // Most steps have neither, and comparing with the defaults takes longer than the rest.
    if !outputs.isEmpty || !computed.isEmpty {
      boxedValues = .holding(Values(outputs: outputs, computed: computed))
    }
    if let control { self.control = control }
  }
}

extension Step {
  @usableFromInline struct Values: Sendable, Hashable {
    var outputs: [OutputDeclaration] = []
    var computed: [ComputedKey: String] = [:]
  }

  private var values: Values {
    get { boxedValues?.value ?? Values() }
    set { boxedValues = newValue == Values() ? nil : .holding(newValue) }
  }

  // These properties are read for every step. They are inlinable, because an opaque getter would copy the step.

  /// Whether it has outputs or computed keys.
  @inlinable package var hasValues: Bool { boxedValues != nil }

  /// Its condition, retries, loop, pools and cleanup.
  public var control: StepControl {
    get { boxedControl?.value ?? StepControl() }
    set { boxedControl = newValue == StepControl() ? nil : .holding(newValue) }
  }

  /// Whether it runs another file. Inlinable, so that testing every step copies no action.
  @inlinable package var runsAnotherFile: Bool {
    if case .workflow = action { true } else { false }
  }

  /// Whether it calls a registered action. Inlinable for the same reason.
  @inlinable package var callsAction: Bool {
    if case .use = action { true } else { false }
  }

  /// Whether it sends a request. Inlinable for the same reason.
  @inlinable package var sendsRequest: Bool {
    if case .http = action { true } else { false }
  }

  /// Whether it runs a command with options. Inlinable for the same reason.
  @inlinable package var hasCommandOptions: Bool {
    if case .run(let command) = action { command.hasOptions } else { false }
  }

  /// Whether anything of ``control`` is set.
  @inlinable package var hasControl: Bool { boxedControl != nil }

  /// The declared outputs, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration] {
    get { values.outputs }
    set { values.outputs = newValue }
  }

  /// The texts of keys that an expression computes; the property of such a key is unset.
  public var computed: [ComputedKey: String] {
    get { values.computed }
    set { values.computed = newValue }
  }
}

/// The location of a step in its file.
public struct StepPlace: Sendable, Hashable {
  /// The whole step.
  public var step: SourceRange
  /// The value of its `id`, with quotes.
  public var id: SourceRange?
  /// Its texts that contain expressions, and the script of a step with `cache`.
  public var texts: [TextPlace]

  public init(step: SourceRange, id: SourceRange? = nil, texts: [TextPlace] = []) {
    self.step = step
    self.id = id
    self.texts = texts
  }
}

/// One entry of `needs`: the id of the step or group to wait for.
public struct Need: Sendable, Hashable {
  /// The id as written; the planner checks that such a step exists.
  public var name: String
  public var place: Written<SourceRange?>

  public init(_ name: String, place: SourceRange? = nil) {
    self.name = name
    self.place = Written(place)
  }
}

extension Need: ExpressibleByStringLiteral {
  public init(stringLiteral name: String) { self.init(name) }
}

/// The action of a step.
public enum StepAction: Sendable, Hashable {
  /// Runs a program or a script.
  case run(Command)
  /// Runs other steps.
  case group(StepGroup)
  /// Runs nothing, and computes its outputs.
  case compute
  /// Runs nothing, and waits without holding a slot.
  indirect case wait(Waiting)
  /// Runs nothing, and asks a person for approval.
  indirect case approve(Approval)
  /// Runs the steps of another file.
  indirect case workflow(NestedWorkflow)
  /// Runs an action that the embedding program has registered.
  indirect case use(ActionCall)
  /// Sends an HTTP request.
  indirect case http(HTTPCall)
}

/// A group of steps, and the order between them.
public struct StepGroup: Sendable, Hashable {
  public enum Order: String, Sendable, Hashable, CaseIterable {
    /// Each member waits for the one before it, unless it has `needs`.
    case steps
    /// A member waits only for the start of the group, unless it has `needs`.
    case parallel
    /// All members start; the first to succeed cancels the others.
    case race
  }

  /// The condition for the end of a group whose members run concurrently.
  public enum Join: Sendable, Hashable {
    /// All members have ended.
    case all
    /// This many members have succeeded; the others are cancelled.
    case atLeast(Int)
  }

  public var order: Order
  public var members: [Step]
  /// The most attempts inside that may run at once; `nil` for no limit besides those of enclosing scopes.
  public var maxParallel: Int?
  /// The condition for the end of an ``Order/parallel`` group.
  public var join: Join

  public init(
    _ order: Order, _ members: [Step], maxParallel: Int? = nil, join: Join = .all
  ) {
    self.order = order
    self.members = members
    self.maxParallel = maxParallel
    self.join = join
  }
}
