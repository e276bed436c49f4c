import WeftDiagnostics
package import WeftExpressions

/// A value that is given literally or by exactly one expression.
///
/// The property itself is the literal value. While an expression gives it, the property is what holds until the
/// expression has been evaluated: mostly the default. Setting the property replaces the expression.
///
/// ```swift
/// step.timeout = .seconds(30)
/// step.$timeout.expression = "${{ inputs.limit }}"
/// ```
@propertyWrapper public enum Computable<Value> {
  case literal(Value)
  // Indirect, because few values are computed, and there may be very many steps.
  indirect case computed(Condition, until: Value)

  public init(wrappedValue: Value) { self = .literal(wrappedValue) }

  public var wrappedValue: Value {
    get {
      switch self {
      case .literal(let value), .computed(_, let value): value
      }
    }
    set { self = .literal(newValue) }
  }

  public var projectedValue: Computable {
    get { self }
    set { self = newValue }
  }

  var isComputed: Bool { if case .computed = self { true } else { false } }

  /// The text of the expression, with its location; `nil` for a literal value.
  public var expression: Condition? {
    get { if case .computed(let text, _) = self { text } else { nil } }
    set { self = newValue.map { .computed($0, until: wrappedValue) } ?? .literal(wrappedValue) }
  }
}

extension Computable: Sendable where Value: Sendable {}
extension Computable: Equatable where Value: Equatable {}
extension Computable: Hashable where Value: Hashable {}

/// A key whose value can be given by exactly one expression instead.
public enum ComputedKey: String, Sendable, Hashable, CaseIterable {
  case timeout
  case stallTimeout
  case grace = "stop.grace"
  case serviceTimeout = "service.timeout"
  case serviceRestarts = "service.restart"
  case cpus = "resources.cpus"
  case memory = "resources.memory"
  case gpus = "resources.gpus"
  case resourceTime = "resources.time"
  case logLimit
  case mergeOutput
  case tty
  case jobserver
  case allowFailure
  case maxParallel
  case retryMax = "retry.max"
  case retryDelay = "retry.delay"
  case retryMaxDelay = "retry.maxDelay"
  case retryWithin = "retry.within"
  case elementParallel = "forEach.maxParallel"
  case combinationParallel = "matrix.maxParallel"
  case connectTimeout = "http.timeout.connect"
  case idleTimeout = "http.timeout.idle"
  case totalTimeout = "http.timeout.total"
  case redirects = "http.redirects"
  case maxBytes = "http.maxBytes"
  case pollEvery = "http.poll.every"
  case pollMax = "http.poll.max"
  case pagesMax = "http.pages.max"
}

extension ComputedKey {
  /// Whether it is a key of ``Command/Resources``.
  package var isResource: Bool {
    switch self {
    case .cpus, .memory, .gpus, .resourceTime: true
    default: false
    }
  }
}

extension Step {
  /// The expression that gives the value of a key; `nil` if it is literal, or not a key of the step.
  package func expression(of key: ComputedKey) -> Condition? {
    switch key {
    case .timeout: $timeout.expression
    case .stallTimeout: options?.$stallTimeout.expression
    case .grace: options?.stop?.$grace.expression
    case .serviceTimeout: options?.service?.$timeout.expression
    case .serviceRestarts: options?.service?.$restarts.expression
    case .cpus: options?.resources?.$cpus.expression
    case .memory: options?.resources?.$memory.expression
    case .gpus: options?.resources?.$gpus.expression
    case .resourceTime: options?.resources?.$time.expression
    case .logLimit: options?.$logLimit.expression
    case .mergeOutput: options?.$mergesOutput.expression
    case .tty: options?.$usesTerminal.expression
    case .jobserver: options?.$usesJobserver.expression
    case .allowFailure: $allowFailure.expression
    case .maxParallel: action.group?.$maxParallel.expression
    case .retryMax: policy?.$max.expression
    case .retryDelay: policy?.$delay.expression
    case .retryMaxDelay: policy?.$maxDelay.expression
    case .retryWithin: policy?.$within.expression
    case .elementParallel: loop?.$maxParallel.expression
    case .combinationParallel: matrix?.$maxParallel.expression
    case .connectTimeout: action.request?.timeouts.$connect.expression
    case .idleTimeout: action.request?.timeouts.$idle.expression
    case .totalTimeout: action.request?.timeouts.$total.expression
    case .redirects: action.request?.$redirects.expression
    case .maxBytes: action.request?.$maxBytes.expression
    case .pollEvery: action.request?.polling?.$every.expression
    case .pollMax: action.request?.polling?.$max.expression
    case .pagesMax: action.request?.paging?.$max.expression
    }
  }

  /// Sets a key to the value that its expression evaluated to.
  package mutating func set(
    _ key: ComputedKey, to value: ExpressionValue
  ) throws(EvaluationError) {
    switch key {
    case .timeout: timeout = try key.duration(value)
    case .stallTimeout: action.command?.stallTimeout = try key.duration(value)
    case .grace: action.command?.stop?.grace = try key.duration(value)
    case .serviceTimeout: action.command?.service?.timeout = try key.duration(value)
    case .serviceRestarts: action.command?.service?.restarts = try key.count(value)
    case .cpus: action.command?.resources?.cpus = try key.count(value)
    case .memory: action.command?.resources?.memory = try key.size(value)
    case .gpus: action.command?.resources?.gpus = try key.count(value)
    case .resourceTime: action.command?.resources?.time = try key.duration(value)
    case .logLimit: action.command?.logLimit = try key.size(value)
    case .mergeOutput: action.command?.mergesOutput = try key.flag(value)
    case .tty: action.command?.usesTerminal = try key.flag(value)
    case .jobserver: action.command?.usesJobserver = try key.flag(value)
    case .allowFailure: allowFailure = try key.tolerance(value)
    case .maxParallel: action.group?.maxParallel = try key.count(value)
    case .retryMax: control.retry[0].max = try key.count(value)
    case .retryDelay: control.retry[0].delay = try key.duration(value)
    case .retryMaxDelay: control.retry[0].maxDelay = try key.duration(value)
    case .retryWithin: control.retry[0].within = try key.duration(value)
    case .connectTimeout: action.request?.timeouts.connect = try key.duration(value)
    case .idleTimeout: action.request?.timeouts.idle = try key.duration(value)
    case .totalTimeout: action.request?.timeouts.total = try key.duration(value)
    case .maxBytes: action.request?.maxBytes = try key.size(value)
    case .redirects: action.request?.redirects = try key.count(value)
    case .pollEvery: action.request?.polling?.every = try key.duration(value)
    case .pollMax: action.request?.polling?.max = try key.count(value)
    case .pagesMax: action.request?.paging?.max = try key.count(value)
    // Evaluated with the elements of the loop.
    case .elementParallel, .combinationParallel: break
    }
  }

  /// Whether any of ``computed`` can exist; false for most steps, which need not be searched.
  @inline(__always) fileprivate var mayBeComputed: Bool {
    if $timeout.isComputed || $allowFailure.isComputed || hasCommandOptions { return true }
    if policy?.isComputed == true { return true }
    if hasControl, control.fanOut?.hasComputedLimit == true { return true }
    return action.kind == .http || action.group?.$maxParallel.isComputed == true
  }

  /// The texts of keys that an expression computes.
  public var computed: [ComputedKey: String] {
    guard mayBeComputed else { return [:] }
    var texts: [ComputedKey: String] = [:]
    for key in ComputedKey.allCases { texts[key] = expression(of: key)?.text }
    return texts
  }

  /// Visits the expressions of computed keys, in the order of ``ComputedKey``.
  package func visitComputedKeys(_ visit: (ComputedKey, Condition) -> Void) {
    guard mayBeComputed else { return }
    for key in ComputedKey.allCases { expression(of: key).map { visit(key, $0) } }
  }

  private var options: Command.Options? {
    if case .run(let command) = action { command.boxedOptions?.value } else { nil }
  }

  /// The only policy of which a value may be computed.
  private var policy: RetryPolicy? { hasControl ? control.retry.first : nil }

  private var loop: ForEach? {
    if hasControl, case .forEach(let loop) = control.fanOut { loop } else { nil }
  }

  private var matrix: Matrix? {
    if hasControl, case .matrix(let matrix) = control.fanOut { matrix } else { nil }
  }
}

extension RetryPolicy {
  fileprivate var isComputed: Bool {
    $max.isComputed || $delay.isComputed || $maxDelay.isComputed || $within.isComputed
  }
}

extension Workflow {
  /// The texts of keys that an expression computes: ``ComputedKey/timeout`` and ``ComputedKey/maxParallel``.
  public var computed: [ComputedKey: String] {
    var texts: [ComputedKey: String] = [:]
    visitComputedKeys { texts[$0] = $1.text }
    return texts
  }

  /// Visits the expressions of computed keys, in the order of ``ComputedKey``.
  package func visitComputedKeys(_ visit: (ComputedKey, Condition) -> Void) {
    $timeout.expression.map { visit(.timeout, $0) }
    body.$maxParallel.expression.map { visit(.maxParallel, $0) }
  }
}

// MARK: Values

extension ComputedKey {
  /// A type of values that expressions give.
  package enum ValueType: Sendable {
    case duration(allowsZero: Bool)
    case size
    case flag
    case count(ClosedRange<Int>)
    /// A truth, or classes of failures.
    case tolerance
  }

  /// The type that the value must have.
  package var type: ValueType {
    switch self {
    case .timeout, .stallTimeout, .retryWithin, .connectTimeout, .idleTimeout, .totalTimeout,
      .serviceTimeout, .resourceTime:
      .duration(allowsZero: false)
    case .grace, .retryDelay, .retryMaxDelay, .pollEvery: .duration(allowsZero: true)
    case .logLimit, .maxBytes, .memory: .size
    case .cpus, .gpus: .count(ValueRule.processors)
    case .mergeOutput, .tty, .jobserver: .flag
    case .allowFailure: .tolerance
    case .maxParallel, .elementParallel, .combinationParallel: .count(ValueRule.maxParallel)
    case .retryMax, .serviceRestarts: .count(ValueRule.retries)
    case .redirects: .count(ValueRule.redirects)
    case .pollMax, .pagesMax: .count(ValueRule.requests)
    }
  }
}

/// Values of keys from the results of expressions, in the syntax of the file.
extension ComputedKey {
  package func duration(_ value: ExpressionValue) throws(EvaluationError) -> Duration {
    guard case .duration(let allowsZero) = type else { preconditionFailure("\(self) is no time") }
    return try ComputedKey.duration(value, allowsZero: allowsZero)
  }

  static func duration(
    _ value: ExpressionValue, allowsZero: Bool
  ) throws(EvaluationError) -> Duration {
    guard case .string(let text) = value else { throw mismatch(value, "a duration like \"30s\"") }
    do {
      return try DurationText.duration(from: text, allowsZero: allowsZero)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidDuration.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation(allowsZero: allowsZero))",
        help: error.help(allowsZero: allowsZero))
    }
  }

  package func size(_ value: ExpressionValue) throws(EvaluationError) -> ByteCount {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a size like \"10MB\"")
    }
    do {
      return try SizeText.size(from: text)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidSize.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation)", help: error.help)
    }
  }

  package func flag(_ value: ExpressionValue) throws(EvaluationError) -> Bool {
    guard case .boolean(let flag) = value else {
      throw ComputedKey.mismatch(value, "true or false")
    }
    return flag
  }

  package func count(_ value: ExpressionValue) throws(EvaluationError) -> Int {
    guard case .count(let range) = type else { preconditionFailure("\(self) is no number") }
    let wanted = "a whole number from \(range.lowerBound) to \(range.upperBound)"
    guard case .number(let number) = value, let count = number.asInt, range.contains(count)
    else { throw ComputedKey.mismatch(value, wanted) }
    return count
  }

  package func tolerance(_ value: ExpressionValue) throws(EvaluationError) -> FailureTolerance {
    let wanted = "true, false or an array of error classes"
    switch value {
    case .boolean(let all): return all ? .all : .none
    case .array(let array):
      var classes: [ErrorClass] = []
      for element in array.elements {
        guard case .string(let name) = element, let known = ErrorClass(name) else {
          throw ComputedKey.mismatch(element, "an error class")
        }
        classes.append(known)
      }
      return .classes(classes)
    case .null, .number, .string, .object: throw ComputedKey.mismatch(value, wanted)
    }
  }

  static func mismatch(_ value: ExpressionValue, _ wanted: String) -> EvaluationError {
    let found =
      value.primitiveText.map { $0.isEmpty ? value.kindName : quoted($0) } ?? value.kindName
    return .scope(
      code: DefinitionCode.wrongType.rawValue,
      message: "it evaluates to "
        + "\(found), expected \(wanted)",
      help: nil)
  }
}

extension UnsafePointer<Step> {
  /// Whether any of ``Step/computed`` can exist. Of a pointer, because it is asked for every step, and other modules would
  /// have to copy a step to ask it.
  package var mayBeComputed: Bool { pointee.mayBeComputed }
}
