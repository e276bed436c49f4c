import WeftDiagnostics

/// Splits the bytes of an expression into tokens, one at a time.
///
/// Follows GitHub in where words end: a word or number extends to the next white space or one of `([)],.!><=&|`, so
/// `a*b` and `1'x'` are one invalid word.
struct Lexer {
  private let bytes: UnsafeBufferPointer<UInt8>
  private let end: Int
  private(set) var offset: Int
  /// The kind of the previous token; decides whether a point begins a number, and whether `true` is a name.
  private var previous = Token.Kind.end
  /// The value of the last token, if it was a number.
  private(set) var number = ExpressionNumber(0)
  /// The number of bytes that write one quote: twice as many in each text within a text.
  private let quoteWidth: Int

  init(
    _ bytes: UnsafeBufferPointer<UInt8>, from start: Int, to end: Int, quoteWidth: Int = 1
  ) {
    self.bytes = bytes
    self.end = end
    self.quoteWidth = quoteWidth
    offset = start
  }

  /// A lexer of the content of a string literal, whose offsets remain those of the whole.
  func inside(_ literal: Token) -> Lexer {
    Lexer(
      bytes, from: literal.start + quoteWidth, to: literal.end - quoteWidth,
      quoteWidth: 2 * quoteWidth)
  }

  /// The unread text, without white space at its ends.
  var bounds: SourceRange {
    var (start, end) = (offset, end)
    while start < end, Lexer.isSpace(bytes[start]) { start += 1 }
    while start < end, Lexer.isSpace(bytes[end - 1]) { end -= 1 }
    return SourceRange(start: start, end: end)
  }

  mutating func next() throws(ExpressionError) -> Token {
    while offset < end, Lexer.isSpace(bytes[offset]) { offset += 1 }
    let start = offset
    guard start < end else { return Token(kind: .end, start: end, end: end) }
    let kind = try kind(from: start)
    previous = kind
    return Token(kind: kind, start: start, end: offset)
  }

  private mutating func kind(from start: Int) throws(ExpressionError) -> Token.Kind {
    let first = bytes[start]
    offset += 1
    if Lexer.isLetter(first) { return try word(from: start) }
    switch first {
    case UInt8(ascii: "("): return .openParenthesis
    case UInt8(ascii: ")"): return .closeParenthesis
    case UInt8(ascii: "["): return .openBracket
    case UInt8(ascii: "]"): return .closeBracket
    case UInt8(ascii: ","): return .comma
    case UInt8(ascii: "*"): return .star
    case UInt8(ascii: "'"): return try literal(from: start)
    case UInt8(ascii: "."):
      switch previous {
      case .name, .closeBracket, .closeParenthesis, .star: return .dot
      default: return try numeral(from: start)
      }
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "+"):
      return try numeral(from: start)
    case UInt8(ascii: "!"): return take("=") ? .notEqual : .not
    case UInt8(ascii: "<"): return take("=") ? .lessOrEqual : .less
    case UInt8(ascii: ">"): return take("=") ? .greaterOrEqual : .greater
    case UInt8(ascii: "=") where take("="): return .equal
    case UInt8(ascii: "&") where take("&"): return .and
    case UInt8(ascii: "|") where take("|"): return .or
    default:
      skipWord()
      throw fault(.unexpectedSymbol(text(start, offset)), start)
    }
  }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard offset < end, bytes[offset] == UInt8(ascii: byte) else { return false }
    offset += 1
    return true
  }

  private mutating func skipWord() {
    while offset < end, !Lexer.isBoundary(bytes[offset]) { offset += 1 }
  }

  private mutating func word(from start: Int) throws(ExpressionError) -> Token.Kind {
    while offset < end, Lexer.isNameByte(bytes[offset]) { offset += 1 }
    if offset < end, !Lexer.isBoundary(bytes[offset]) {
      skipWord()
      throw fault(.unexpectedSymbol(text(start, offset)), start)
    }
    return previous == .dot ? .name : keyword(from: start)
  }

  private mutating func keyword(from start: Int) -> Token.Kind {
    switch offset - start {
    case 3 where isWord("NaN", at: start): number = ExpressionNumber(.nan)
    case 8 where isWord("Infinity", at: start): number = ExpressionNumber(.infinity)
    case 4 where isWord("true", at: start): return .true
    case 4 where isWord("null", at: start): return .null
    case 5 where isWord("false", at: start): return .false
    default: return .name
    }
    return .number
  }

  private func isWord(_ word: StaticString, at start: Int) -> Bool {
    for index in 0..<word.utf8CodeUnitCount where bytes[start + index] != word.utf8Start[index] {
      return false
    }
    return true
  }

  private mutating func numeral(from start: Int) throws(ExpressionError) -> Token.Kind {
    while offset < end, !Lexer.isBoundary(bytes[offset]) || bytes[offset] == UInt8(ascii: ".") {
      offset += 1
    }
    let text = text(start, offset)
    number = ExpressionNumber(reading: text)
    guard !number.isNaN else { throw fault(.unexpectedSymbol(text), start) }
    return .number
  }

  private mutating func literal(from start: Int) throws(ExpressionError) -> Token.Kind {
    // Quotes inside a text come in pairs, so that all of them belong together.
    offset = start + quoteWidth
    while offset < end {
      guard bytes[offset] == UInt8(ascii: "'") else {
        offset += 1
        continue
      }
      offset += quoteWidth
      if offset < end, bytes[offset] == UInt8(ascii: "'") {
        offset += quoteWidth
      } else {
        return .text
      }
    }
    throw fault(.unclosedText, start)
  }

  private func fault(_ problem: EvaluationError, _ start: Int) -> ExpressionError {
    ExpressionError(problem, SourceRange(start: start, end: offset))
  }

  /// The text between two offsets, which must not split a scalar.
  func text(_ start: Int, _ end: Int) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<end]), as: UTF8.self)
  }

  /// The content of a string literal, without its quotes.
  func literalText(of token: Token) -> String {
    let text = UnsafeBufferPointer(
      rebasing: bytes[token.start + quoteWidth..<token.end - quoteWidth])
    guard text.contains(UInt8(ascii: "'")) else { return String(decoding: text, as: UTF8.self) }
    var unescaped: [UInt8] = []
    var index = 0
    while index < text.count {
      unescaped.append(text[index])
      index += text[index] == UInt8(ascii: "'") ? 2 * quoteWidth : 1
    }
    return String(decoding: unescaped, as: UTF8.self)
  }
}

extension Lexer {
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
  }

  private static func isBoundary(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "("), UInt8(ascii: "["), UInt8(ascii: ")"), UInt8(ascii: "]"),
      UInt8(ascii: ","), UInt8(ascii: "."), UInt8(ascii: "!"), UInt8(ascii: ">"),
      UInt8(ascii: "<"), UInt8(ascii: "="), UInt8(ascii: "&"), UInt8(ascii: "|"):
      true
    default: byte == 0x20 || (0x09...0x0D).contains(byte)
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || byte == UInt8(ascii: "_")
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
      || byte == UInt8(ascii: "-")
  }

  /// Whether the text is a valid name after a point.
  static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first else { return false }
    return isLetter(first) && text.utf8.allSatisfy(isNameByte)
  }
}

/// A token of an expression: its kind and range.
struct Token {
  enum Kind: UInt8 {
    case openParenthesis, closeParenthesis, openBracket, closeBracket, comma, dot, star
    case not, equal, notEqual, less, lessOrEqual, greater, greaterOrEqual, and, or
    case number, text, name, `true`, `false`, null
    case end
  }

  var kind: Kind
  var start: Int
  var end: Int

  var range: SourceRange { SourceRange(start: start, end: end) }

  /// `nil` if the token is not a comparison operator.
  var comparison: Comparison? {
    switch kind {
    case .equal: .equal
    case .notEqual: .notEqual
    case .less: .less
    case .lessOrEqual: .lessOrEqual
    case .greater: .greater
    case .greaterOrEqual: .greaterOrEqual
    default: nil
    }
  }
}
