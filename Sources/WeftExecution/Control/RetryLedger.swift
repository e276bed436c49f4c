import WeftDefinition
import WeftEvents
import WeftPlatform

/// Decides whether a step or a group is retried after a failure, and after what backoff.
///
/// There is one for each instance. The first policy that matches the failure decides, whether or not it has
/// attempts left; each policy counts only the attempts that it caused.
struct RetryLedger {
  enum Decision: Hashable {
    /// - Parameters:
    ///   - after: The backoff, during which the attempt holds nothing.
    ///   - policy: The index of the policy that caused the attempt.
    case retry(after: Duration, policy: Int)
    /// `nil` if there is no retry policy, so that there is nothing to report.
    case giveUp(RetryRefusal?)
  }

  private let policies: [RetryPolicy]
  /// The start of the first attempt.
  private let startedAt: Duration
  /// The number of attempts that each policy has caused; empty before the first.
  private var used: [Int] = []

  /// - Parameter retries: The number of retries that an earlier engine made. They count for the policies in order, since
  ///   it is not recorded which of them caused each.
  init(policies: [RetryPolicy], startedAt: Duration, after retries: Int = 0) {
    self.policies = policies
    self.startedAt = startedAt
    var left = retries
    for (index, policy) in policies.enumerated() where left > 0 {
      if used.isEmpty { used = Array(repeating: 0, count: policies.count) }
      used[index] = min(left, policy.max)
      left -= used[index]
    }
  }

  /// Decides what follows a failed attempt; a retry is counted as made.
  ///
  /// - Parameters:
  ///   - now: The time on the clock of `startedAt`.
  ///   - retryAfter: The least delay that the server asks for.
  ///   - method: The method of a request that the server may have performed already, so that a retry would
  ///     repeat it.
  ///   - allows: Whether a policy's `when` is true; called with the policy and its index, in order, only for
  ///     matching policies with a `when`, up to the first that is true.
  ///   - random: Used once for each retry with jitter, otherwise never.
  mutating func decide(
    after failure: StepFailure, at now: Duration, retryAfter: Duration? = nil,
    inDoubt method: String? = nil,
    allows: (RetryPolicy, Int) -> Bool = { _, _ in true },
    using random: inout some RandomNumberGenerator
  ) -> Decision {
    // With `retry: 0` a step opts out of the workflow's defaults.
    guard policies.contains(where: { $0.max > 0 }) else { return .giveUp(nil) }
    var refusal = RetryRefusal.notListed(failure.classes.first)
    for (index, policy) in policies.enumerated() where policy.isFor(failure) {
      guard policy.condition == nil || allows(policy, index) else {
        refusal = .conditionIsFalse
        continue
      }
      if let method { return .giveUp(.mayHaveBeenDone(method)) }
      if let refusal = refused(by: index, at: now, retryAfter) { return .giveUp(refusal) }
      let drawn = RetryDelay(policy).wait(before: used(by: index) + 1, using: &random)
      let wait = max(drawn, retryAfter ?? .zero)
      if let limit = policy.within, now - startedAt + wait > limit {
        return .giveUp(.tooLate(limit))
      }
      count(index)
      return .retry(after: wait, policy: index)
    }
    return .giveUp(refusal)
  }

  private func refused(by index: Int, at now: Duration, _ retryAfter: Duration?) -> RetryRefusal? {
    let policy = policies[index]
    if used(by: index) >= policy.max { return .usedUp(policy.max) }
    if let retryAfter, retryAfter > policy.maxDelay {
      return .askedToWaitTooLong(retryAfter, most: policy.maxDelay)
    }
    if let limit = policy.within, now - startedAt > limit { return .tooLate(limit) }
    return nil
  }

  /// The maximum number of attempts, including the first.
  var attemptLimit: Int {
    policies.reduce(1) { sum, policy in
      let (limit, overflows) = sum.addingReportingOverflow(policy.max)
      return overflows ? .max : limit
    }
  }

  private func used(by index: Int) -> Int { used.isEmpty ? 0 : used[index] }

  private mutating func count(_ index: Int) {
    if used.isEmpty { used = Array(repeating: 0, count: policies.count) }
    used[index] += 1
  }
}

extension RetryPolicy {
  /// Whether one of its classes is one of the failure's.
  func isFor(_ failure: StepFailure) -> Bool {
    let isDefault = classes == nil
    let classes = classes ?? RetryPolicy.defaultClasses
    // Excluded by default: a missing implementation or a bad certificate is the same a little later.
    if isDefault, failure.classes.contains(where: RetryPolicy.lasting.contains) { return false }
    return failure.classes.contains(where: classes.contains)
  }
}

/// The reason why a failure is not retried, though there is a `retry`.
enum RetryRefusal: Sendable, Hashable {
  /// No policy matches failures of this class.
  case notListed(ErrorClass?)
  /// The failure is that of a service that has not ended by itself.
  case notRestarted
  /// All policies that match the failure have a `when`, and none is true.
  case conditionIsFalse
  /// The policy that matches the failure has used all its attempts.
  case usedUp(Int)
  /// The attempt would begin later than `within` after the first.
  case tooLate(Duration)
  /// The server asks for a longer delay than `maxDelay`.
  case askedToWaitTooLong(Duration, most: Duration)
  /// The server may have performed a request by this method, and performing it twice is not idempotent.
  case mayHaveBeenDone(String)
  /// The run's ``RetryBudget`` is spent.
  case budgetSpent(Int)

  /// The reason as a clause without subject, after "not tried again:".
  var message: String {
    switch self {
    case .notListed(let errorClass?):
      "\"retry\" does not cover failures of class \"\(errorClass)\""
    case .notListed(nil): "\"retry\" does not cover failures of this kind"
    case .notRestarted: "\"restart\" only starts a service again that has ended early"
    case .conditionIsFalse: "the condition \"when\" of \"retry\" is false"
    case .usedUp(1): "the only retry has been used"
    case .usedUp(let count): "all \(count) retries have been used"
    case .tooLate(let limit):
      "the next attempt would start more than \(DurationText.text(of: limit)) after the first"
    case .askedToWaitTooLong(let wanted, let most):
      "the server asks to wait \(DurationText.text(of: wanted)), but \"maxDelay\" is "
        + "\(DurationText.text(of: most))"
    case .mayHaveBeenDone(let method):
      "the \(method) request may have been processed, and could be processed twice "
        + "without an \"idempotencyKey\""
    case .budgetSpent(let count):
      "the run has used its budget of \(count) retries for failures of class "
        + "\"network\" and \"http\""
    }
  }
}

/// The backoff before a further attempt: it grows exponentially up to a limit.
///
/// Computed in whole nanoseconds; no factor and no number of attempts overflows.
struct RetryDelay {
  private let policy: RetryPolicy

  init(_ policy: RetryPolicy) {
    self.policy = policy
  }

  /// The longest backoff before the policy's further attempt of this number, counted from 1.
  func longest(before attempt: Int) -> Duration { .nanoseconds(nanoseconds(before: attempt)) }

  /// The backoff before the policy's further attempt of this number, counted from 1.
  func wait(before attempt: Int, using random: inout some RandomNumberGenerator) -> Duration {
    let longest = nanoseconds(before: attempt)
    return switch policy.jitter {
    case .none: .nanoseconds(longest)
    case .full: .nanoseconds(Int64.random(in: 0...longest, using: &random))
    }
  }

  private func nanoseconds(before attempt: Int) -> Int64 {
    let limit = max(0, policy.maxDelay.wholeNanoseconds)
    var delay = max(0, policy.delay.wholeNanoseconds)
    // A `Double` only once the delay grows, so that the first delays of long backoffs are exact.
    if attempt > 1, delay > 0, delay < limit {
      var grown = Double(delay)
      for _ in 1..<attempt where grown < Double(limit) { grown *= policy.factor }
      delay = grown < Double(limit) ? Int64(grown.rounded()) : limit
    }
    return min(delay, limit)
  }
}

/// The number of further attempts that a whole run has for failures that many steps tend to have at once: those
/// of networks and servers. Without it, every step would retry against a server that is down as often as its
/// own `retry` allows.
package struct RetryBudget {
  /// The percentage of steps, unless `--retry-budget` sets it.
  package static let defaultPercent = 20
  /// Added to every run's budget, so that it does not limit small ones.
  static let allowance = 100

  private var steps: Int
  private let percent: Int
  private var used = 0

  /// - Parameters:
  ///   - steps: The steps of the whole run; elements of loops are added once they are known.
  ///   - percent: Further attempts per hundred steps, at least 0.
  init(steps: Int, percent: Int = RetryBudget.defaultPercent) {
    precondition(steps >= 0 && percent >= 0)
    self.steps = steps
    self.percent = percent
  }

  /// The total of further attempts: the share of the steps, rounded down, plus ``allowance``.
  var limit: Int {
    let (share, overflows) = steps.multipliedReportingOverflow(by: percent)
    return overflows ? .max : share / 100 + RetryBudget.allowance
  }

  /// Adds steps that were unknown at the start: those of elements.
  mutating func add(steps count: Int) { steps += count }

  /// Whether retries after this failure are taken from the budget.
  static func covers(_ failure: StepFailure) -> Bool {
    failure.classes.contains { errorClass in
      let kind = errorClass.name.prefix { $0 != ":" }
      return kind == "network" || kind == "http" || kind == "runner"
    }
  }

  /// Takes one further attempt; `false` if none is left.
  mutating func take() -> Bool {
    guard used < limit else { return false }
    used += 1
    return true
  }
}

/// A random number generator that a seed reproduces: SplitMix64 (Steele, Lea, Flood, "Fast splittable
/// pseudorandom number generators", 2014). It repeats none of its first 2^64 numbers.
struct RunRandom: RandomNumberGenerator, Sendable {
  private var state: UInt64

  /// - Parameter seed: `nil` for an unpredictable one.
  init(seed: UInt64?) {
    state = seed ?? .random(in: .min ... .max)
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A further generator, independent of the later values of this one.
  mutating func split() -> RunRandom { RunRandom(seed: next()) }
}
