package import WeftDiagnostics

/// One expression: the text between `${{` and `}}`, or the bare value of an `if`.
///
/// In the order of the work: ``Template`` finds the expressions in a text. ``Parser`` makes each a tree of
/// ``ExpressionNode``; every error that needs no context is found here. ``TypeChecker`` determines what the tree refers
/// to and which values it can have, and ``Evaluator`` evaluates it to an ``ExpressionValue`` with the values of an
/// ``ExpressionScope``. The language is that of GitHub Actions; `Expressions.md` has every rule and all differences.
///
/// Parsed once, evaluated any number of times. All ranges are UTF-8 offsets in ``source``.
package struct Expression: Sendable {
  /// The whole text that contains the expression.
  package let source: String
  /// The range in ``source``, without surrounding white space.
  package let range: SourceRange
  package let root: ExpressionNode
  /// Whether it is empty; an empty expression evaluates to `null`.
  package let isEmpty: Bool

  /// The expression as written.
  package var text: String { source.text(in: range) }

  /// Parses a text that is a single expression.
  ///
  /// - Throws: The first fault: a syntax error, an unknown function, a wrong number of arguments, or an exceeded limit.
  package static func parse(
    _ text: String, limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> Expression {
    try parse(text, from: 0, to: text.utf8.count, limits: limits)
  }

  /// Parses a part of a text as an expression.
  static func parse(
    _ source: String, from start: Int, to end: Int, limits: ExpressionLimits
  ) throws(ExpressionError) -> Expression {
    var copy = source
    let outcome: Result<Expression, ExpressionError> = copy.withUTF8 { bytes in
      Result { () throws(ExpressionError) in
        var parser = Parser(bytes, from: start, to: end, limits: limits)
        let parsed = try parser.parse()
        return Expression(
          source: source, range: parsed.range, root: parsed.root, isEmpty: parsed.isEmpty)
      }
    }
    return try outcome.get()
  }
}

extension Expression: Hashable {
  /// Compares the source text, including white space.
  package static func == (left: Expression, right: Expression) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// Limits on the size of an expression and on what an evaluation may create.
package struct ExpressionLimits: Sendable, Hashable {
  /// The maximum length of an expression in bytes.
  package var bytes: Int
  /// The maximum nesting of parentheses, arguments, operators and accesses.
  package var depth: Int
  /// The maximum number of operands and operators in an expression.
  package var nodes: Int
  /// The maximum total size, in bytes, of the strings and lists that one evaluation creates.
  package var madeBytes: Int

  package init(
    bytes: Int = 21_000, depth: Int = 50, nodes: Int = 10_000, madeBytes: Int = 16 << 20
  ) {
    self.bytes = bytes
    self.depth = depth
    self.nodes = nodes
    self.madeBytes = madeBytes
  }

  /// The length and depth limits are GitHub's.
  package static let standard = ExpressionLimits()
}

extension String {
  /// The part in this range of UTF-8 offsets, which must not split a scalar.
  func text(in range: SourceRange) -> String {
    let start = utf8.index(utf8.startIndex, offsetBy: Int(range.start))
    let end = utf8.index(start, offsetBy: Int(range.end - range.start))
    return String(self[start..<end])
  }
}
