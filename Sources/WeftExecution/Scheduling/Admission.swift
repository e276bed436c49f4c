import WeftDefinition
import WeftEvents
import WeftExpressions
package import WeftPlanning

/// The values of the four status functions for a step or group whose admission is decided (SPEC §1.3).
struct Status: Sendable, Hashable {
  /// Whether every direct dependency succeeded, or was skipped by its own or its group's `if`.
  var success: Bool
  /// Whether a direct or indirect dependency failed and was not tolerated.
  var failure: Bool
  /// Whether the run, or a scope around the step, is being cancelled.
  var cancelled: Bool

  subscript(function: StatusFunction) -> Bool {
    switch function {
    case .success: success
    case .failure: failure
    case .always: true
    case .cancelled: cancelled
    }
  }
}

/// The immunity of an admitted step or group: what neither blocks nor cancels it.
enum Immunity: Int, Sendable, Hashable, Comparable {
  case none
  /// Failures elsewhere do not block it: its `if` calls `failure`.
  case fromFailures
  /// Cancelling the run does not stop it either: its `if` calls `always` or `cancelled`.
  case fromCancellation

  static func < (left: Immunity, right: Immunity) -> Bool { left.rawValue < right.rawValue }
}

/// The decision whether a step or group starts, made when all its dependencies have settled.
enum Admission {
  case start(Immunity)
  case skip(SkipReason)
  /// Its `if` could not be evaluated.
  case fail(StepFailure)
}

/// The `if` of a step or group, with what is known of it before it is evaluated.
struct StartCondition: Sendable {
  let text: PlannedText
  let expression: Expression
  /// The status functions that it calls.
  let functions: Set<StatusFunction>

  /// `nil` if there is no condition.
  init?(_ texts: ArraySlice<PlannedText>) {
    guard let (text, expression) = texts.expression(at: .condition) else { return nil }
    self.text = text
    self.expression = expression
    functions = expression.statusFunctions
  }

  /// Whether the step may start in spite of a failure or a cancellation.
  var looksAtFailures: Bool { !functions.isDisjoint(with: [.failure, .always, .cancelled]) }

  /// Whether the step may start although its scope is closed for this reason.
  func isReusable(_ closure: SkipReason) -> Bool {
    if case .cancelled = closure { immunity == .fromCancellation } else { looksAtFailures }
  }

  /// Whether `success()` is implied, as in GitHub Actions.
  var impliesSuccess: Bool { functions.isEmpty }

  var immunity: Immunity {
    if !functions.isDisjoint(with: [.always, .cancelled]) { return .fromCancellation }
    return functions.contains(.failure) ? .fromFailures : .none
  }
}

/// Decides whether a step, group or loop starts, from the state of its dependencies and scopes and from its `if`.
///
/// ``RunEngine`` fills it in from ``Scopes`` when all dependencies have settled, and passes in the evaluation of the
/// condition, which happens only if the decision depends on it.
struct AdmissionRule {
  /// The reason why the step cannot start if it has no condition, or one that implies `success()`.
  var obstacle: SkipReason?
  /// The reason why nothing may start in its scope, whatever became of its dependencies.
  var closure: SkipReason?
  /// The reason why nothing in the scope may start, whatever its condition: a group around it never started.
  var absence: SkipReason?
  var condition: StartCondition?
  /// Whether a step without a condition always starts: in `finally` and `cleanup`.
  var startsAlways = false

  /// - Parameter evaluate: Evaluates the condition, on request as if `success()` were true.
  func decide(
    address: StepAddress,
    _ evaluate: (StartCondition, _ assumesSuccess: Bool) -> Result<Bool, StepFailure>
  ) -> Admission {
    if let absence { return .skip(absence) }
    if startsAlways, let closure, case .cancelled = closure { return .skip(closure) }
    guard let condition else {
      if let obstacle, !startsAlways { return .skip(obstacle) }
      return .start(startsAlways ? .fromFailures : .none)
    }
    if condition.impliesSuccess, let obstacle, !startsAlways { return .skip(obstacle) }
    if let closure, !startsAlways, !condition.isReusable(closure) { return .skip(closure) }
    switch evaluate(condition, false) {
    case .failure(let failure): return .fail(failure)
    case .success(true):
      // `finally` and `cleanup` are immune to the end of the run; but a race in them cancels its losers.
      return .start(startsAlways ? max(.fromFailures, condition.immunity) : condition.immunity)
    case .success(false):
      // An explicit `success()` blocks dependents as the implied one does, and is false while the run is cancelled.
      // If it could not be computed then, the step would fail with the implied one, and block them too.
      guard let obstacle, !startsAlways, condition.functions.contains(.success) else {
        return .skip(.condition(of: address))
      }
      if case .success(false) = evaluate(condition, true) { return .skip(.condition(of: address)) }
      return .skip(obstacle)
    }
  }
}

/// The steps of a plan that a run skips on request, as if their own `if` were false.
///
/// The command line and the library fill it in; the engine asks it at each admission.
package struct Selection: Sendable, Hashable {
  /// Indexed by step; empty if none is excluded.
  private var excluded: [Bool] = []

  package init() {}

  /// Excludes these steps of a plan. Costs nothing if there are none.
  package init(excluding steps: some Sequence<Int>, of plan: Plan) {
    guard steps.contains(where: { _ in true }) else { return }
    excluded = Array(repeating: false, count: plan.steps.count)
    for step in steps { excluded[step] = true }
  }

  /// Whether any of these steps is not excluded.
  func includes(anyOf steps: Range<Int>) -> Bool {
    excluded.isEmpty || steps.contains { !excluded[$0] }
  }

  func includes(step index: Int) -> Bool { excluded.isEmpty || !excluded[index] }
}
