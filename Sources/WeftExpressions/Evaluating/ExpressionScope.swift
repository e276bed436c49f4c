/// Where an expression gets its values from.
///
/// Asked for one reference at a time, and only for those whose value is needed.
package protocol ExpressionScope {
  /// - Throws: A fault, which should have the range of the name that is to blame.
  func value(of reference: ContextReference) throws(ExpressionFault) -> ScopedValue

  /// Not asked for ``StatusFunction/always``.
  func status(_ function: StatusFunction) -> Bool

  /// The hash of the files that patterns name, as 64 lower case hexadecimal digits; empty for none.
  ///
  /// - Throws: A fault of any range; it is told at the call.
  func hashFiles(_ patterns: [String]) throws(ExpressionFault) -> String
}

/// What a reference comes to, and whether it must not be shown.
package struct ScopedValue: Sendable {
  package var value: ExpressionValue
  package var isSecret: Bool

  package init(_ value: ExpressionValue, isSecret: Bool = false) {
    self.value = value
    self.isSecret = isSecret
  }
}

/// What an expression or a template comes to.
package struct Evaluation: Sendable {
  package var value: ExpressionValue
  /// Whether a secret was looked at: also one that decided and does not stand in the value.
  package var isSecret: Bool

  package init(_ value: ExpressionValue, isSecret: Bool = false) {
    self.value = value
    self.isSecret = isSecret
  }
}
