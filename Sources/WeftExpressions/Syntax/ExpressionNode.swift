package import WeftDiagnostics

/// A part of an expression, and where it is written.
package struct ExpressionNode: Sendable {
  /// From the first byte to the last of what belongs to it; parentheses around it do not.
  package var range: SourceRange
  package var form: Form

  package indirect enum Form: Sendable {
    case literal(ExpressionValue)
    /// A name of a context with all names that follow it and are written out.
    case reference(ContextReference)
    /// `a[b]`, and `.name` after what is no reference.
    case index(ExpressionNode, by: ExpressionNode)
    /// `a.*` and `a[*]`.
    case filter(ExpressionNode)
    case not(ExpressionNode)
    case comparison(Comparison, ExpressionNode, ExpressionNode)
    /// `a && b && c`: the first that is false, else the last. Two operands at least.
    case all([ExpressionNode])
    /// `a || b || c`: the first that is true, else the last. Two operands at least.
    case any([ExpressionNode])
    case call(ExpressionFunction, [ExpressionNode])
  }

  package init(_ form: Form, _ range: SourceRange) {
    self.form = form
    self.range = range
  }

  /// The parts from which this one is made, as they are written.
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

/// A value of a context that is named without computing: `steps.a.outputs.x`, in whatever spelling
/// (`steps['a'].outputs['x']`).
package struct ContextReference: Sendable {
  package struct Name: Sendable {
    package let text: String
    /// With the quotes and brackets of `['a']` it is the literal's, quotes included.
    package let range: SourceRange

    package init(_ text: String, _ range: SourceRange) {
      self.text = text
      self.range = range
    }
  }

  /// Never empty; the first is the context's.
  package let names: [Name]

  package init(_ names: [Name]) {
    precondition(!names.isEmpty, "a reference names at least its context")
    self.names = names
  }

  /// The context's name as it is written; contexts are found regardless of upper and lower case.
  package var context: String { names[0].text }

  /// Whether its context has that name, regardless of upper and lower case.
  package func isOfContext(_ name: String) -> Bool { FoldedText.areEqual(context, name) }

  /// From the context's name to the end of the last name.
  package var range: SourceRange {
    SourceRange(start: Int(names[0].range.start), end: Int(names[names.count - 1].range.end))
  }

  /// With dots, and with brackets where a name needs them.
  package var text: String {
    names.dropFirst().reduce(names[0].text) { text, name in
      Lexer.isName(name.text)
        ? "\(text).\(name.text)" : "\(text)[\(ExpressionText.literal(name.text))]"
    }
  }
}

/// How two operands are compared.
package enum Comparison: String, Sendable, Hashable {
  case equal = "=="
  case notEqual = "!="
  case less = "<"
  case lessOrEqual = "<="
  case greater = ">"
  case greaterOrEqual = ">="
}

/// Writing parts of expressions.
package enum ExpressionText {
  /// A text as a literal of the language.
  package static func literal(_ text: String) -> String {
    var literal = "'"
    for scalar in text.unicodeScalars {
      if scalar == "'" { literal += "'" }
      literal.unicodeScalars.append(scalar)
    }
    return literal + "'"
  }
}
