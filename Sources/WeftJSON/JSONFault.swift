import WeftDiagnostics

/// A problem and its location.
struct JSONProblem {
  var fault: JSONFault
  var range: Range<Int>
  /// The related opening bracket or first key.
  var other: Range<Int>?

  init(_ fault: JSONFault, _ range: Range<Int>, other: Range<Int>? = nil) {
    self.fault = fault
    self.range = range
    self.other = other
  }

  func diagnostic(_ severity: Diagnostic.Severity = .error, in file: SourceFile) -> Diagnostic {
    func place(_ range: Range<Int>) -> Diagnostic.Place {
      Diagnostic.Place(
        file: file, range: SourceRange(start: range.lowerBound, end: range.upperBound))
    }
    return Diagnostic(
      fault.isRemark ? .note : severity, code: fault.code, message: fault.message,
      place: place(range), help: fault.help,
      related: other.map { [Diagnostic.Related(message: fault.relation, place: place($0))] } ?? [])
  }
}

/// A problem with a JSON text: one case, one message.
enum JSONFault: Hashable {
  // The text as a whole.
  case empty
  case tooLarge(Int, limit: Int)
  case foreignEncoding(String)
  case byteOrderMark
  case invalidUTF8(offset: Int)
  case tooDeep(limit: Int)
  case tooManyProblems(limit: Int)
  case textAfterValue
  case unclosed(JSONOpener)
  case wrongBracket(found: Character, wanted: Character)
  case unexpected(String, wanted: String)
  case strangeSpace(String)
  case comment
  // Between values.
  case trailingComma(before: Character)
  case missingComma
  case missingColon(found: String?)
  case missingValue
  // Values.
  case notANumber(String)
  case wrongCase(String, meant: String)
  case bareWord(String)
  case malformedNumber(String, JSONNumberFault)
  case singleQuotes
  case curlyQuotes
  case unquotedKey(String)
  // Inside strings.
  case controlCharacter(UInt8)
  case lineBreak
  case unknownEscape(String)
  case shortUnicodeEscape(String)
  case loneSurrogate(String)
  // Allowed by RFC 8259, but reported.
  case nul
  case repeatedKey(String)
  case equivalentKey(String, first: String)
}

/// An unclosed construct.
enum JSONOpener: String, Hashable {
  case string, array, object, comment
}

/// The reason why a word is not a JSON number.
enum JSONNumberFault: Hashable {
  case leadingZero, hexadecimal, plus, leadingPoint, trailingPoint, emptyExponent, loneMinus, other
}

extension JSONFault {
  /// The diagnostic code, stable across releases. W00xx concerns the text, W01xx its structure.
  var code: String {
    switch self {
    case .empty: "W0001"
    case .tooLarge: "W0002"
    case .foreignEncoding: "W0003"
    case .byteOrderMark: "W0004"
    case .invalidUTF8: "W0005"
    case .tooDeep: "W0006"
    case .tooManyProblems: "W0007"
    case .textAfterValue: "W0008"
    case .unclosed: "W0009"
    case .wrongBracket, .unexpected, .strangeSpace: "W0010"
    case .comment: "W0011"
    case .trailingComma: "W0012"
    case .missingComma: "W0013"
    case .missingColon: "W0014"
    case .missingValue: "W0015"
    case .notANumber: "W0016"
    case .wrongCase, .bareWord: "W0017"
    case .malformedNumber: "W0018"
    case .singleQuotes, .curlyQuotes: "W0019"
    case .unquotedKey: "W0020"
    case .controlCharacter: "W0021"
    case .lineBreak: "W0022"
    case .unknownEscape, .shortUnicodeEscape: "W0023"
    case .loneSurrogate: "W0024"
    case .nul: "W0025"
    case .repeatedKey: "W0101"
    case .equivalentKey: "W0102"
    }
  }

  /// Whether it is only a remark, which never rejects a file.
  var isRemark: Bool { self == .byteOrderMark }

  /// Describes the related location of the problem.
  var relation: String {
    switch self {
    case .repeatedKey, .equivalentKey: "the first is here"
    default: "opened here"
    }
  }

  var message: String {
    switch self {
    case .empty: "the text is empty, where a JSON value was expected"
    case .tooLarge(let size, let limit):
      "the text has \(size) bytes, more than the limit of \(JSONFault.size(limit))"
    case .foreignEncoding(let encoding): "the text is \(encoding), where UTF-8 was expected"
    case .byteOrderMark: "the text begins with a byte order mark, which is skipped"
    case .invalidUTF8(let offset): "the text is not UTF-8 at byte \(offset)"
    case .tooDeep(let limit): "arrays and objects are nested more than \(limit) deep"
    case .tooManyProblems(let limit): "reading stopped after \(limit) problems"
    case .textAfterValue: "there is more text after the end of the JSON value"
    case .unclosed(let opener): "the \(opener) is not closed before the end of the text"
    case .wrongBracket(let found, let wanted): "found \"\(found)\", expected \"\(wanted)\""
    case .unexpected(let found, let wanted): "found \(found), expected \(wanted)"
    case .strangeSpace(let name): "found \(name), which is not white space in JSON"
    case .comment: "comments are not allowed in JSON"
    case .trailingComma(let bracket): "trailing comma before \"\(bracket)\""
    case .missingComma: "missing comma between two values"
    case .missingColon(nil): "missing colon between a key and its value"
    case .missingColon(let found?): "found \"\(found)\", expected a colon after the key"
    case .missingValue: "there is no value here"
    case .notANumber(let word): "\(word) is not a JSON number"
    case .wrongCase(let word, _): "\"\(word)\" is not a JSON value"
    case .bareWord(let word): "\"\(word)\" is not a JSON value"
    case .malformedNumber(let text, let fault): "\(text) is not a JSON number: \(fault.reason)"
    case .singleQuotes: "single quotes are not allowed in JSON"
    case .curlyQuotes: "curly quotes are not allowed in JSON"
    case .unquotedKey(let key): "the key \"\(key)\" is not in double quotes"
    case .controlCharacter(let byte):
      "a string contains \(JSONFault.scalar(UInt32(byte))), an unescaped control character"
    case .lineBreak: "the string is not closed at the end of its line"
    case .unknownEscape(let escape): "unknown escape \(escape)"
    case .shortUnicodeEscape(let escape):
      "incomplete escape \(escape), expected \\u and four hexadecimal digits"
    case .loneSurrogate(let escape): "\(escape) is a lone surrogate, which is no character"
    case .nul: "the string contains U+0000"
    case .repeatedKey(let key): "the key \"\(key)\" is repeated"
    case .equivalentKey(let key, let first):
      "the keys \(JSONFault.spelled(key)) and \(JSONFault.spelled(first)) look the same and"
        + " differ only in their Unicode normalisation"
    }
  }

  var help: String? {
    switch self {
    case .empty, .tooLarge, .byteOrderMark, .tooDeep, .tooManyProblems, .wrongBracket, .unexpected,
      .missingValue:
      nil
    case .foreignEncoding: "save the file as UTF-8"
    case .invalidUTF8: "save the file as UTF-8"
    case .textAfterValue: "a file holds one value; several go into an array"
    case .unclosed(.string): "add the closing double quote"
    case .unclosed(.array): "add the closing \"]\""
    case .unclosed(.object): "add the closing \"}\""
    case .unclosed(.comment): "remove the comment"
    case .strangeSpace: "replace it by a plain space"
    case .comment:
      "remove it; in a workflow, \"description\" or a key that starts with \"x-\" can hold it"
    case .trailingComma: "remove the comma"
    case .missingComma: "add \",\""
    case .missingColon: "write \":\" between the key and its value"
    case .notANumber: "JSON has finite numbers only; leave the value out, or write null"
    case .wrongCase(_, let meant): "write \(meant)"
    case .bareWord(let word): "strings are written in double quotes: \"\(word)\""
    case .malformedNumber(let text, let fault): fault.help(for: text)
    case .singleQuotes, .curlyQuotes: "write plain double quotes"
    case .unquotedKey(let key): "write \"\(key)\""
    case .controlCharacter(let byte): "write \(JSONFault.escape(byte))"
    case .lineBreak: "add the closing double quote; a line break inside a string is written \\n"
    case .unknownEscape:
      "JSON knows \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX; a backslash itself is \\\\"
    case .shortUnicodeEscape: nil
    case .loneSurrogate: "characters beyond U+FFFF need both halves, as in \\ud83d\\ude00"
    case .nul: "remove \\u0000: no program argument, variable or path can hold it"
    case .repeatedKey: "remove one of the two"
    case .equivalentKey: "spell both alike and keep one"
    }
  }

  private static func escape(_ byte: UInt8) -> String {
    switch byte {
    case 0x08: "\\b"
    case 0x09: "\\t"
    case 0x0A: "\\n"
    case 0x0C: "\\f"
    case 0x0D: "\\r"
    default: "\\u" + hex(UInt32(byte)).lowercased()
    }
  }

  static func scalar(_ value: UInt32) -> String { "U+" + hex(value) }

  /// The text with its code points: `"é" (U+0065 U+0301)`.
  private static func spelled(_ text: String) -> String {
    "\"\(text)\" (" + text.unicodeScalars.map { scalar($0.value) }.joined(separator: " ") + ")"
  }

  private static func hex(_ value: UInt32) -> String {
    let digits = String(value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  private static func size(_ bytes: Int) -> String {
    bytes >= 1 << 20 && bytes % (1 << 20) == 0 ? "\(bytes >> 20) MiB" : "\(bytes) bytes"
  }
}

extension JSONNumberFault {
  var reason: String {
    switch self {
    case .leadingZero: "it has a leading zero"
    case .hexadecimal: "it is hexadecimal"
    case .plus: "it has a plus sign"
    case .leadingPoint: "there is no digit before the point"
    case .trailingPoint: "there is no digit after the point"
    case .emptyExponent: "its exponent has no digits"
    case .loneMinus: "there is no digit after the minus"
    case .other: "only digits, one point and an exponent are allowed"
    }
  }

  func help(for text: String) -> String? {
    switch self {
    case .leadingZero: withoutLeadingZeros(text).map { "write \($0)" }
    case .hexadecimal:
      Int(text.drop { $0 == "-" }.dropFirst(2), radix: 16).map {
        "write \(text.hasPrefix("-") ? "-" : "")\($0)"
      }
    case .plus: "write \(text.dropFirst())"
    case .leadingPoint: "write " + text.replacingFirst(".", with: "0.")
    case .trailingPoint, .emptyExponent, .loneMinus: nil
    case .other: "if it is meant as text, write it in double quotes: \"\(text)\""
    }
  }

  private func withoutLeadingZeros(_ text: String) -> String? {
    let sign = text.hasPrefix("-") ? "-" : ""
    let digits = text.dropFirst(sign.count).drop { $0 == "0" }
    return sign + (digits.first?.isNumber == true ? "" : "0") + digits
  }
}

extension String {
  fileprivate func replacingFirst(_ wanted: Character, with text: String) -> String {
    guard let index = firstIndex(of: wanted) else { return self }
    return self[..<index] + text + self[self.index(after: index)...]
  }
}
