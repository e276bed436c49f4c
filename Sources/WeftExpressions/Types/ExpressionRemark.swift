package import WeftDiagnostics

/// Something in an expression that is surely not meant, and where it is.
package struct ExpressionRemark: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// `left` and `right` are how messages call the operands; `nearest` is a value that can be.
    case neverEqual(left: String, right: String, Comparison, nearest: String?)
    /// A boolean compared with `'true'` or `'false'`.
    case booleanAsText(String)
  }

  package var kind: Kind
  /// Offsets as in ``ExpressionFault/range``.
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
