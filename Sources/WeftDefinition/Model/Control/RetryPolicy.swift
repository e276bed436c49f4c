/// When a step, or a group as a whole, is tried again after a failure, and how long after.
public struct RetryPolicy: Sendable, Hashable {
  public enum Jitter: String, Sendable, Hashable, CaseIterable {
    /// Any time from nothing to the delay, so that many that failed together do not come back together
    /// (Brooker, "Exponential Backoff And Jitter", 2015).
    case full
    /// The delay itself.
    case none
  }

  /// How many attempts may follow the first because of this policy; 0 where an expression says it
  /// (``ComputedKey/retryMax``).
  public var max: Int
  /// Before the first further attempt.
  public var delay: Duration
  /// By how much the delay grows from one attempt to the next; at least 1.
  public var factor: Double
  /// The longest that any of the delays may be, before jitter makes it shorter.
  public var maxDelay: Duration
  public var jitter: Jitter
  /// From the first attempt's start; none starts after it.
  public var within: Duration?
  /// The classes of failures it is for; `nil`: ``defaultClasses``.
  public var classes: [ErrorClass]?
  /// Read with the attempt's own result as `self`; tried again only if it is true.
  public var condition: Condition?

  /// - Parameter maxDelay: `nil` is ``defaultMaxDelay``, or `delay` where that is longer.
  public init(
    max: Int, delay: Duration = .seconds(1), factor: Double = 2, maxDelay: Duration? = nil,
    jitter: Jitter = .full, within: Duration? = nil, classes: [ErrorClass]? = nil,
    condition: Condition? = nil
  ) {
    self.max = max
    self.delay = delay
    self.factor = factor
    self.maxDelay = maxDelay ?? Swift.max(RetryPolicy.defaultMaxDelay, delay)
    self.jitter = jitter
    self.within = within
    self.classes = classes
    self.condition = condition
  }

  /// The longest delay where nothing else is said.
  public static let defaultMaxDelay = Duration.seconds(60)

  /// What is tried again where nothing else is said: failures that may pass. Those that are ``lasting`` are
  /// none, though a class here has them.
  public static let defaultClasses: [ErrorClass] = [
    .exit, .signal, .timeout, .stall, .action, .network, .http(408), .http(425), .http(429),
    .http(hundreds: 5),
  ]

  /// What will be the same a little later.
  public static let lasting: [ErrorClass] = [.http(501), .network(.tls)]
}
