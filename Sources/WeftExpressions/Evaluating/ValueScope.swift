/// A scope of plain values, as in `weft eval`: missing values are `null`, as on GitHub.
package struct ValueScope: ExpressionScope {
  /// The values, by the names of the contexts.
  package var contexts: ExpressionObject
  package var statuses: Set<StatusFunction>
  private let hash: @Sendable ([String]) throws(ExpressionError) -> String

  /// - Parameters:
  ///   - statuses: The status functions that are true.
  ///   - hash: The implementation of `hashFiles`.
  package init(
    _ contexts: ExpressionObject, statuses: Set<StatusFunction> = [.success, .always],
    hash: @escaping @Sendable ([String]) throws(ExpressionError) -> String = { _ in "" }
  ) {
    self.contexts = contexts
    self.statuses = statuses
    self.hash = hash
  }

  package func value(of reference: ContextReference) -> ScopedValue {
    var value = ExpressionValue.object(contexts)
    for name in reference.names {
      guard case .object(let object) = value else {
        value = value.value(at: .string(name.text))
        continue
      }
      value = object[name.text] ?? .null
    }
    return ScopedValue(value)
  }

  package func status(_ function: StatusFunction) -> Bool { statuses.contains(function) }

  package func hashFiles(_ patterns: [String]) throws(ExpressionError) -> String {
    try hash(patterns)
  }
}
