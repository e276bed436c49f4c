/// The bytes of a script, with a mark for each expression in it.
///
/// Every byte of an expression is replaced by ``hole``, and a NUL follows the end, so that the lexer may
/// look at any byte without checking whether it is inside an expression or past the end. Control characters
/// of the script itself cannot be mistaken for marks: ``firstControl`` says where they begin.
struct ScriptText {
  /// Marks each byte of an expression.
  static let placeholder: UInt8 = 0x01
  /// Marks the end of the text.
  static let end: UInt8 = 0x00

  private(set) var bytes: [UInt8]
  let placeholders: [Range<Int>]
  /// The offset of the first control character except tab, newline and carriage return. Such a script is not
  /// read further, because shells use some of them internally.
  let firstControl: Int?

  init(_ text: String, placeholders: [Range<Int>]) {
    var bytes = Array(text.utf8)
    bytes.append(Self.end)
    for placeholder in placeholders {
      for offset in placeholder { bytes[offset] = 0x20 }
    }
    firstControl = bytes.dropLast().firstIndex { byte in
      (byte < 0x20 && byte != 0x09 && byte != 0x0A && byte != 0x0D) || byte == 0x7F
    }
    for placeholder in placeholders {
      for offset in placeholder { bytes[offset] = Self.placeholder }
    }
    self.bytes = bytes
    self.placeholders = placeholders
  }

  /// The script up to that offset; what follows stays in ``bytes``, behind the mark of the end.
  func ending(at offset: Int) -> ScriptText {
    var script = self
    script.bytes[offset] = Self.end
    return script
  }

  /// The index of the expression that begins at this offset.
  func placeholder(at offset: Int) -> Int {
    var low = 0
    var high = placeholders.count
    while low < high {
      let middle = (low + high) / 2
      if placeholders[middle].lowerBound < offset { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The indices of the expressions that begin in this part of the text.
  func placeholders(in range: Range<Int>) -> Range<Int> {
    placeholders.isEmpty
      ? 0..<0 : placeholder(at: range.lowerBound)..<placeholder(at: range.upperBound)
  }

  /// The text between these offsets.
  func text(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }
}

/// Bytes with a meaning in the grammar of shells.
extension UInt8 {
  static let tab = UInt8(ascii: "\t")
  static let newline = UInt8(ascii: "\n")
  static let space = UInt8(ascii: " ")
  static let backslash = UInt8(ascii: "\\")
  static let singleQuote = UInt8(ascii: "'")
  static let doubleQuote = UInt8(ascii: "\"")
  static let backquote = UInt8(ascii: "`")
  static let dollar = UInt8(ascii: "$")
  static let openParenthesis = UInt8(ascii: "(")
  static let closeParenthesis = UInt8(ascii: ")")
  static let openBrace = UInt8(ascii: "{")
  static let closeBrace = UInt8(ascii: "}")
  static let less = UInt8(ascii: "<")
  static let greater = UInt8(ascii: ">")
  static let semicolon = UInt8(ascii: ";")
  static let ampersand = UInt8(ascii: "&")
  static let bar = UInt8(ascii: "|")
  static let equals = UInt8(ascii: "=")
  static let hash = UInt8(ascii: "#")

  var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
  var isNameStart: Bool { (self | 0x20 >= 0x61 && self | 0x20 <= 0x7A) || self == 0x5F }
  var isName: Bool { isNameStart || isDigit }

  /// Whether a word ends before this byte.
  var endsWord: Bool {
    switch self {
    case ScriptText.end, .tab, .newline, .space, .semicolon, .ampersand, .bar, .less, .greater,
      .openParenthesis, .closeParenthesis:
      true
    default: false
    }
  }
}
