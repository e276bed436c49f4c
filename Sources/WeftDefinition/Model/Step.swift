public import WeftDiagnostics

/// One step of a workflow: an action, what must come before it, and what surrounds it.
public struct Step: Sendable, Hashable {
  /// Without one the step is addressed by its position.
  public var id: StepID?
  /// What people see instead of the address.
  public var name: String?
  public var description: String?
  public var action: StepAction
  /// Exactly what the step waits for; `nil` leaves it to its place in the enclosing group.
  public var needs: [Need]?
  /// What the step's command, or every command of the group, sees around it.
  public var settings: CommandSettings
  /// Limits one attempt, from its start; of a group, from the moment its dependencies are done.
  public var timeout: Duration?
  /// Which failures the run survives.
  public var allowFailure: FailureTolerance
  /// Few steps have outputs or computed keys, and there may be very many steps.
  @usableFromInline var boxedValues: Boxed<Values>?
  @usableFromInline var boxedControl: Boxed<StepControl>?
  /// Where the step, and its id, stand in the file.
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
    // Most steps have neither; to compare with what there would be by default takes longer than the rest.
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

  // The two are asked of every step, and to ask what cannot be looked into takes a copy of the step.

  /// Whether it has outputs or computed keys.
  @inlinable package var hasValues: Bool { boxedValues != nil }

  /// What decides whether, how often, and beside what it runs.
  public var control: StepControl {
    get { boxedControl?.value ?? StepControl() }
    set { boxedControl = newValue == StepControl() ? nil : .holding(newValue) }
  }

  /// Asked of every step: without a copy of the action.
  @inlinable package var runsAnotherFile: Bool {
    if case .workflow = action { true } else { false }
  }

  /// Likewise.
  @inlinable package var callsAction: Bool {
    if case .use = action { true } else { false }
  }

  /// Likewise.
  @inlinable package var sendsRequest: Bool {
    if case .http = action { true } else { false }
  }

  /// Likewise: whether what it runs is treated in another way than most.
  @inlinable package var hasCommandOptions: Bool {
    if case .run(let command) = action { command.hasOptions } else { false }
  }

  /// Whether anything of ``control`` is set.
  @inlinable package var hasControl: Bool { boxedControl != nil }

  /// What it hands on, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration] {
    get { values.outputs }
    set { values.outputs = newValue }
  }

  /// Keys that an expression computes, each with its text; the property of such a key is as if it were
  /// not set.
  public var computed: [ComputedKey: String] {
    get { values.computed }
    set { values.computed = newValue }
  }
}

/// Where a step stands in its file.
public struct StepPlace: Sendable, Hashable {
  /// The whole step.
  public var step: SourceRange
  /// The value of its `id`, with quotes.
  public var id: SourceRange?
  /// Its texts that have expressions in them, and the script of a step with `cache`.
  public var texts: [TextPlace]

  public init(step: SourceRange, id: SourceRange? = nil, texts: [TextPlace] = []) {
    self.step = step
    self.id = id
    self.texts = texts
  }
}

/// One entry of `needs`: the step or group to wait for, by its id.
public struct Need: Sendable, Hashable {
  /// As written; whether such a step exists is for the planner to find out.
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

/// What a step does.
public enum StepAction: Sendable, Hashable {
  /// Runs a program or a script.
  case run(Command)
  /// Runs other steps.
  case group(StepGroup)
  /// Runs nothing: it computes its outputs.
  case compute
  /// Runs nothing: it waits, without a slot.
  indirect case wait(Waiting)
  /// Runs nothing: it asks a person.
  indirect case approve(Approval)
  /// Runs another file's steps.
  indirect case workflow(NestedWorkflow)
  /// Runs an action that the embedding program has registered.
  indirect case use(ActionCall)
  /// Sends an HTTP request.
  indirect case http(HTTPCall)
}

/// Steps that belong together, and the order between them.
public struct StepGroup: Sendable, Hashable {
  public enum Order: String, Sendable, Hashable, CaseIterable {
    /// Each member waits for the one before it, unless it has `needs`.
    case steps
    /// A member waits for the group's own start alone, unless it has `needs`.
    case parallel
    /// All members start; the first that succeeds ends the others.
    case race
  }

  /// When a group whose members run side by side is over.
  public enum Join: Sendable, Hashable {
    /// When all have ended.
    case all
    /// When so many have succeeded; the others are ended.
    case atLeast(Int)
  }

  public var order: Order
  public var members: [Step]
  /// How many attempts inside may run at once; `nil` is no limit besides the outer ones.
  public var maxParallel: Int?
  /// Of ``Order/parallel``.
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
