import WeftDiagnostics

/// Rules for single values of a workflow. The decoder applies them to files, ``BuiltValues`` to workflows built in
/// Swift, so that both accept the same workflows.
package enum ValueRule {
  static let maxParallel = 1...WorkflowLimits.maxParallel
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
