import WeftDefinition
import WeftExpressions
import WeftPlanning

/// What the four status functions say of a step or group that is about to start, or not (SPEC §1.3).
struct Status: Sendable, Hashable {
  /// Everything that it waits for directly succeeded, or was skipped by its own or its group's `if`.
  var success: Bool
  /// Something above it failed and was not tolerated.
  var failure: Bool
  /// The run, or a scope around it, is being cancelled.
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

/// What a step that has been admitted is not held back by, and not ended by.
enum Shelter: Int, Sendable, Hashable, Comparable {
  case none
  /// Failures elsewhere do not hold it back: its `if` calls `failure`.
  case fromFailures
  /// Nor does the end of the run end it: its `if` calls `always` or `cancelled`.
  case fromCancellation

  static func < (left: Shelter, right: Shelter) -> Bool { left.rawValue < right.rawValue }
}

/// Whether a step or group starts, now that everything it waits for has settled.
enum Admission {
  case start(Shelter)
  case skip(SkipReason)
  /// Its `if` could not be evaluated.
  case fail(StepFailure)
}

/// A condition with what is known of it before it is evaluated.
struct StartCondition: Sendable {
  let text: PlannedText
  let expression: Expression
  /// The status functions that it calls.
  let functions: Set<StatusFunction>

  /// `nil` where there is no condition.
  init?(_ texts: ArraySlice<PlannedText>) {
    guard let text = texts.first(where: { $0.site == .condition }),
      let expression = text.template.onlyExpression
    else { return nil }
    self.text = text
    self.expression = expression
    functions = expression.statusFunctions
  }

  var readsVariables: Bool { expression.references.contains { $0.valueContext == .env } }

  /// Whether the step may start in spite of a failure or a cancellation.
  var looksAtFailures: Bool { !functions.isDisjoint(with: [.failure, .always, .cancelled]) }

  /// Whether the step may start though everything else there may not.
  func stands(_ closure: SkipReason) -> Bool {
    if case .cancelled = closure { shelter == .fromCancellation } else { looksAtFailures }
  }

  /// Whether `success()` is meant without being written, as in GitHub Actions.
  var impliesSuccess: Bool { functions.isEmpty }

  var shelter: Shelter {
    if !functions.isDisjoint(with: [.always, .cancelled]) { return .fromCancellation }
    return functions.contains(.failure) ? .fromFailures : .none
  }
}

/// Decides by what is known; only the value of the condition has to be asked for.
struct AdmissionRule {
  /// Why the step cannot start, were it not for its condition.
  var obstacle: SkipReason?
  /// The same, whatever has become of what it waits for.
  var closure: SkipReason?
  /// Why nothing there may start, whatever the condition.
  var absence: SkipReason?
  var condition: StartCondition?
  /// Whether a step without a condition starts always: in `finally` and `cleanup`.
  var startsAlways = false

  /// - Parameter evaluate: The value of the condition.
  func decide(
    address: StepAddress, _ evaluate: (StartCondition) -> Result<Bool, StepFailure>
  ) -> Admission {
    if let absence { return .skip(absence) }
    if startsAlways, let closure, case .cancelled = closure { return .skip(closure) }
    guard let condition else {
      if let obstacle, !startsAlways { return .skip(obstacle) }
      return .start(startsAlways ? .fromFailures : .none)
    }
    if condition.impliesSuccess, let obstacle, !startsAlways { return .skip(obstacle) }
    if let closure, !startsAlways, !condition.stands(closure) { return .skip(closure) }
    switch evaluate(condition) {
    case .failure(let failure): return .fail(failure)
    case .success(true):
      // What ends the run does not reach what is done at its end; a race there ends its losers.
      return .start(startsAlways ? max(.fromFailures, condition.shelter) : condition.shelter)
    case .success(false): return .skip(.condition(of: address))
    }
  }
}
