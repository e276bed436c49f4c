import WeftDefinition
import WeftEvents

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

  init(policies: [RetryPolicy], startedAt: Duration) {
    self.policies = policies
    self.startedAt = startedAt
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
