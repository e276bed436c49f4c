/// What the checker asks: what is known of the values that references name.
package protocol TypeScope {
  func type(of reference: ContextReference) -> ReferenceType
}

package enum ReferenceType: Sendable, Hashable {
  case known(ExpressionType, isSecret: Bool)
  /// The reference is wrong; what is made of it is not blamed again.
  case fault(ExpressionFault)
}

/// What is known of an expression before it is evaluated.
package struct CheckedExpression: Sendable {
  package struct Reference: Sendable {
    package var reference: ContextReference
    package var type: ExpressionType
    package var isSecret: Bool
    /// Whether the expression is prepared for its coming to nothing; see ``TypeChecker``.
    package var isGuarded: Bool
  }

  package var type: ExpressionType
  /// Whether any reference in it is to a secret.
  package var isSecret: Bool
  /// In the order in which they are written; those with faults too, as ``ExpressionType/any``.
  package var references: [Reference]
  package var statusFunctions: Set<StatusFunction>
  package var hashesFiles: Bool
  /// In the order in which they were found.
  package var faults: [ExpressionFault]
  /// Not wrong, but surely not meant.
  package var remarks: [ExpressionRemark]
}
