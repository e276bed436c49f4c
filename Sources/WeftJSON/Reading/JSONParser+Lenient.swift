/// Handles what other languages allow between and around values, but JSON does not.
extension JSONParser {
  /// The end of a comment that begins here. Reports the comment; parsing continues if its end is certain.
  mutating func afterComment(_ at: Int) -> Int? {
    let second = at + 1 < bytes.count ? bytes[at + 1] : 0
    switch (bytes[at], second) {
    case (UInt8(ascii: "/"), UInt8(ascii: "/")), (UInt8(ascii: "#"), _):
      var end = at
      while end < bytes.count, bytes[end] != 0x0A, bytes[end] != 0x0D { end += 1 }
      report(.comment, at..<end)
      return end
    case (UInt8(ascii: "/"), UInt8(ascii: "*")):
      var end = at + 2
      while end + 1 < bytes.count {
        if bytes[end] == UInt8(ascii: "*"), bytes[end + 1] == UInt8(ascii: "/") {
          report(.comment, at..<end + 2)
          return end + 2
        }
        end += 1
      }
      return fail(.unclosed(.comment), at..<at + 2)
    default:
      return nil
    }
  }

  /// The end of white space that JSON does not allow.
  mutating func afterStrangeSpace(_ at: Int) -> Int? {
    let sequence = UTF8Sequence(at: at, in: bytes)
    let range = at..<at + sequence.length
    guard sequence.isValid, let scalar = text(range).unicodeScalars.first,
      scalar.properties.isWhitespace || scalar == "\u{FEFF}" || scalar == "\u{200B}"
    else { return nil }
    report(.strangeSpace(JSONFault.scalar(scalar.value)), range)
    return range.upperBound
  }

  /// Reads a string in single quotes as a normal one if it is plain text on one line.
  mutating func singleQuoted(_ at: Int, then next: Awaiting) -> Int {
    var end = at + 1
    while end < bytes.count, bytes[end] != UInt8(ascii: "'"), bytes[end] >= 0x20,
      bytes[end] != UInt8(ascii: "\\")
    {
      let sequence = UTF8Sequence(at: end, in: bytes)
      guard sequence.isValid else { return fail(.singleQuotes, at..<at + 1) }
      end += sequence.length
    }
    guard end < bytes.count, bytes[end] == UInt8(ascii: "'") else {
      return fail(.singleQuotes, at..<at + 1)
    }
    report(.singleQuotes, at..<end + 1)
    append(.string, .beyondASCII, from: at, to: end + 1)
    awaiting = next
    return end + 1
  }

  func isCurlyQuote(_ at: Int) -> Bool {
    guard at + 2 < bytes.count else { return false }
    return bytes[at] == 0xE2 && bytes[at + 1] == 0x80
      && [0x98, 0x99, 0x9C, 0x9D].contains(bytes[at + 2])
  }
}

extension JSONFault {
  /// The problem with a word in place of a value; `nil` if it is not a word.
  init?(word: String) {
    let unsigned = word.drop { $0 == "+" || $0 == "-" }.lowercased()
    if ["nan", "infinity", "inf"].contains(unsigned) {
      self = .notANumber(word)
    } else if let fault = JSONNumberFault(of: word) {
      self = .malformedNumber(word, fault)
    } else if let meant = JSONFault.literals[word.lowercased()] {
      self = .wrongCase(word, meant: meant)
    } else if JSONFault.isWord(word) {
      self = .bareWord(word)
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
}

extension JSONNumberFault {
  /// The reason why a word that looks like a number is not one; `nil` if it does not look like a number.
  init?(of word: String) {
    let sign = word.prefix { $0 == "+" || $0 == "-" }
    let digits = word.dropFirst(sign.count).lowercased()
    guard let first = digits.first else {
      guard sign == "-" else { return nil }
      self = .loneMinus
      return
    }
    let isNumeric = digits.allSatisfy { ("0"..."9").contains($0) || ".e+-".contains($0) }
    if digits.hasPrefix("0x"), digits.count > 2, digits.dropFirst(2).allSatisfy(\.isHexDigit) {
      self = .hexadecimal
    } else if first == ".", digits.dropFirst().first?.isNumber == true, isNumeric {
      self = .leadingPoint
    } else if !("0"..."9").contains(first) {
      return nil
    } else if sign == "+" {
      self = .plus
    } else if first == "0", digits.dropFirst().first?.isNumber == true, isNumeric {
      self = .leadingZero
    } else if isNumeric, digits.hasSuffix(".") || digits.contains(".e") {
      self = .trailingPoint
    } else if isNumeric, digits.hasSuffix("e") || digits.hasSuffix("e+") || digits.hasSuffix("e-") {
      self = .emptyExponent
    } else {
      self = .other
    }
  }
}
