import WeftDiagnostics
import WeftJSON

/// `retry`: a number, a policy, or a list of policies.
extension DecodingPass {
  mutating func retry(_ node: JSONNode, _ field: Field) -> [RetryPolicy] {
    switch node.kind {
    case .object: return retryPolicy(node, field, at: 0).map { [$0] } ?? []
    case .array: return retryPolicies(node, field)
    case .number, .string:
      if computes(.retryMax, node) { return [RetryPolicy(max: 0)] }
      return integer(node, field, in: ValueRule.retries).map { [RetryPolicy(max: $0)] }
        ?? []
    default:
      reportType(
        of: node, field, wanted: "a number of further attempts, or an object with \"max\"",
        help: "write 3, or { \"max\": 3, \"delay\": \"5s\" }")
      return []
    }
  }

  private mutating func retryPolicies(_ node: JSONNode, _ field: Field) -> [RetryPolicy] {
    let count = node.elements.count
    guard count > 0 else {
      report(.empty(path: path(field), wanted: "at least one policy, or 0 for no retry"), at: node)
      return []
    }
    guard count <= WorkflowLimits.retryPolicies else {
      reportType(
        of: node, field, found: "an array of \(count)",
        wanted: "\(WorkflowLimits.retryPolicies) policies at most")
      return []
    }
    var policies: [RetryPolicy] = []
    for (index, element) in node.elements.enumerated() {
      let field = field.at(index)
      guard element.kind == .object else {
        reportType(
          of: element, field, wanted: "an object with \"max\"", help: "write { \"max\": 3 }")
        continue
      }
      if let policy = retryPolicy(element, field, at: index, isListed: true) {
        policies.append(policy)
      }
    }
    return policies
  }

  private mutating func retryPolicy(
    _ node: JSONNode, _ field: Field, at position: Int, isListed: Bool = false
  ) -> RetryPolicy? {
    var draft = RetryDraft(field: field, position: position, isListed: isListed)
    for member in node.members {
      guard let key: RetryKey = key(of: member, in: .retry) else {
        draft.hasMax = draft.hasMax || !isIgnored(member.key)
        continue
      }
      take(key, member.value, into: &draft)
    }
    guard draft.hasMax else {
      report(
        .control(
          .missingKey(
            path: path(field), key: "max", example: "{ \"max\": 3 } for three further attempts")
        ), at: node)
      return nil
    }
    checkDelays(of: draft)
    return draft.policy
  }

  private mutating func take(_ key: RetryKey, _ value: JSONNode, into draft: inout RetryDraft) {
    let field = draft.field.part(key.part)
    if draft.isListed, key.isComputable, value.stringValue?.hasExpression == true {
      draft.hasMax = draft.hasMax || key == .max
      return report(.control(.expressionInList(path: path(field))), at: value)
    }
    switch key {
    case .max:
      draft.hasMax = true
      draft.policy.max = integer(value, field, in: ValueRule.retries, as: .retryMax) ?? 0
    case .delay:
      guard let delay = duration(value, field, allowsZero: true, as: .retryDelay) else { return }
      draft.policy.delay = delay
      draft.delay = value
    case .maxDelay:
      guard let delay = duration(value, field, allowsZero: true, as: .retryMaxDelay) else { return }
      draft.policy.maxDelay = delay
      draft.maxDelay = value
    case .factor: draft.policy.factor = factor(value, field) ?? draft.policy.factor
    case .jitter:
      draft.policy.jitter =
        chosen(value, field, wanted: "\"full\" or \"none\"") ?? draft.policy.jitter
    case .within: draft.policy.within = duration(value, field, as: .retryWithin)
    case .on: draft.policy.classes = retriedClasses(value, field)
    case .when:
      draft.policy.condition = condition(value, field, at: .retryCondition(draft.position))
    }
  }

  private mutating func retriedClasses(_ node: JSONNode, _ field: Field) -> [ErrorClass]? {
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: "an array of error classes",
        help: node.stringValue.map { "write [\(quoted($0))]" } ?? "write [\"exit\", \"timeout\"]")
      return nil
    }
    guard !node.elements.isEmpty else {
      report(.empty(path: path(field), wanted: "at least one class of failure"), at: node)
      return nil
    }
    return errorClasses(node, field)
  }

  private mutating func factor(_ node: JSONNode, _ field: Field) -> Double? {
    guard let number = node.numberValue else {
      reportType(of: node, field, wanted: "a number, 1 or more", help: unquotingHelp(for: node))
      return nil
    }
    let problem = ValueRule.problem(
      withFactor: number.asDouble ?? .infinity, path(field), written: node.sourceText)
    guard let problem else { return number.asDouble }
    report(problem, at: node)
    return nil
  }

  /// Reports a `maxDelay` below `delay`; only where both are given can that be wrong.
  private mutating func checkDelays(of draft: RetryDraft) {
    guard let delay = draft.delay, let maxDelay = draft.maxDelay,
      draft.policy.delay > draft.policy.maxDelay
    else { return }
    report(
      .control(
        .delayBeyondLimit(
          path: path(draft.field.part("delay")), delay: draft.policy.delay,
          limit: draft.policy.maxDelay)),
      at: delay, related: ("\"maxDelay\" is here", maxDelay))
  }
}

/// A retry policy while its keys are read.
private struct RetryDraft {
  let field: Field
  /// Its index among the policies of the step.
  let position: Int
  let isListed: Bool
  var hasMax = false
  /// The literal values of `delay` and `maxDelay`; `nil` if absent or computed.
  var delay: JSONNode?
  var maxDelay: JSONNode?
  var written = RetryPolicy(max: 0)

  init(field: Field, position: Int, isListed: Bool) {
    self.field = field
    self.position = position
    self.isListed = isListed
  }

  var policy: RetryPolicy {
    get {
      var policy = written
      if maxDelay == nil { policy.maxDelay = max(policy.maxDelay, policy.delay) }
      return policy
    }
    set { written = newValue }
  }
}

extension RetryKey {
  fileprivate var part: StaticString {
    switch self {
    case .max: "max"
    case .delay: "delay"
    case .factor: "factor"
    case .maxDelay: "maxDelay"
    case .jitter: "jitter"
    case .within: "within"
    case .on: "on"
    case .when: "when"
    }
  }

  /// Whether its value may be given by an expression.
  fileprivate var isComputable: Bool {
    switch self {
    case .max, .delay, .maxDelay, .within: true
    case .factor, .jitter, .on, .when: false
    }
  }
}
