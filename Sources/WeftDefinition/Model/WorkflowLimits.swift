import WeftDiagnostics
package import WeftJSON

/// Limits on the size of a workflow; the diagnostic for a file that exceeds one names it.
public enum WorkflowLimits {
  /// Bytes of a file that are read before it is rejected.
  public static let fileBytes = JSONLimits.workflow.bytes
  /// Nesting of files that run one another, below the first.
  public static let nestedFiles = 8
  /// Bytes of all files that a workflow runs besides its own, each counted once.
  public static let nestedBytes = 16 << 20
  /// Bytes of a file with the value of one input.
  public static let inputBytes = 1 << 20
  /// Bytes of a text that is matched against a pattern.
  public static let matchedBytes = 1 << 20
  /// Bytes of a secret: shorter ones would be found, and masked, in all kinds of texts.
  public static let secretBytes = 4...64 << 10
  /// Returns ``secretBytes`` for a secret that need not be there; `nil` for an empty text, which has nothing to hide.
  package static func secretBytes(ofOptional value: JSONValue?) -> ClosedRange<Int>? {
    value == "" ? nil : secretBytes
  }
  /// Nesting of JSON arrays and objects.
  public static let jsonDepth = JSONLimits.workflow.depth
  /// Nesting of groups; the top level does not count.
  public static let groupDepth = 64
  /// Steps and groups of one workflow, all together.
  public static let steps = 2_000_000
  /// Problems of one file that are collected; the rest of the file is not checked.
  public static let problems = JSONLimits.workflow.problems
  /// The longest duration that can be written.
  public static let longestDuration = Duration.seconds(366 * 24 * 3600)
  /// The largest amount of data that can be written: a pebibyte.
  public static let largestSize = ByteCount(1 << 50)
  /// The amount of a step's output that its log holds, unless the step sets a limit: a gibibyte.
  public static let logLimit = ByteCount(1 << 30)
  /// The timeout of a command that prints a secret, unless the secret sets one.
  public static let secretCommandTimeout = Duration.seconds(30)
  /// Bytes of a step's output, or of its file `$WEFT_OUTPUT`, that can be a value: a mebibyte.
  public static let valueBytes = 1 << 20
  /// The largest `maxParallel` or `-j`.
  public static let maxParallel = 10_000
  /// The largest number of further attempts of a retry policy.
  public static let retries = 1_000
  /// The timeout of all of `finally`.
  public static let finallyTimeout = Duration.seconds(300)
  /// The timeout of a step of `cleanup` that does not set one.
  public static let cleanupTimeout = Duration.seconds(60)
  /// Policies of one `retry`.
  public static let retryPolicies = 16
  /// Factors by which the delay between attempts may grow.
  public static let retryFactor = 1...1_000
  /// Processors, or GPUs, of one attempt.
  public static let processors = 100_000
  /// Slots of a pool.
  public static let poolSlots = 1_000_000
  /// Elements of one `forEach`, combinations of one `matrix`.
  public static let elements = 1_000_000
  /// Redirects that a request can be allowed to follow.
  public static let redirects = 50
  public static let defaultRedirects = 10
  /// The timeout of a request and its response, unless they set one.
  public static let requestTimeout = Duration.seconds(120)
  /// The longest timeout of a request.
  public static let longestRequest = Duration.seconds(30 * 24 * 3600)
  /// Requests of one poll, or pages of one request.
  public static let requests = 100_000
}

/// Rules for single values of a workflow. The decoder applies them to files, ``BuiltValues`` to workflows built in
/// Swift, so that both accept the same workflows.
package enum ValueRule {
  static let maxParallel = 1...WorkflowLimits.maxParallel
  static let processors = 1...WorkflowLimits.processors
  static let retries = 0...WorkflowLimits.retries
  static let slots = 1...WorkflowLimits.poolSlots
  static let exitCodes = 0...255
  static let successesOfJoin = 1...WorkflowLimits.steps
  static let toleratedElements = 0...WorkflowLimits.elements
  static let requests = 1...WorkflowLimits.requests
  /// Excludes the standard streams; the system's own limit is checked when a run starts.
  static let descriptors = 3...1_048_575
  package static let retryBudgetPercent = 0...1_000
  static let redirects = 0...WorkflowLimits.redirects

  static func problem(
    with number: Int, _ path: String, in range: ClosedRange<Int>
  ) -> Diagnostic? {
    range.contains(number)
      ? nil : .numberOutOfRange(path: path, number: "\(number)", wanted: range)
  }

  static func problem(
    with duration: Duration, _ path: String, allowsZero: Bool = false,
    limit: Duration = WorkflowLimits.longestDuration
  ) -> Diagnostic? {
    let fault: DurationText.ParseError
    if duration < .zero {
      fault = .negative
    } else if duration == .zero, !allowsZero {
      fault = .zero
    } else if duration > WorkflowLimits.longestDuration {
      fault = .tooLong
    } else if duration > limit {
      return .delayTooLong(path: path, delay: duration, limit: limit)
    } else {
      return nil
    }
    return .invalidDuration(
      path: path, text: "\(duration)", fault: fault, allowsZero: allowsZero)
  }

  /// NaN and infinity are out of range too.
  static func problem(withFactor factor: Double, _ path: String, written: String) -> Diagnostic? {
    let range = WorkflowLimits.retryFactor
    guard factor >= Double(range.lowerBound), factor <= Double(range.upperBound) else {
      return .factorOutOfRange(path: path, number: written)
    }
    return nil
  }

  static func problem(withVariable name: String) -> Diagnostic? {
    name.isEmpty || name.utf8.contains(UInt8(ascii: "=")) ? .invalidVariableName(name) : nil
  }

  /// The problem with the name of an output, pool, axis or element, which follows the rule for ids.
  static func problem(withName name: String) -> Diagnostic? {
    StepID.fault(in: name).map { .invalidName(name, fault: $0) }
  }

  /// The problem with a name by which expressions refer to an element.
  static func problem(withElementName name: String) -> Diagnostic? {
    if let problem = problem(withName: name) { return problem }
    return ForEach.takenNames.contains(InputName.folded(name))
      ? .contextName(name) : nil
  }
}
