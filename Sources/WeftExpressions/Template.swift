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
      guard text.text(in: error.range).hasPrefix("${{") else { throw error }
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

/// Finds `${{ … }}` in a string. `}}` inside the quotes of an expression does not end it.
struct TemplateParser {
  static let opening: [UInt8] = Array("${{".utf8)

  private let text: String
  private let bytes: [UInt8]
  private let limits: ExpressionLimits
  private(set) var segments: [Template.Segment] = []
  private(set) var faults: [ExpressionError] = []

  init(_ text: String, limits: ExpressionLimits) {
    self.text = text
    self.limits = limits
    bytes = Array(text.utf8)
  }

  static func hasExpressions(_ text: String) -> Bool {
    var copy = text
    return copy.withUTF8 { firstOpening(in: $0, from: 0) != nil }
  }

  private static func firstOpening(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
    var index = start
    while index + 2 < bytes.count {
      if bytes[index + 2] != UInt8(ascii: "{") {
        // Without a brace here, no match begins at any of these three offsets, except at the last if it is a dollar
        // sign.
        index += bytes[index + 2] == UInt8(ascii: "$") ? 2 : 3
      } else if bytes[index] == UInt8(ascii: "$"), bytes[index + 1] == UInt8(ascii: "{") {
        return index
      } else {
        index += 1
      }
    }
    return nil
  }

  mutating func parse() {
    var start = 0
    while let opening = firstOpening(from: start) {
      add(start, opening)
      guard let closing = closing(from: opening + 3) else {
        let range = SourceRange(start: opening, end: opening + 3)
        faults.append(ExpressionError(.unclosedExpression, range))
        return
      }
      readExpression(from: opening, to: closing + 2)
      start = closing + 2
    }
    add(start, bytes.count)
  }

  private func firstOpening(from start: Int) -> Int? {
    bytes.withUnsafeBufferPointer { TemplateParser.firstOpening(in: $0, from: start) }
  }

  /// The offset of the next `}}` outside of quotes.
  private func closing(from start: Int) -> Int? {
    var isQuoted = false
    var index = start
    while index + 1 < bytes.count {
      if bytes[index] == UInt8(ascii: "'") {
        isQuoted.toggle()
      } else if !isQuoted, bytes[index] == UInt8(ascii: "}"), bytes[index + 1] == bytes[index] {
        return index
      }
      index += 1
    }
    return nil
  }

  private mutating func add(_ start: Int, _ end: Int) {
    guard start < end else { return }
    let text = String(decoding: bytes[start..<end], as: UTF8.self)
    segments.append(.init(.text(text), SourceRange(start: start, end: end)))
  }

  private mutating func readExpression(from start: Int, to end: Int) {
    let range = SourceRange(start: start, end: end)
    do {
      let expression = try Expression.parse(text, from: start + 3, to: end - 2, limits: limits)
      guard !expression.isEmpty else {
        faults.append(ExpressionError(.emptyExpression, range))
        return
      }
      segments.append(.init(.expression(expression), range))
    } catch {
      faults.append(error)
    }
  }
}
