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

  /// Whether it runs a command with options. Inlinable, so that testing every step copies no action.
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
