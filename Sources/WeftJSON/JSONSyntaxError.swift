import WeftDiagnostics
import WeftEncoding

/// A problem and its location.
struct JSONProblem {
  var fault: JSONSyntaxError
  var range: Range<Int>
  /// The related opening bracket or first key.
  var other: Range<Int>?

  init(_ fault: JSONSyntaxError, _ range: Range<Int>, other: Range<Int>? = nil) {
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

/// The wording of a problem with a JSON text.
struct JSONSyntaxError {
  /// Stable across releases. W00xx concerns the text, W01xx its structure.
  let code: String
  let message: String
  let help: String?
  /// Describes the related location.
  let relation: String
  /// Whether it is only a remark, which never rejects a file.
  let isRemark: Bool

  private init(
    _ code: String, _ message: String, help: String? = nil, relation: String = "opened here",
    isRemark: Bool = false
  ) {
    self.code = code
    self.message = message
    self.help = help
    self.relation = relation
    self.isRemark = isRemark
  }
}

// MARK: The text as a whole

extension JSONSyntaxError {
  static let empty = JSONSyntaxError("W0001", "the text is empty, expected a JSON value")

  static func tooLarge(_ size: Int, limit: Int) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0002", "the text has \(size) bytes, more than the limit of \(name(ofLimit: limit))")
  }

  static func tooLargeFormatted(limit: Int) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0002", "the formatted text would exceed the limit of \(name(ofLimit: limit))")
  }

  private static func name(ofLimit limit: Int) -> String {
    let isWhole = limit >= 1 << 20 && limit % (1 << 20) == 0
    return isWhole ? "\(limit >> 20) MiB" : "\(limit) bytes"
  }

  static func foreignEncoding(_ encoding: String) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0003", "the text is \(encoding), expected UTF-8", help: "save the file as UTF-8")
  }

  static let byteOrderMark = JSONSyntaxError(
    "W0004", "the text begins with a byte order mark, which is skipped", isRemark: true)

  static func invalidUTF8(offset: Int) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0005", "the text is not UTF-8 at byte \(offset)", help: "save the file as UTF-8")
  }

  static func tooDeep(limit: Int) -> JSONSyntaxError {
    JSONSyntaxError("W0006", "arrays and objects are nested more than \(limit) deep")
  }

  static func tooManyProblems(limit: Int) -> JSONSyntaxError {
    JSONSyntaxError("W0007", "reading stopped after \(limit) problems")
  }

  static let textAfterValue = JSONSyntaxError(
    "W0008", "unexpected text after the end of the JSON value",
    help: "a file holds one value; put several into an array")

  enum Opener: String {
    case string, array, object, comment
  }

  static func unclosed(_ opener: Opener) -> JSONSyntaxError {
    let help =
      switch opener {
      case .string: "add the closing double quote"
      case .array: "add the closing \"]\""
      case .object: "add the closing \"}\""
      case .comment: "add \"*/\", or remove the comment"
      }
    return JSONSyntaxError(
      "W0009", "the \(opener.rawValue) is not closed before the end of the text", help: help)
  }

  static func wrongBracket(found: Character, wanted: Character) -> JSONSyntaxError {
    JSONSyntaxError("W0010", "found \"\(found)\", expected \"\(wanted)\"")
  }

  static func unexpected(_ found: String, wanted: String) -> JSONSyntaxError {
    JSONSyntaxError("W0010", "found \(found), expected \(wanted)")
  }

  /// A quote inside a string ended it.
  static let innerQuote = JSONSyntaxError(
    "W0010", "the string ended at this quote", help: "inside a string write \\\"")

  static func strangeSpace(_ scalar: Unicode.Scalar) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0010", "found \(name(of: scalar)), which is not white space in JSON",
      help: "replace it with a plain space")
  }

  static let comment = JSONSyntaxError(
    "W0011", "comments are not allowed in JSON",
    help:
      "remove it; only a file called NAME.jsonc may have comments; in a workflow, \"description\" or a key that starts with \"x-\" can hold it"
  )

  static let foreignComment = JSONSyntaxError(
    "W0011", "found a comment that begins with \"#\"", help: "begin it with \"//\"")
}

// MARK: Between values

extension JSONSyntaxError {
  static func trailingComma(before bracket: Character) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0012", "trailing comma before \"\(bracket)\"",
      help: "remove the comma; only a file called NAME.jsonc may have it")
  }

  static let missingComma = JSONSyntaxError(
    "W0013", "missing comma between two values", help: "add \",\"")

  static func missingColon(found: String?) -> JSONSyntaxError {
    let message =
      found.map { "found \"\($0)\", expected a colon after the key" }
      ?? "missing colon between a key and its value"
    return JSONSyntaxError("W0014", message, help: "write \":\" between the key and its value")
  }

  static let missingValue = JSONSyntaxError("W0015", "missing value")
}

// MARK: Values

extension JSONSyntaxError {
  /// The problem with a word in place of a value; `nil` if it is not a word.
  init?(word: String) {
    let unsigned = word.drop { $0 == "+" || $0 == "-" }.lowercased()
    if ["nan", "infinity", "inf"].contains(unsigned) {
      self.init(
        "W0016", "\(word) is not a JSON number",
        help: "JSON has only finite numbers; omit the value, or write null")
    } else if let fault = JSONSyntaxError(number: word) {
      self = fault
    } else if let meant = JSONSyntaxError.literals[word.lowercased()] {
      self.init("W0017", "\"\(word)\" is not a JSON value", help: "write \(meant)")
    } else if JSONSyntaxError.isWord(word) {
      self.init(
        "W0017", "\"\(word)\" is not a JSON value",
        help: "strings are written in double quotes: \"\(word)\"")
    } else {
      return nil
    }
  }

  static func isWord(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        $0.properties.isAlphabetic || ("0"..."9").contains($0)
          || "_$-.@%+".unicodeScalars.contains($0)
      }
  }

  /// Literals of other languages.
  private static let literals = [
    "true": "true", "false": "false", "null": "null", "none": "null", "nil": "null",
    "undefined": "null",
  ]

  /// The problem with a word that looks like a number; `nil` if it does not look like one.
  private init?(number word: String) {
    func fault(_ reason: String, _ help: String? = nil) -> JSONSyntaxError {
      JSONSyntaxError("W0018", "\(word) is not a JSON number: \(reason)", help: help)
    }
    let sign = word.prefix { $0 == "+" || $0 == "-" }
    let digits = word.dropFirst(sign.count).lowercased()
    guard let first = digits.first else {
      guard sign == "-" else { return nil }
      self = fault("there is no digit after the minus")
      return
    }
    let isNumeric = digits.allSatisfy { ("0"..."9").contains($0) || ".e+-".contains($0) }
    let minus = word.hasPrefix("-") ? "-" : ""
    if digits.hasPrefix("0x"), digits.count > 2, digits.dropFirst(2).allSatisfy(\.isHexDigit) {
      let value = Int(word.drop { $0 == "-" }.dropFirst(2), radix: 16)
      self = fault("it is hexadecimal", value.map { "write \(minus)\($0)" })
    } else if first == ".", digits.dropFirst().first?.isNumber == true, isNumeric {
      self = fault("there is no digit before the point", "write \(sign)0\(word.drop { $0 != "." })")
    } else if !("0"..."9").contains(first) {
      return nil
    } else if sign == "+" {
      self = fault("it has a plus sign", "write \(word.dropFirst())")
    } else if first == "0", digits.dropFirst().first?.isNumber == true, isNumeric {
      let rest = word.dropFirst(minus.count).drop { $0 == "0" }
      let zero = rest.first?.isNumber == true ? "" : "0"
      self = fault("it has a leading zero", "write \(minus)\(zero)\(rest)")
    } else if isNumeric, digits.hasSuffix(".") || digits.contains(".e") {
      self = fault("there is no digit after the point")
    } else if isNumeric, digits.hasSuffix("e") || digits.hasSuffix("e+") || digits.hasSuffix("e-") {
      self = fault("its exponent has no digits")
    } else {
      self = fault(
        "only digits, one point and an exponent are allowed",
        "if it is a string, write it in double quotes: \"\(word)\"")
    }
  }

  static let singleQuotes = JSONSyntaxError(
    "W0019", "single quotes are not allowed in JSON", help: "write plain double quotes")

  static let curlyQuotes = JSONSyntaxError(
    "W0019", "curly quotes are not allowed in JSON", help: "write plain double quotes")

  static func unquotedKey(_ key: String) -> JSONSyntaxError {
    JSONSyntaxError("W0020", "the key \"\(key)\" is not in double quotes", help: "write \"\(key)\"")
  }
}

// MARK: Inside strings

extension JSONSyntaxError {
  static func controlCharacter(_ byte: UInt8) -> JSONSyntaxError {
    let scalar = Unicode.Scalar(byte)
    let escape =
      switch byte {
      case 0x08: "b"
      case 0x09: "t"
      case 0x0A: "n"
      case 0x0C: "f"
      case 0x0D: "r"
      default: "u" + hex(scalar).lowercased()
      }
    return JSONSyntaxError(
      "W0021", "a string contains \(name(of: scalar)), an unescaped control character",
      help: byte == 0 ? "remove it" : "write \\\(escape)")
  }

  static let lineBreak = JSONSyntaxError(
    "W0022", "the string is not closed at the end of its line",
    help: "add the closing double quote; a line break inside a string is written \\n")

  static func unknownEscape(_ escape: String) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0023", "unknown escape \(escape)",
      help: "valid escapes are \\\" \\\\ \\/ \\b \\f \\n \\r \\t and \\uXXXX; a "
        + "backslash itself is \\\\")
  }

  static func shortUnicodeEscape(_ escape: String) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0023", "incomplete escape \(escape), expected \\u and four hexadecimal digits")
  }

  static func loneSurrogate(_ escape: String) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0024", "\(escape) is a lone surrogate, which is not a character",
      help: "characters beyond U+FFFF need both halves, as in \\ud83d\\ude00")
  }
}

// MARK: Allowed by RFC 8259, but reported

extension JSONSyntaxError {
  static let nul = JSONSyntaxError(
    "W0025", "the string contains U+0000",
    help: "remove \\u0000: no program argument, variable or path can hold it")

  static func repeatedKey(_ key: String) -> JSONSyntaxError {
    JSONSyntaxError(
      "W0101", "the key \"\(key)\" is repeated", help: "remove one of the two",
      relation: "the first is here")
  }

  static func equivalentKey(_ key: String, first: String) -> JSONSyntaxError {
    /// The text with its code points: `"é" (U+0065 U+0301)`.
    func spelled(_ text: String) -> String {
      "\"\(text)\" (" + text.unicodeScalars.map(name).joined(separator: " ") + ")"
    }
    return JSONSyntaxError(
      "W0102",
      "the keys \(spelled(key)) and \(spelled(first)) look the same and"
        + " differ only in their Unicode normalisation",
      help: "spell both alike and keep one", relation: "the first is here")
  }
}

extension JSONSyntaxError {
  static func name(of scalar: Unicode.Scalar) -> String { "U+" + hex(scalar) }

  private static func hex(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }
}
