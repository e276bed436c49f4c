/// The source of the types of references.
package protocol TypeScope {
  func type(of reference: ContextReference) -> ReferenceType
}

package enum ReferenceType: Sendable, Hashable {
  case known(ExpressionType, isSecret: Bool)
  /// The reference is invalid; problems that follow from it are not reported.
  case fault(ExpressionError)
}

/// The result of checking an expression before it is evaluated.
package struct CheckedExpression: Sendable {
  package struct Reference: Sendable {
    package var reference: ContextReference
    package var type: ExpressionType
    package var isSecret: Bool
    /// Whether the expression handles a missing value; see ``TypeChecker``.
    package var isGuarded: Bool
  }

  package var type: ExpressionType
  /// Whether it refers to any secret.
  package var isSecret: Bool
  /// The references in source order, including invalid ones, as ``ExpressionType/any``.
  package var references: [Reference]
  package var statusFunctions: Set<StatusFunction>
  package var hashesFiles: Bool
  /// The faults, in the order in which they were found.
  package var faults: [ExpressionError]
  /// Constructs that are valid, but surely unintended.
  package var remarks: [ExpressionRemark]
}
