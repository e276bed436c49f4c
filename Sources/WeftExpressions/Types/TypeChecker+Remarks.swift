import WeftDiagnostics

extension TypeChecker {
  /// Adds a remark on operands that are never equal.
  mutating func remark(
    on comparison: Comparison, _ left: ExpressionType, _ right: ExpressionType,
    at range: SourceRange
  ) {
    guard comparison == .equal || comparison == .notEqual else { return }
    let kind =
      ExpressionRemark.Kind.booleanAsText(left, right)
      ?? .neverEqual(
        left: left.remarkName, right: right.remarkName, comparison, nearest: left.nearest(right))
    checked.remarks.append(ExpressionRemark(kind, range))
  }
}

extension ExpressionRemark.Kind {
  fileprivate static func booleanAsText(
    _ left: ExpressionType, _ right: ExpressionType
  ) -> ExpressionRemark.Kind? {
    for (boolean, text) in [(left, right), (right, left)] {
      guard boolean == .boolean, case .string(.some(let values)) = text, values.count == 1,
        ["true", "false"].contains(values[0].lowercased())
      else { continue }
      return .booleanAsText(values[0])
    }
    return nil
  }
}

extension ExpressionType {
  /// The name, with the possible values of a string.
  fileprivate var remarkName: String {
    guard case .string(.some(let values)) = self else { return name }
    let words = values.prefix(8).map { ExpressionText.literal($0) }
    return values.count == 1
      ? "the text \(words[0])"
      : "one of " + words.joined(separator: ", ") + (values.count > 8 ? ", …" : "")
  }

  /// The possible value of one side that is closest to the only value of the other.
  fileprivate func nearest(_ other: ExpressionType) -> String? {
    guard case .string(.some(let left)) = self, case .string(.some(let right)) = other else {
      return nil
    }
    if right.count == 1 { return NearestName(left).nearest(to: right[0]) }
    return left.count == 1 ? NearestName(right).nearest(to: left[0]) : nil
  }
}
