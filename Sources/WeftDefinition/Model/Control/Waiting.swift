import WeftDiagnostics
package import WeftExpressions

/// The duration or end of a `wait`.
public enum Waiting: Sendable, Hashable {
  case duration(Duration)
  /// A moment of wall-clock time.
  case until(WallMoment)
  /// A text that is exactly one expression, which evaluates to a duration.
  case computedDuration(Condition)
  /// A text that is exactly one expression, which evaluates to a moment.
  case computedMoment(Condition)
}

/// A moment of wall-clock time in the format of RFC 3339.
public struct WallMoment: Sendable, Hashable {
  /// Nanoseconds since 1970-01-01T00:00:00Z, without leap seconds.
  public var nanoseconds: Int64
  /// The original text.
  public var text: String

  public init(nanoseconds: Int64, text: String) {
    self.nanoseconds = nanoseconds
    self.text = text
  }
}

/// A request for a person's approval.
public struct Approval: Sendable, Hashable {
  /// The message for the approver; may contain expressions.
  public var message: String

  public init(message: String) {
    self.message = message
  }
}

/// Durations and moments of a wait from the results of expressions.
extension Waiting {
  package static func duration(_ value: ExpressionValue) throws(EvaluationError) -> Duration {
    try ComputedKey.duration(value, allowsZero: true)
  }

  package static func moment(_ value: ExpressionValue) throws(EvaluationError) -> WallMoment {
    guard case .string(let text) = value else {
      throw ComputedKey.mismatch(value, "a time like \"\(MomentText.ParseError.example)\"")
    }
    do {
      return try MomentText.moment(from: text)
    } catch {
      throw .scope(
        code: DefinitionCode.invalidMoment.rawValue,
        message: "it evaluates to \(quoted(text)), \(error.expectation)", help: error.help)
    }
  }
}
