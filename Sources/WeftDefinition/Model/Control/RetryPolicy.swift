/// The failures after which a step, or a group as a whole, is retried, and the backoff.
public struct RetryPolicy: Sendable, Hashable {
  public enum Jitter: String, Sendable, Hashable, CaseIterable {
    /// A random time up to the delay, so that steps that failed together are not retried together (Brooker,
    /// "Exponential Backoff And Jitter", 2015).
    case full
    /// The delay itself.
    case none
  }

  /// The most attempts after the first by this policy; 0 if an expression gives it
  /// (``ComputedKey/retryMax``).
  public var max: Int
  /// The delay before the first further attempt.
  public var delay: Duration
  /// The factor by which the delay grows from one attempt to the next; at least 1.
  public var factor: Double
  /// The longest delay, before jitter shortens it.
  public var maxDelay: Duration
  public var jitter: Jitter
  /// The time from the first attempt's start after which no attempt starts.
  public var within: Duration?
  /// The classes of failures that it applies to; `nil` for ``defaultClasses``.
  public var classes: [ErrorClass]?
  /// Evaluated with the attempt's result as `self`; the step is retried only if it is true.
  public var condition: Condition?

  /// - Parameter maxDelay: `nil` for ``defaultMaxDelay``, or for `delay` if that is longer.
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

  /// The longest delay by default.
  public static let defaultMaxDelay = Duration.seconds(60)

  /// The failures that are retried by default: those that may be temporary. Failures in ``lasting`` are
  /// excluded although a class here covers them.
  public static let defaultClasses: [ErrorClass] = [
    .exit, .signal, .timeout, .stall, .action, .network, .http(408), .http(425), .http(429),
    .http(hundreds: 5),
  ]

  /// Failures that a retry would only repeat.
  public static let lasting: [ErrorClass] = [.http(501), .network(.tls)]
}
