package import WeftDiagnostics

/// One expression: what stands between `${{` and `}}`, or bare in an `if`.
///
/// The module in the order it happens: ``Template`` finds the expressions in a text, ``Parser``
/// makes a tree of ``ExpressionNode`` of each (every mistake that needs no context is found here),
/// ``TypeChecker`` says what the tree refers to and what it can come to, and ``Evaluator`` brings
/// it to an ``ExpressionValue`` with what an ``ExpressionScope`` tells. The language is that of
/// GitHub Actions; `Expressions.md` has every rule, and what differs.
///
/// Parsed once, evaluated as often as one likes. All ranges are offsets of UTF-8 in ``source``.
package struct Expression: Sendable {
  /// The whole text in which the expression stands.
  package let source: String
  /// Where in ``source``, without white space around it.
  package let range: SourceRange
  package let root: ExpressionNode
  /// Whether there is nothing in it; such an expression is `null`.
  package let isEmpty: Bool

  /// The expression as it is written.
  package var text: String { source.text(in: range) }

  /// Reads a text that is an expression and nothing else.
  ///
  /// - Throws: The first fault: of syntax, an unknown function, a wrong number of arguments, or a
  ///   limit exceeded.
  package static func parse(
    _ text: String, limits: ExpressionLimits = .standard
  ) throws(ExpressionFault) -> Expression {
    try parse(text, from: 0, to: text.utf8.count, limits: limits)
  }

  /// Reads the part of a text that is an expression.
  static func parse(
    _ source: String, from start: Int, to end: Int, limits: ExpressionLimits
  ) throws(ExpressionFault) -> Expression {
    var copy = source
    let outcome: Result<Expression, ExpressionFault> = copy.withUTF8 { bytes in
      Result { () throws(ExpressionFault) in
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
  /// By what is written, white space included.
  package static func == (left: Expression, right: Expression) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

/// How much is read as one expression, and how much one may make.
package struct ExpressionLimits: Sendable, Hashable {
  /// Bytes of one expression.
  package var bytes: Int
  /// Parentheses, arguments, operators and accesses inside each other.
  package var depth: Int
  /// Operands and operators of one expression.
  package var nodes: Int
  /// Bytes of all texts and lists that one evaluation makes.
  package var madeBytes: Int

  package init(
    bytes: Int = 21_000, depth: Int = 50, nodes: Int = 10_000, madeBytes: Int = 16 << 20
  ) {
    self.bytes = bytes
    self.depth = depth
    self.nodes = nodes
    self.madeBytes = madeBytes
  }

  /// The length and the depth are GitHub's.
  package static let standard = ExpressionLimits()
}

extension String {
  /// The part at these offsets of UTF-8, which must not cut a scalar in two.
  func text(in range: SourceRange) -> String {
    let start = utf8.index(utf8.startIndex, offsetBy: Int(range.start))
    let end = utf8.index(start, offsetBy: Int(range.end - range.start))
    return String(self[start..<end])
  }
}
