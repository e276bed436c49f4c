public import WeftDiagnostics

/// What decides whether, how often, and beside what a step runs. Most steps have nothing of it.
public struct StepControl: Sendable, Hashable {
  /// Whether it runs at all; `nil`: if all it waits for went well.
  public var condition: Condition?
  /// What is done again after which failures; empty: nothing is said, and so nothing. A policy of no
  /// attempts says that nothing is, whatever ``Workflow/defaults`` say.
  public var retry: [RetryPolicy]
  /// Runs it once for each of many elements.
  public var fanOut: FanOut?
  /// What it takes from pools while an attempt runs, all at once; no name twice.
  public var pools: [PoolRequest]
  /// Runs when the group around the step, or the run, ends, if the step was started.
  public var cleanup: [Step]
  /// Whether doing it again does nothing that doing it once has not done; `nil`: nothing is said.
  public var isIdempotent: Bool?
  /// What a run that is gone on with does about an attempt that was cut off; `nil`: it is made again if the step
  /// is idempotent.
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
  /// Whether an attempt that was cut off, so that nobody knows how far it came, is made again.
  public var isMadeAgain: Bool {
    switch control.onInterrupted {
    case .rerun?: true
    case .fail?: false
    case nil: control.isIdempotent ?? action.isIdempotent
    }
  }

  /// Whether it says that it is not made again, or is a request of which everybody knows it: a command that says
  /// nothing may be either.
  @usableFromInline package var mustNotBeMadeAgain: Bool {
    guard !isMadeAgain else { return false }
    if case .http = action { return true }
    return control.onInterrupted == .fail || control.isIdempotent == false
  }
}

extension StepAction {
  /// Whether doing it twice does no more than doing it once, as far as can be seen: a request whose method says
  /// so (RFC 9110, 9.2.2), or that has a key by which the server knows it, and a command whose result is kept.
  fileprivate var isIdempotent: Bool {
    if case .run(let command) = self { return command.caching != nil }
    guard case .http(let call) = self else { return false }
    return call.idempotencyKey != nil
      || ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"].contains(call.method)
  }
}

/// What becomes of a step that was running when the engine was killed.
public enum InterruptionResponse: String, Sendable, Hashable, CaseIterable {
  /// It is started again.
  case rerun
  /// It has failed, until somebody says that it may be started again.
  case fail
}

/// An `if`: an expression, bare or as `${{ … }}`.
public struct Condition: Sendable, Hashable {
  /// As it is written.
  public var text: String
  /// With its quotes, if it has any: `true` and `false` may stand without.
  public var place: Written<SourceRange?>

  public init(_ text: String, place: SourceRange? = nil) {
    self.text = text
    self.place = Written(place)
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

/// A number of slots that steps share, whatever else they wait for.
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

/// How many slots may be taken in a time: a bucket that holds `count` and is filled evenly.
public struct Rate: Sendable, Hashable {
  /// At least 1.
  public var count: Int
  /// More than nothing.
  public var period: Duration

  public init(count: Int, per period: Duration) {
    self.count = count
    self.period = period
  }
}
