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
  @Computable public var timeout: Duration?
  /// The failures that do not fail the run.
  @Computable public var allowFailure: FailureTolerance
  /// The declared outputs, in the order of the file; no two have the same name.
  public var outputs: [OutputDeclaration]
  /// Boxed because few steps have any control options, and there may be very many steps.
  @usableFromInline var boxedControl: Boxed<StepControl>?
  /// The locations of the step and of its id in the file.
  public var place: Written<StepPlace?>

  public init(
    id: StepID? = nil, name: String? = nil, description: String? = nil, action: StepAction,
    needs: [Need]? = nil, settings: CommandSettings = CommandSettings(), timeout: Duration? = nil,
    allowFailure: FailureTolerance = .none, outputs: [OutputDeclaration] = [],
    control: StepControl? = nil, place: StepPlace? = nil
  ) {
    self.id = id
    self.name = name
    self.description = description
    self.action = action
    self.needs = needs
    self.settings = settings
    self.timeout = timeout
    self.allowFailure = allowFailure
    self.outputs = outputs
    self.place = Written(place)
    if let control { self.control = control }
  }
}

extension Step {
  // These properties are read for every step. They are inlinable, because an opaque getter would copy the step.

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
}

/// The location of a step in its file.
public struct StepPlace: Sendable, Hashable {
  /// The whole step.
  public var step: SourceRange
  /// The value of its `id`, with quotes.
  public var id: SourceRange?
  /// Its texts that contain expressions, except for those with a location of their own, such as conditions; and the
  /// script of a step with `cache`, or with `script`.
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

  /// The step, run once for each file that matches a pattern, with its path as the element and its key:
  /// `.forEach(files: "src/**/*.c", as: "file")`.
  ///
  /// - Parameter patterns: At least one; see ``Listing/files(_:)``.
  public func forEach(
    files patterns: String..., as name: String? = nil, maxParallel: Int? = nil,
    tolerating tolerance: FanOutTolerance = .count(0)
  ) -> Step {
    forEach(
      ForEach(
        in: .files(patterns), as: name, key: "item", maxParallel: maxParallel,
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

/// The condition, retries, loop, pools and cleanup of a step. Most steps have none of them.
public struct StepControl: Sendable, Hashable {
  /// The condition for running it; `nil` if its dependencies must have succeeded.
  public var condition: Condition?
  /// The retry policies; empty if none is given, and then nothing is retried. A policy without attempts disables
  /// retries, whatever ``Workflow/defaults`` say.
  public var retry: [RetryPolicy]
  /// The loop that runs it once for each element.
  public var fanOut: FanOut?
  /// The slots that an attempt takes from pools, all at once; no pool occurs twice.
  public var pools: [PoolRequest]
  /// Steps that run when the enclosing group, or the run, ends, if this step was started.
  public var cleanup: [Step]
  /// Whether running it twice has the same effect as running it once; `nil` if that is not given.
  public var isIdempotent: Bool?
  /// The treatment of an interrupted attempt in a resumed run; `nil` to rerun it if the step is idempotent.
  public var onInterrupted: InterruptionResponse?

  public init(
    condition: Condition? = nil, retry: [RetryPolicy] = [], fanOut: FanOut? = nil,
    pools: [PoolRequest] = [], cleanup: [Step] = [], isIdempotent: Bool? = nil,
    onInterrupted: InterruptionResponse? = nil
  ) {
    self.condition = condition
    self.retry = retry
    self.fanOut = fanOut
    self.pools = pools
    self.cleanup = cleanup
    self.isIdempotent = isIdempotent
    self.onInterrupted = onInterrupted
  }

}

extension Step {
  /// Whether an interrupted attempt, of which it is unknown how far it got, is rerun.
  public var isMadeAgain: Bool {
    switch control.onInterrupted {
    case .rerun?: true
    case .fail?: false
    case nil, .adopt?: control.isIdempotent ?? (action.model.repetition == .harmless)
    }
  }

  /// Whether it declares that it may be repeated, or that it must not be; `nil` if it declares nothing.
  package var declaredRepeatability: Bool? {
    control.isIdempotent == nil && control.onInterrupted == nil ? nil : isMadeAgain
  }

  /// Whether it declares that it must not be rerun, or is a request, which is known not to be idempotent. A
  /// command without a declaration may be either.
  @usableFromInline package var mustNotBeRepeated: Bool {
    guard !isMadeAgain else { return false }
    return action.model.repetition == .harmful || control.onInterrupted == .fail
      || control.isIdempotent == false
  }
}

/// The treatment of a step that was running when the engine was killed.
public enum InterruptionResponse: String, Sendable, Hashable, CaseIterable {
  /// It is rerun.
  case rerun
  /// It fails, until a person permits a rerun.
  case fail
  /// A command that still runs is kept, and one that has ended meanwhile has ended as it did. Where that is impossible,
  /// it is treated as if nothing was given.
  case adopt
}

/// An `if`: an expression, bare or as `${{ … }}`.
public struct Condition: Sendable, Hashable {
  /// The expression as written.
  public var text: String
  /// Its location, with its quotes if it has any: `true` and `false` may be written without.
  public var place: Written<SourceRange?>

  public init(_ text: String, place: SourceRange? = nil) {
    self.text = text
    self.place = Written(place)
  }
}

extension Condition {
  /// The expression without `${{` and `}}` around it.
  package var bareText: String {
    var text = text[...]
    if text.hasPrefix("${{"), text.hasSuffix("}}") { text = text.dropFirst(3).dropLast(2) }
    while text.last?.isWhitespace == true { text.removeLast() }
    return String(text.drop(while: \.isWhitespace))
  }
}

extension Condition: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self.init(text) }
}
