/// The source of the values of an expression.
///
/// Queried for one reference at a time, and only for those whose value is needed.
package protocol ExpressionScope {
  /// - Throws: A fault, with the range of the offending name.
  func value(of reference: ContextReference) throws(ExpressionError) -> ScopedValue

  /// Never called with ``StatusFunction/always``.
  func status(_ function: StatusFunction) -> Bool

  /// The hash of the files that the patterns match, as 64 lowercase hexadecimal digits; empty if there are none.
  ///
  /// - Throws: A fault with any range; it is reported at the call.
  func hashFiles(_ patterns: [String]) throws(ExpressionError) -> String
}

/// The value of a reference, and whether it must not be shown.
package struct ScopedValue: Sendable {
  package var value: ExpressionValue
  package var isSecret: Bool

  package init(_ value: ExpressionValue, isSecret: Bool = false) {
    self.value = value
    self.isSecret = isSecret
  }
}

/// The result of an expression or a template.
package struct Evaluation: Sendable {
  package var value: ExpressionValue
  /// Whether a secret was read, even one that decided the value without being part of it.
  package var isSecret: Bool

  package init(_ value: ExpressionValue, isSecret: Bool = false) {
    self.value = value
    self.isSecret = isSecret
  }
}
