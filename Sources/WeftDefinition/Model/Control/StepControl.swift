public import WeftDiagnostics

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
    case nil: control.isIdempotent ?? (action.model.repetition == .harmless)
    }
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

/// Slots of a pool that a step holds while an attempt of it runs.
public struct PoolRequest: Sendable, Hashable {
  public var pool: String
  /// At least 1.
  public var slots: Int
  /// The pool's name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ pool: String, slots: Int = 1, place: SourceRange? = nil) {
    self.pool = pool
    self.slots = slots
    self.place = Written(place)
  }
}

/// A number of slots that steps share, independently of their dependencies.
public struct Pool: Sendable, Hashable {
  public var name: String
  /// At least 1.
  public var slots: Int
  public var rate: Rate?
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: String, slots: Int, rate: Rate? = nil, place: SourceRange? = nil) {
    self.name = name
    self.slots = slots
    self.rate = rate
    self.place = Written(place)
  }
}

/// The slots that may be taken in a period: a bucket that holds `count` and is refilled evenly.
public struct Rate: Sendable, Hashable {
  /// At least 1.
  public var count: Int
  /// Greater than zero.
  public var period: Duration

  public init(count: Int, per period: Duration) {
    self.count = count
    self.period = period
  }
}
