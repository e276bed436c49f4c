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
