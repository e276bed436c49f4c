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
      let value = try evaluator.value(of: expression.root, in: scope)
      let start = text.utf8.count
      try append(escaped(value, of: expression), at: expression.range)
      written.append((expression, start..<text.utf8.count))
    }
  }

  private mutating func append(_ more: String, at range: SourceRange) throws(ExpressionError) {
    do {
      try evaluator.room.append(more, to: &text)
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

  private func fault(_ problem: ExpressionProblem, _ expression: Expression) -> ExpressionError {
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
