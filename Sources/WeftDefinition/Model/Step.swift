public import WeftDiagnostics
import WeftJSON

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

extension Step {
  /// The step, run only if an expression is true: `Step(run: "make install").if("inputs.install")`.
  public func `if`(_ condition: Condition) -> Step {
    changing { $0.control.condition = condition }
  }

  /// The step, retried up to this many times after a failure that may be temporary, or never: `.retry(0)`.
  public func retry(_ further: Int) -> Step { retry(RetryPolicy(max: further)) }

  /// The step, retried by policies with separate counters: the first one that applies to a failure handles
  /// it, even if it has no attempts left.
  public func retry(_ policies: RetryPolicy...) -> Step {
    changing { $0.control.retry = policies }
  }

  /// The step, run once for each element of an expression: `.forEach("${{ steps.list.json }}")`.
  ///
  /// - Parameters:
  ///   - elements: A text that is exactly one expression, which evaluates to an array or an object.
  ///   - name: A name for the element in expressions, besides `item`.
  ///   - key: An expression for the name of an element; by default its index, or its key in an object.
  ///   - tolerance: The elements that may fail without failing the loop.
  public func forEach(
    _ elements: Condition, as name: String? = nil, key: Condition? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) -> Step {
    forEach(
      ForEach(
        in: .computed(elements), as: name, key: key, maxParallel: maxParallel,
        tolerating: tolerance))
  }

  /// The step, run once for each of these strings: `.forEach(["linux", "macos"], as: "os")`.
  public func forEach(
    _ elements: [String], as name: String? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) -> Step {
    forEach(
      ForEach(
        in: .values(.array(elements.map(JSONValue.string))), as: name, maxParallel: maxParallel,
        tolerating: tolerance))
  }

  /// The step, run once for each element.
  public func forEach(_ loop: ForEach) -> Step { changing { $0.control.fanOut = .forEach(loop) } }

  /// The step, run once for each combination of values.
  public func matrix(_ matrix: Matrix) -> Step { changing { $0.control.fanOut = .matrix(matrix) } }

  /// The step, run once for each combination of these strings: `.matrix(["os": ["linux", "macos"]])`.
  ///
  /// - Precondition: No axis occurs twice.
  public func matrix(_ axes: KeyValuePairs<String, [String]>) -> Step {
    precondition(Set(axes.map(\.key)).count == axes.count, "an axis is repeated")
    return matrix(
      Matrix(
        axes: axes.map { Matrix.Axis($0.key, .values(.array($0.value.map(JSONValue.string)))) })
    )
  }

  /// The step, which holds slots of a pool while an attempt runs, besides any it already requests.
  public func pool(_ name: String, slots: Int = 1) -> Step {
    changing { $0.control.pools.append(PoolRequest(name, slots: slots)) }
  }

  /// The step with cleanup steps: if it was started, they run one after another when the enclosing group, or
  /// the run, ends.
  public func cleanup(_ steps: Step...) -> Step { changing { $0.control.cleanup = steps } }

  private func changing(_ change: (inout Step) -> Void) -> Step {
    var step = self
    change(&step)
    return step
  }
}

/// Initializers for the usual steps. A step without an id is addressed by its position. The id is not
/// optional, because one that `StepID(_:)` rejects would then be dropped silently.
extension Step {
  /// A step that runs a script in its shell.
  public init(
    _ id: StepID = .unnamed, run script: String, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(Command(.script(script))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a program directly, without a shell.
  ///
  /// - Parameter arguments: The program and its arguments.
  public init(
    _ id: StepID = .unnamed, run arguments: [String], needs: [Need]? = nil,
    timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(Command(.program(arguments))), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs a command.
  public init(
    _ id: StepID = .unnamed, _ command: Command, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .run(command), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run one after another.
  public init(
    _ id: StepID = .unnamed, steps members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.steps, members)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A group whose members run concurrently, until all have ended or `join` is satisfied.
  public init(
    _ id: StepID = .unnamed, parallel members: [Step], needs: [Need]? = nil,
    timeout: Duration? = nil,
    maxParallel: Int? = nil, join: StepGroup.Join = .all, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given,
      action: .group(StepGroup(.parallel, members, maxParallel: maxParallel, join: join)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A group whose members all start; the first to succeed cancels the others. There is at least one member.
  public init(
    _ id: StepID = .unnamed, race members: [Step], needs: [Need]? = nil, timeout: Duration? = nil,
    maxParallel: Int? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .group(StepGroup(.race, members, maxParallel: maxParallel)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that waits without holding a slot.
  public init(_ id: StepID = .unnamed, wait duration: Duration, needs: [Need]? = nil) {
    self.init(id, wait: .duration(duration), needs: needs)
  }

  /// A step that waits for a duration or until a moment, without holding a slot.
  public init(_ id: StepID = .unnamed, wait: Waiting, needs: [Need]? = nil) {
    self.init(id: id.given, action: .wait(wait), needs: needs)
  }

  /// A step that asks for a person's approval, and fails as `rejected` if the answer is no.
  public init(
    _ id: StepID = .unnamed, approve message: String, needs: [Need]? = nil,
    timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .approve(Approval(message: message)), needs: needs, timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that runs another workflow as part of the graph.
  ///
  /// - Parameters:
  ///   - workflow: The workflow to run. Messages name it by its file, or else by its name.
  ///   - parameters: Values for its inputs.
  public init(
    _ id: StepID = .unnamed, workflow: Workflow, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    let path = workflow.source.value?.path ?? workflow.name ?? ""
    self.init(
      id: id.given,
      action: .workflow(NestedWorkflow(path: path, parameters: parameters, workflow: workflow)),
      needs: needs, timeout: timeout, allowFailure: allowFailure)
  }

  /// A step that runs an action which the embedding program has registered.
  ///
  /// - Parameter parameters: The parameters of the action, by name.
  public init(
    _ id: StepID = .unnamed, use action: ActionName, with parameters: [Parameter] = [],
    needs: [Need]? = nil, timeout: Duration? = nil, allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .use(ActionCall(action, with: parameters)), needs: needs,
      timeout: timeout,
      allowFailure: allowFailure)
  }

  /// A step that sends an HTTP request.
  public init(
    _ id: StepID = .unnamed, http call: HTTPCall, needs: [Need]? = nil, timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none
  ) {
    self.init(
      id: id.given, action: .http(call), needs: needs, timeout: timeout, allowFailure: allowFailure)
  }
}
