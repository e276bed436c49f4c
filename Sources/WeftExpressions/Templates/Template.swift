package import WeftDiagnostics

/// A string with `${{ … }}` expressions.
package struct Template: Sendable {
  package struct Segment: Sendable, Hashable {
    package enum Content: Sendable, Hashable {
      case text(String)
      case expression(Expression)
    }

    package let content: Content
    /// The range in the template's text; for an expression, including `${{` and `}}`.
    package let range: SourceRange

    package init(_ content: Content, _ range: SourceRange) {
      self.content = content
      self.range = range
    }
  }

  package let text: String
  /// The faults, sorted by location. A template with faults cannot be evaluated.
  package let faults: [ExpressionError]
  /// Empty for a template without expressions.
  private let parts: [Segment]

  init(text: String, parts: [Segment], faults: [ExpressionError]) {
    self.text = text
    self.parts = parts
    self.faults = faults
  }

  /// Creates a template that is a single expression.
  package init(_ expression: Expression) {
    self.init(
      text: expression.source, parts: [Segment(.expression(expression), expression.range)],
      faults: [])
  }

  /// Parses a string as far as possible, and collects its faults. Expressions with faults are missing in ``segments``.
  ///
  /// A string without `${{` is only searched for it.
  package static func parse(
    _ text: String, limits: ExpressionLimits = .standard
  ) -> Template {
    guard TemplateParser.hasExpressions(text) else {
      return Template(text: text, parts: [], faults: [])
    }
    var parser = TemplateParser(text, limits: limits)
    parser.parse()
    return Template(text: text, parts: parser.segments, faults: parser.faults)
  }

  /// The texts and expressions, in order; texts are never empty and never adjacent.
  package var segments: [Segment] {
    guard isLiteral, !text.isEmpty else { return parts }
    return [Segment(.text(text), SourceRange(start: 0, end: text.utf8.count))]
  }

  /// Whether it has no expressions, valid or not, so that it evaluates to ``text``.
  package var isLiteral: Bool { parts.isEmpty && faults.isEmpty }

  /// The expressions, in order.
  package var expressions: [Expression] {
    parts.compactMap { segment in
      guard case .expression(let expression) = segment.content else { return nil }
      return expression
    }
  }

  /// The UTF-8 range of each expression in ``text``, including `${{` and `}}`.
  package var expressionRanges: [Range<Int>] {
    parts.compactMap { segment in
      guard case .expression = segment.content else { return nil }
      return Int(segment.range.start)..<Int(segment.range.end)
    }
  }

  /// Visits its expressions in order, without building a list.
  package func visitExpressions(_ visit: (Expression) -> Void) {
    for part in parts {
      if case .expression(let expression) = part.content { visit(expression) }
    }
  }

  /// The expression, if it is the whole string; its value keeps its type.
  package var onlyExpression: Expression? {
    guard isOneExpression, case .expression(let expression) = parts[0].content else { return nil }
    return expression
  }

  /// Whether the string is a single expression.
  package var isOneExpression: Bool {
    guard parts.count == 1, faults.isEmpty, case .expression = parts[0].content else {
      return false
    }
    return true
  }
}

extension Template: Hashable {
  /// Compares texts, scalar by scalar.
  package static func == (left: Template, right: Template) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  package func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension Template {
  /// Parses a condition, which is the whole template, or records its fault.
  package static func parse(
    condition text: String, limits: ExpressionLimits = .standard
  ) -> Template {
    do throws(ExpressionError) {
      return Template(try condition(text, limits: limits))
    } catch {
      return Template(text: text, parts: [], faults: [error])
    }
  }

  /// Parses a condition: an expression, bare or as `${{ … }}`, with only white space around it.
  ///
  /// In a bare expression, `${{` is allowed only within a string.
  package static func condition(
    _ text: String, limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> Expression {
    if let condition = try wrappedCondition(text, limits: limits) { return condition }
    do {
      return try Expression.parse(text, limits: limits)
    } catch {
      guard case .unexpectedSymbol(let symbol) = error.problem, symbol.hasPrefix("${{") else {
        throw error
      }
      throw ExpressionError(.textAroundExpression, error.range)
    }
  }

  /// `nil` if the text does not begin with `${{`.
  private static func wrappedCondition(
    _ text: String, limits: ExpressionLimits
  ) throws(ExpressionError) -> Expression? {
    let space = text.utf8.prefix(while: Lexer.isSpace).count
    guard text.utf8.dropFirst(space).starts(with: TemplateParser.opening) else { return nil }
    let template = parse(text, limits: limits)
    if let fault = template.faults.first { throw fault }
    var condition: Expression?
    for segment in template.segments {
      switch segment.content {
      case .text(let text) where text.utf8.allSatisfy(Lexer.isSpace): continue
      case .expression(let expression) where condition == nil: condition = expression
      case .text, .expression: throw ExpressionError(.textAroundExpression, segment.range)
      }
    }
    return condition
  }
}
