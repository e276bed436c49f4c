package import WeftDiagnostics

/// A node of an expression's syntax tree, with its location.
package struct ExpressionNode: Sendable {
  /// The range of the node, without parentheses around it.
  package var range: SourceRange
  package var form: Form

  package indirect enum Form: Sendable {
    case literal(ExpressionValue)
    /// A name of a context with all literal names that follow it.
    case reference(ContextReference)
    /// `a[b]`, and `.name` after anything but a reference.
    case index(ExpressionNode, by: ExpressionNode)
    /// `a.*` and `a[*]`.
    case filter(ExpressionNode)
    case not(ExpressionNode)
    case comparison(Comparison, ExpressionNode, ExpressionNode)
    /// `a && b && c`: the first falsy operand, or else the last. At least two operands.
    case all([ExpressionNode])
    /// `a || b || c`: the first truthy operand, or else the last. At least two operands.
    case any([ExpressionNode])
    case call(ExpressionFunction, [ExpressionNode])
  }

  package init(_ form: Form, _ range: SourceRange) {
    self.form = form
    self.range = range
  }

  /// The direct children, in source order.
  package var children: [ExpressionNode] {
    switch form {
    case .literal, .reference: []
    case .filter(let base): [base]
    case .not(let operand): [operand]
    case .index(let base, let index): [base, index]
    case .comparison(_, let left, let right): [left, right]
    case .all(let operands), .any(let operands): operands
    case .call(_, let arguments): arguments
    }
  }
}

/// A value of a context, named statically: `steps.a.outputs.x` in any notation (`steps['a'].outputs['x']`).
package struct ContextReference: Sendable {
  package struct Name: Sendable {
    package let text: String
    /// For `['a']`, the range of the literal, including its quotes.
    package let range: SourceRange

    package init(_ text: String, _ range: SourceRange) {
      self.text = text
      self.range = range
    }
  }

  /// The names; never empty. The first is the context.
  package let names: [Name]

  package init(_ names: [Name]) {
    precondition(!names.isEmpty, "a reference names at least its context")
    self.names = names
  }

  /// The context's name as written; contexts are case-insensitive.
  package var context: String { names[0].text }

  /// Whether its context has that name, case-insensitively.
  package func isOfContext(_ name: String) -> Bool { FoldedText.areEqual(context, name) }

  /// The range from the context's name to the end of the last name.
  package var range: SourceRange {
    SourceRange(start: Int(names[0].range.start), end: Int(names[names.count - 1].range.end))
  }

  /// The reference in dot notation, with brackets for names that need them.
  package var text: String {
    names.dropFirst().reduce(names[0].text) { text, name in
      Lexer.isName(name.text)
        ? "\(text).\(name.text)" : "\(text)[\(ExpressionText.literal(name.text))]"
    }
  }
}

/// A comparison operator.
package enum Comparison: String, Sendable, Hashable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

/// Formats parts of expressions.
package enum ExpressionText {
  /// The text as a string literal of the language.
  package static func literal(_ text: String) -> String {
    var literal = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { literal += "'" }
      literal.unicodeScalars.append(scalar)
    }
    return literal + "'"
  }
}
