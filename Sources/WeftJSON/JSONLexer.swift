/// A token of a JSON text, or a comment.
struct JSONToken {
  enum Kind {
    case openObject, openArray, closeObject, closeArray, comma, colon
    /// A string, a key, a number or a word.
    case scalar
    case lineComment, blockComment

    var isComment: Bool { self == .lineComment || self == .blockComment }
    var isOpening: Bool { self == .openObject || self == .openArray }
    var isClosing: Bool { self == .closeObject || self == .closeArray }
  }

  let kind: Kind
  /// The bytes; a comment's include its marks.
  let range: Range<Int>
  /// The number of line breaks before it, at most 2.
  var breaks: Int
}

/// Splits a JSON text that is known to be valid into tokens and comments.
struct JSONLexer {
  private let bytes: [UInt8]
  private var at: Int

  init(_ bytes: [UInt8], from start: Int) {
    self.bytes = bytes
    at = start
  }

  /// The next token; `nil` at the end.
  mutating func next() -> JSONToken? {
    let breaks = skipBlanks()
    guard at < bytes.count else { return nil }
    let start = at
    let kind = kind(of: bytes[at])
    switch kind {
    case .scalar where bytes[at] == UInt8(ascii: "\""): at = endOfString(at)
    case .scalar: at = endOfWord(at)
    case .lineComment: at = endOfLine(at)
    case .blockComment: at = endOfBlock(at)
    default: at += 1
    }
    return JSONToken(kind: kind, range: start..<at, breaks: min(breaks, 2))
  }

  /// The kind of the next token that is no comment; `nil` at the end.
  func following() -> JSONToken.Kind? {
    var lexer = self
    while let token = lexer.next() {
      if !token.kind.isComment { return token.kind }
    }
    return nil
  }

  /// Skips white space, and returns the number of line breaks in it.
  private mutating func skipBlanks() -> Int {
    var breaks = 0
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"): at += 1
      case UInt8(ascii: "\n"), UInt8(ascii: "\r"):
        breaks += 1
        at += bytes.isCRLF(at) ? 2 : 1
      default: return breaks
      }
    }
    return breaks
  }

  private func kind(of byte: UInt8) -> JSONToken.Kind {
    switch byte {
    case UInt8(ascii: "{"): .openObject
    case UInt8(ascii: "["): .openArray
    case UInt8(ascii: "}"): .closeObject
    case UInt8(ascii: "]"): .closeArray
    case UInt8(ascii: ","): .comma
    case UInt8(ascii: ":"): .colon
    case UInt8(ascii: "/"): bytes[at + 1] == UInt8(ascii: "*") ? .blockComment : .lineComment
    default: .scalar
    }
  }

  private func endOfString(_ quote: Int) -> Int {
    var end = quote + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") {
      end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1
    }
    return min(end + 1, bytes.count)
  }

  private func endOfWord(_ start: Int) -> Int {
    var end = start + 1
    while end < bytes.count, !",]}: \t\r\n/".utf8.contains(bytes[end]) { end += 1 }
    return end
  }

  private func endOfLine(_ start: Int) -> Int {
    var end = start
    while end < bytes.count, bytes[end] != UInt8(ascii: "\n"), bytes[end] != UInt8(ascii: "\r") {
      end += 1
    }
    return end
  }

  private func endOfBlock(_ start: Int) -> Int {
    var end = start + 4
    while end < bytes.count,
      bytes[end - 2] != UInt8(ascii: "*") || bytes[end - 1] != UInt8(ascii: "/")
    {
      end += 1
    }
    return min(end, bytes.count)
  }
}

extension UInt8 {
  var isLineBreak: Bool { self == UInt8(ascii: "\n") || self == UInt8(ascii: "\r") }
}

extension RandomAccessCollection<UInt8> where Index == Int {
  /// Whether a line ends at an index with both characters.
  func isCRLF(_ index: Int) -> Bool {
    self[index] == UInt8(ascii: "\r") && index + 1 < endIndex
      && self[index + 1] == UInt8(ascii: "\n")
  }
}

extension ArraySlice<UInt8> {
  /// The number of Unicode scalars, as `SourcePosition` counts columns.
  var columns: Int {
    withUnsafeBufferPointer { bytes in
      var count = 0
      for index in bytes.indices { count &+= bytes[index] & 0xC0 == 0x80 ? 0 : 1 }
      return count
    }
  }
}
