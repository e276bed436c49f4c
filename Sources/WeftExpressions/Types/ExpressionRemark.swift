package import WeftDiagnostics

/// A construct in an expression that is surely unintended, and its location.
package struct ExpressionRemark: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// `left` and `right` are the names of the operands in messages; `nearest` is a possible value.
    case neverEqual(left: String, right: String, Comparison, nearest: String?)
    /// A boolean compared with `'true'` or `'false'`.
    case booleanAsText(String)
  }

  package var kind: Kind
  /// UTF-8 offsets, as in ``ExpressionError/range``.
  package var range: SourceRange

  package init(_ kind: Kind, _ range: SourceRange) {
    self.kind = kind
    self.range = range
  }

  package var code: String { "W0510" }

  package var message: String {
    switch kind {
    case .neverEqual(let left, let right, let comparison, _):
      "this is always \(comparison == .notEqual), since \(left) never equals \(right)"
    case .booleanAsText(let text):
      "a boolean never equals the text '\(text)', which counts as no number"
    }
  }

  package var help: String? {
    switch kind {
    case .neverEqual(_, _, _, let nearest): nearest.map { "did you mean '\($0)'?" }
    case .booleanAsText(let text): "write \(text) without quotes"
    }
  }
}
