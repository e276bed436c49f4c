import WeftDiagnostics

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
