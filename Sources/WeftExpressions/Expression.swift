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
  package var bytes = 21_000
  /// The maximum nesting of parentheses, arguments, operators and accesses.
  package var depth = 50
  /// The maximum number of operands and operators in an expression.
  package var nodes = 10_000
  /// The maximum total size, in bytes, of the strings and lists that one evaluation creates.
  package var madeBytes = 16 << 20
  /// The maximum work that one evaluation spends on expressions for each element: nodes, and the elements and bytes
  /// that functions and comparisons read there.
  package var elementWork = 50_000_000

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

/// A node of an expression's syntax tree, with its location.
package struct ExpressionNode: Sendable {
  /// The range of the node, without parentheses around it.
  package var range: SourceRange
  package var form: Form

  package indirect enum Form: Sendable {
    case literal(ExpressionValue)
    /// A name of a context with all literal names that follow it.
    case reference(ContextReference)
    /// `item` or `index` of the list that the innermost `filter`, `map` or `sort` looks at, with all literal names that
    /// follow it. Not a reference: the expression itself gives the value.
    case element(ContextReference)
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
    /// The second argument of `filter`, `map` and `sort` is the expression that its text is, with its ranges there.
    case call(ExpressionFunction, [ExpressionNode])
  }

  package init(_ form: Form, _ range: SourceRange) {
    self.form = form
    self.range = range
  }

  /// The direct children, in source order.
  package var children: [ExpressionNode] {
    switch form {
    case .literal, .reference, .element: []
    case .filter(let base): [base]
    case .not(let operand): [operand]
    case .index(let base, let index): [base, index]
    case .comparison(_, let left, let right): [left, right]
    case .all(let operands), .any(let operands): operands
    case .call(_, let arguments): arguments
    }
  }

  /// Whether a member of this name is read of anything but a reference: of an element, or of the result of a function.
  package func readsMember(_ name: String) -> Bool {
    switch form {
    case .element(let reference): reference.names.dropFirst().contains { $0.text == name }
    case .index(let base, let index):
      if case .literal(.string(name)) = index.form {
        true
      } else {
        base.readsMember(name) || index.readsMember(name)
      }
    default: children.contains { $0.readsMember(name) }
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

  /// Whether it names the element, or the number of the element, where there is one.
  var isOfElement: Bool { isOfContext("item") || isOfContext("index") }

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

extension Expression {
  /// All references, in source order.
  package var references: [ContextReference] {
    var references: [ContextReference] = []
    root.visit { node in
      if case .reference(let reference) = node.form { references.append(reference) }
    }
    return references
  }

  /// The status functions that it calls.
  package var statusFunctions: Set<StatusFunction> {
    var found: Set<StatusFunction> = []
    root.visit { node in
      if case .call(let function, _) = node.form, let status = function.status {
        found.insert(status)
      }
    }
    return found
  }
}

extension ExpressionNode {
  /// Visits this node and all nodes below it: parents before children, children in source order.
  package func visit(_ body: (ExpressionNode) -> Void) {
    body(self)
    for child in children { child.visit(body) }
  }
}
