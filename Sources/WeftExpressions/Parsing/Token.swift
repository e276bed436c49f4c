import WeftDiagnostics

/// A token of an expression: its kind and range.
struct Token {
  enum Kind: UInt8 {
    case openParenthesis, closeParenthesis, openBracket, closeBracket, comma, dot, star
    case not, equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, and, or
    case number, text, name, `true`, `false`, null
    case end
  }

  var kind: Kind
  var start: Int
  var end: Int

  var range: SourceRange { SourceRange(start: start, end: end) }

  /// `nil` if the token is not a comparison operator.
  var comparison: Comparison? {
    switch kind {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    default: nil
    }
  }
}
