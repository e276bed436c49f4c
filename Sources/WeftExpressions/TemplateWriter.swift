import WeftDiagnostics
import WeftJSON

/// Builds the text of a template, escaping each value for its context.
struct TemplateWriter {
  private(set) var evaluator: Evaluator
  private(set) var text = ""
  private let escaping: Escaping
  private var quotes = JSONQuotes()
  /// The range of ``text`` that each expression produced.
  private var written: [(expression: Expression, bytes: Range<Int>)] = []

  init(evaluator: Evaluator, escaping: Escaping) {
    self.evaluator = evaluator
    self.escaping = escaping
  }

  mutating func write(
    _ segment: Template.Segment, in scope: some ExpressionScope
  ) throws(ExpressionError) {
    switch segment.content {
    case .text(let literal):
      if escaping == .jsonBody { quotes.pass(literal) }
      try append(literal, at: segment.range)
    case .expression(let expression):
      let value = try evaluator.value(of: expression, in: scope)
      let start = text.utf8.count
      try append(escaped(value, of: expression), at: expression.range)
      written.append((expression, start..<text.utf8.count))
    }
  }

  private mutating func append(_ more: String, at range: SourceRange) throws(ExpressionError) {
    do {
      try evaluator.budget.append(more, to: &text)
    } catch {
      throw ExpressionError(error, range)
    }
  }

  private func escaped(
    _ value: ExpressionValue, of expression: Expression
  ) throws(ExpressionError) -> String {
    if escaping == .jsonBody, !quotes.isInside { return try json(value, of: expression) }
    let text = try plain(value, of: expression)
    switch escaping {
    case .plain: return text
    case .urlPath, .urlQuery: return PercentEncoding.encoded(text)
    case .filePattern: return FileSelection.literally(text)
    case .header:
      guard let byte = text.utf8.first(where: { $0 == 0 || $0 == 0x0A || $0 == 0x0D }) else {
        return text
      }
      throw fault(.unfitForHeader(expression.text, byte), expression)
    case .jsonBody:
      var writer = JSONWriter()
      writer.string(text)
      return String(writer.text.dropFirst().dropLast())
    }
  }

  private func plain(
    _ value: ExpressionValue, of expression: Expression
  ) throws(ExpressionError) -> String {
    if case .null = value { throw fault(.nothingToWrite(expression.text), expression) }
    guard let text = value.primitiveText else {
      throw fault(.notWritable(expression.text, found: value.kindName), expression)
    }
    return text
  }

  private func json(
    _ value: ExpressionValue, of expression: Expression
  ) throws(ExpressionError) -> String {
    if case .number(let number) = value, !number.isFinite {
      throw fault(.notJSONNumber(expression.text), expression)
    }
    return value.jsonText(.compact)
  }

  private func fault(_ problem: EvaluationError, _ expression: Expression) -> ExpressionError {
    ExpressionError(problem, expression.range)
  }

  /// Rejects a path in which a value makes a segment that is not a name (RFC 3986 §5.2.4).
  func checkPath() throws(ExpressionError) {
    guard escaping == .urlPath else { return }
    let bytes = Array(text.utf8)
    for (expression, range) in written {
      guard let segment = TemplateWriter.dots(around: range, in: bytes) else { continue }
      throw fault(.unfitForPath(expression.text, segment), expression)
    }
  }

  /// The segment that contains the range, if it is `.` or `..`.
  private static func dots(around range: Range<Int>, in bytes: [UInt8]) -> String? {
    func isDot(_ index: Int) -> Bool { bytes[index] == UInt8(ascii: ".") }
    func isEnd(_ byte: UInt8) -> Bool {
      [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains(byte)
    }
    guard range.count <= 2 else { return nil }
    var (start, end) = (range.lowerBound, range.upperBound)
    while start > 0, end - start <= 2, isDot(start - 1) { start -= 1 }
    while end < bytes.count, end - start <= 2, isDot(end) { end += 1 }
    guard (1...2).contains(end - start), (start..<end).allSatisfy(isDot),
      start == 0 || bytes[start - 1] == UInt8(ascii: "/"),
      end == bytes.count || isEnd(bytes[end])
    else { return nil }
    return String(decoding: bytes[start..<end], as: UTF8.self)
  }
}

extension Template {
  /// Evaluates the template.
  ///
  /// With ``Escaping/plain``, the value of an ``onlyExpression`` keeps its type; everything else yields a string.
  /// Within text, `null`, arrays and objects are faults, because `Object` in the middle of a command is never intended.
  /// A template with faults throws the first one.
  package func evaluate(
    in scope: some ExpressionScope, escaping: Escaping = .plain,
    limits: ExpressionLimits = .standard
  ) throws(ExpressionError) -> ScopedValue {
    if let fault = faults.first { throw fault }
    if isLiteral { return ScopedValue(.string(text)) }
    if escaping == .plain, let onlyExpression {
      return try onlyExpression.evaluate(in: scope, limits: limits)
    }
    let budget = AllocationBudget(limit: limits.madeBytes)
    var writer = TemplateWriter(
      evaluator: Evaluator(budget: budget), escaping: escaping)
    for segment in segments { try writer.write(segment, in: scope) }
    try writer.checkPath()
    return ScopedValue(.string(writer.text), isSecret: writer.evaluator.isSecret)
  }
}

/// The context for which the values of a template are escaped.
package enum Escaping: Sendable, Hashable, CaseIterable {
  /// No escaping.
  case plain
  /// Part of a URL path: everything but the unreserved characters of RFC 3986 §2.3 is percent-encoded, including the
  /// slash, and no value may make a segment `.` or `..` (§5.2.4).
  case urlPath
  /// Part of a URL query: everything but unreserved characters is percent-encoded.
  case urlQuery
  /// A header value: line ends and NUL are rejected (RFC 9110 §5.5).
  case header
  /// JSON text: within quotes, the value becomes part of the string; elsewhere it is written as JSON, including `null`,
  /// arrays and objects.
  case jsonBody
  /// A file pattern: the value is matched literally.
  case filePattern
}

enum PercentEncoding {
  static func encoded(_ text: String) -> String {
    guard !text.utf8.allSatisfy(isUnreserved) else { return text }
    let digits = Array("0123456789ABCDEF".utf8)
    var encoded: [UInt8] = []
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.append(byte)
      } else {
        encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// Whether the byte is an unreserved character (RFC 3986 §2.3).
  private static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
      UInt8(ascii: "_"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}

/// Tracks whether a JSON text, as far as it was passed, ends inside a string.
struct JSONQuotes {
  private(set) var isInside = false
  private var isEscaped = false

  mutating func pass(_ text: String) {
    for byte in text.utf8 {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInside.toggle()
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = isInside
      }
    }
  }
}
