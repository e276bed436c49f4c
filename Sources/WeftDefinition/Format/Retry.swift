import WeftDiagnostics
import WeftJSON

/// The failures after which a step, or a group as a whole, is retried, and the backoff.
public struct RetryPolicy: Sendable, Hashable {
  public enum Jitter: String, Sendable, Hashable, CaseIterable {
    /// A random time up to the delay, so that steps that failed together are not retried together (Brooker,
    /// "Exponential Backoff And Jitter", 2015).
    case full
    /// The delay itself.
    case none
  }

  /// The most attempts after the first by this policy.
  @Computable public var max: Int
  /// The delay before the first further attempt.
  @Computable public var delay: Duration
  /// The factor by which the delay grows from one attempt to the next; at least 1.
  public var factor: Double
  /// The longest delay, before jitter shortens it.
  @Computable public var maxDelay: Duration
  public var jitter: Jitter
  /// The time from the first attempt's start after which no attempt starts.
  @Computable public var within: Duration?
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
    .http(hundreds: 5), .runner,
  ]

  /// Failures that a retry would only repeat.
  public static let lasting: [ErrorClass] = [.http(501), .network(.tls)]
}

/// A retry policy while its keys are read.
struct RetryDraft: FormatObject {
  /// `nil` if absent.
  @Computable var delay: Duration? = nil
  @Computable var maxDelay: Duration? = nil
  var policy = RetryPolicy(max: 0)

  static let format = ObjectFormat<RetryDraft>("\"retry\"") {
    FormatKey(
      "max", .integer(as: .retryMax), "Retries",
      "The maximum number of retries by this policy.",
      synonyms: "attempts maxAttempts max_attempts max_retries maxRetries limit times",
      required: "{ \"max\": 3 } for three retries", at: \.policy.$max)
    FormatKey(
      "delay", .duration(as: .retryDelay), "First delay",
      "The delay before the first retry.", schema: #"{"default": "1s"}"#,
      synonyms: "interval intervalSec interval_sec IntervalSeconds initialDelay wait sleep pause",
      at: \.$delay)
    FormatKey(
      "factor", ValueFormat { $0.factor($1, $2) }, "Factor",
      "The growth of the delay from one retry to the next.",
      schema: #"{"type": "number", "minimum": 1, "maximum": 1000, "default": 2}"#,
      synonyms: "backoff backoffRate BackoffRate multiplier exponent", at: \.policy.factor)
    FormatKey(
      "maxDelay", .duration(as: .retryMaxDelay), "Longest delay",
      "The maximum delay: 1m, or the first delay if that is longer.",
      schema: #"{"default": "1m"}"#,
      synonyms: "maxInterval max_delay MaxDelaySeconds cap maxBackoff", at: \.$maxDelay)
    FormatKey(
      "jitter", .word(of: RetryPolicy.Jitter.self), "Jitter",
      """
      full: a random time from zero to the delay, so that simultaneous failures do not \
      retry at the same time. none: the delay itself.
      """, schema: #"{"default": "full"}"#, at: \.policy.jitter)
    FormatKey(
      "within", .duration(as: .retryWithin), "Within",
      "No retry starts later than this after the first attempt.",
      synonyms: "timeout deadline maxDuration elapsed", at: \.policy.$within)
    FormatKey(
      "on", ValueFormat { $0.retriedClasses($1, $2) }, "Failures",
      "The error classes that are retried.",
      schema: #"""
        {"type": "array", "items": "@errorClass", "minItems": 1, "default": ["exit",
        "signal", "timeout", "stall"], "examples": [["exit:75", "timeout"]]}
        """#,
      synonyms: "errors ErrorEquals retryOn classes", at: \.policy.classes)
    FormatKey(
      "when", .condition, "Condition",
      "Retried only if this is true; self is the result of the failed attempt.",
      schema: #"{"$ref": "condition", "examples": ["self.exitCode != 2"]}"#,
      synonyms: "if condition", at: \.policy.condition)
  }

  init() {}

  /// A policy as if its keys had been read.
  init(_ policy: RetryPolicy) {
    self.policy = policy
    (delay, maxDelay) = (policy.delay, policy.maxDelay)
  }

  /// The policy, whose longest delay is never shorter than the first.
  var finished: RetryPolicy {
    var policy = policy
    policy.delay = delay ?? policy.delay
    policy.maxDelay = maxDelay ?? max(policy.maxDelay, policy.delay)
    policy.$delay.expression = $delay.expression
    policy.$maxDelay.expression = $maxDelay.expression
    return policy
  }
}

extension DecodingPass {
  /// A number, a policy, or a list of policies.
  mutating func retry(_ node: JSONNode, _ field: Field) -> [RetryPolicy]? {
    switch node.kind {
    case .object: return retryPolicy(node, field).map { [$0] }
    case .array: return retryPolicies(node, field)
    case .number, .string:
      var policy = RetryPolicy(max: 0)
      if computes(node, field, { policy.$max.expression = $0 }) { return [policy] }
      return integer(node, field, in: ValueRule.retries).map { [RetryPolicy(max: $0)] }
    default:
      reportType(
        of: node, field, wanted: "a number of retries, or an object with \"max\"",
        help: "write 3, or { \"max\": 3, \"delay\": \"5s\" }")
      return nil
    }
  }

  private mutating func retryPolicies(_ node: JSONNode, _ field: Field) -> [RetryPolicy]? {
    let count = node.elements.count
    guard count > 0 else {
      report(.empty(path: path(field), wanted: "at least one policy, or 0 for no retry"), at: node)
      return nil
    }
    guard count <= WorkflowLimits.retryPolicies else {
      reportType(
        of: node, field, found: "an array of \(count)",
        wanted: "at most \(WorkflowLimits.retryPolicies) policies")
      return nil
    }
    computesNothing = true
    defer { computesNothing = false }
    var policies: [RetryPolicy] = []
    for (index, element) in node.elements.enumerated() {
      let field = field.at(index)
      guard
        isObject(
          element, field, wanted: "an object with \"max\"", help: "write { \"max\": 3 }")
      else { continue }
      if let policy = retryPolicy(element, field) { policies.append(policy) }
    }
    return policies
  }

  private mutating func retryPolicy(_ node: JSONNode, _ field: Field) -> RetryPolicy? {
    var draft = RetryDraft()
    guard !read(node, field, into: &draft).isMissingKey else { return nil }
    let policy = draft.finished
    // Only where both are given can the first be too long.
    if let delay = draft.delay, let maxDelay = draft.maxDelay, delay > maxDelay,
      let first = member("delay", of: node)?.value, let limit = member("maxDelay", of: node)?.value
    {
      report(
        .delayBeyondLimit(path: path(field.inner("delay")), delay: delay, limit: maxDelay),
        at: first, related: ("\"maxDelay\" is here", limit))
    }
    return policy
  }

  fileprivate mutating func retriedClasses(_ node: JSONNode, _ field: Field) -> [ErrorClass]? {
    elements(
      of: node, field, wanted: "an array of error classes",
      help: node.stringValue.map { "write [\(quoted($0))]" } ?? "write [\"exit\", \"timeout\"]",
      atLeast: "at least one error class"
    ) { $0.listedClass($1, $2) }
  }

  fileprivate mutating func factor(_ node: JSONNode, _ field: Field) -> Double? {
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

  // MARK: Classes of failures

  mutating func tolerance(_ node: JSONNode, _ field: Field) -> FailureTolerance? {
    switch node.kind {
    case .bool: return node.boolValue == true ? FailureTolerance.all : FailureTolerance.none
    default:
      return elements(
        of: node, field, wanted: "true, false or an array of error classes",
        help: node.stringValue.flatMap(ErrorClass.init).map { "write [\"\($0)\"]" }
          ?? node.stringValue.flatMap(Bool.init).map { "write \($0) without quotes" }
      ) { $0.listedClass($1, $2) }
      .map(FailureTolerance.classes)
    }
  }

  private mutating func listedClass(_ node: JSONNode, _ field: Field) -> ErrorClass? {
    guard let word = text(node, field) else { return nil }
    if let known = ErrorClass(word) { return known }
    report(.unknownErrorClass(path: path(field), word), at: node)
    return nil
  }
}

extension ErrorClass {
  /// A sentence that lists the classes.
  package static let list =
    "the classes are \(plain.map(\.name).joined(separator: ", ")), "
    + "exit:1 to exit:255, signal:KILL, http:404, http:5xx, network:dns, limit:memory, runner:node-fail and similar ones"

  /// The class whose name differs least from a word.
  package static func nearest(to word: String) -> String? {
    // An impossible exit code is one edit away from many possible ones.
    guard !word.hasPrefix("exit:"), !word.hasPrefix("http:") else { return nil }
    if word.hasPrefix("network:") {
      return parts.nearest(to: String(word.dropFirst("network:".count))).map { "network:\($0)" }
    }
    let bare = word.hasPrefix("signal:") ? word.dropFirst("signal:".count) : word[...]
    let signal = bare.uppercased()
    let name = signal.hasPrefix("SIG") ? String(signal.dropFirst(3)) : signal
    if SignalName.all.contains(name) { return "signal:\(name)" }
    if let signal = signals.nearest(to: name) { return "signal:\(signal)" }
    return word.hasPrefix("signal:") ? nil : classes.nearest(to: word)
  }

  private static let classes = NearestName((plain + ofClusters).map(\.name))
  private static let parts = NearestName(NetworkPart.allCases.map(\.rawValue))
  private static let signals = NearestName(SignalName.all.sorted())
}

extension Diagnostic {
  static func factorOutOfRange(path: String, number: String) -> Diagnostic {
    Diagnostic(
      .numberOutOfRange,
      "\(path) is \(shortened(number)), expected a number from "
        + "\(WorkflowLimits.retryFactor.lowerBound) to \(WorkflowLimits.retryFactor.upperBound)")
  }

  static func delayBeyondLimit(path: String, delay: Duration, limit: Duration) -> Diagnostic {
    Diagnostic(
      .unfitValue,
      "\(path) is \(DurationText.text(of: delay)), longer than \"maxDelay\", which is "
        + DurationText.text(of: limit),
      help: "no attempt would ever wait that long")
  }

  static func delayTooLong(path: String, delay: Duration, limit: Duration) -> Diagnostic {
    Diagnostic(
      .invalidDuration,
      "\(path) is \(DurationText.text(of: delay)), expected at most \(DurationText.text(of: limit))"
    )
  }

  static func expressionInList(path: String) -> Diagnostic {
    Diagnostic(
      .expression, "\(path) contains an expression, which is not allowed in a list of policies",
      help: "expressions are allowed where \"retry\" is a number or a single object")
  }
}
