import WeftDefinition

/// Decides whether a step, or a group as a whole, is tried again after a failure, and how long after.
///
/// One for each instance. The first policy that is for the failure takes it, whether or not it has
/// attempts left; each policy counts only the attempts that followed because of it.
struct RetryLedger {
  enum Decision: Hashable {
    /// - Parameters:
    ///   - after: How long the attempt waits, holding nothing.
    ///   - policy: The index of the policy it follows from.
    case retry(after: Duration, policy: Int)
    /// `nil` where nothing was ever to be tried again, so that there is nothing to tell.
    case giveUp(RetryRefusal?)
  }

  private let policies: [RetryPolicy]
  /// When the first attempt started.
  private let startedAt: Duration
  /// How many attempts have followed because of each policy; empty until one has.
  private var used: [Int] = []

  init(policies: [RetryPolicy], startedAt: Duration) {
    self.policies = policies
    self.startedAt = startedAt
  }

  /// Decides what follows a failed attempt; a retry counts as made.
  ///
  /// - Parameters:
  ///   - now: By the clock of `startedAt`.
  ///   - retryAfter: The least wait that the other side asks for.
  ///   - method: Of a request that may have been done, and would be done twice.
  ///   - allows: Whether a policy's `when` says yes; asked with the policy and its index, in order, and
  ///     only of those that have one and are for the failure, up to the first that takes it.
  ///   - random: Asked once for each retry with jitter, and otherwise not at all.
  mutating func decide(
    after failure: StepFailure, at now: Duration, retryAfter: Duration? = nil,
    inDoubt method: String? = nil,
    allows: (RetryPolicy, Int) -> Bool = { _, _ in true },
    using random: inout some RandomNumberGenerator
  ) -> Decision {
    // `retry: 0` is how a step says that the workflow's defaults are not for it.
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

  /// How many attempts there are at most, the first included.
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
  /// Whether its classes have one of the failure's.
  func isFor(_ failure: StepFailure) -> Bool {
    let isDefault = classes == nil
    let classes = classes ?? RetryPolicy.defaultClasses
    // What is not implemented will not be a little later, and a certificate is no better then.
    if isDefault, failure.classes.contains(where: RetryPolicy.lasting.contains) { return false }
    return failure.classes.contains(where: classes.contains)
  }
}
