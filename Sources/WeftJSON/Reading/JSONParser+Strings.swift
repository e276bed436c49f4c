extension JSONParser {
  /// Reads a string or key; `at` is its opening quote.
  @inline(__always)
  mutating func string(_ at: Int, then next: Awaiting) -> Int {
    let end = afterPlainText(at + 1)
    guard end < bytes.count, bytes[end] == UInt8(ascii: "\"") else {
      return restOfString(from: at, at: end, then: next)
    }
    append(.string, from: at, to: end + 1)
    awaiting = next
    return end + 1
  }

  /// The offset of the next quote, backslash, control character or byte beyond ASCII.
  @inline(__always)
  func afterPlainText(_ start: Int) -> Int {
    let raw = UnsafeRawBufferPointer(bytes)
    var at = start
    while at + 8 <= raw.count {
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
      let found =
        JSONWord.quotes(in: word) | JSONWord.controls(in: word) | JSONWord.beyondASCII(in: word)
      if found != 0 { return at + found.trailingZeroBitCount / 8 }
      at += 8
    }
    while at < bytes.count, bytes[at] >= 0x20, bytes[at] < 0x80, bytes[at] != UInt8(ascii: "\""),
      bytes[at] != UInt8(ascii: "\\")
    {
      at += 1
    }
    return at
  }

  /// Reads the rest of a string from its first special byte on.
  private mutating func restOfString(from quote: Int, at start: Int, then next: Awaiting) -> Int {
    var traits: JSONStringTraits = []
    var at = start
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: "\""):
        append(.string, traits, from: quote, to: at + 1)
        awaiting = next
        return unlessExhausted(at + 1)
      case UInt8(ascii: "\\"):
        at = escape(at, &traits)
      case 0x0A, 0x0D:
        return fail(.lineBreak, quote..<at)
      case 0x00..<0x20:
        report(.controlCharacter(bytes[at]), at..<at + 1)
        at += 1
      case 0x80...:
        at = sequence(at, &traits)
      default:
        at = afterPlainText(at)
      }
    }
    return fail(.unclosed(.string), quote..<bytes.count)
  }

  /// Reads a UTF-8 sequence. Reports only the first invalid one of a string, because they come in swarms.
  private mutating func sequence(_ at: Int, _ traits: inout JSONStringTraits) -> Int {
    let sequence = UTF8Sequence(at: at, in: bytes)
    if !sequence.isValid, !traits.contains(.damaged) {
      report(.invalidUTF8(offset: at), at..<at + sequence.length)
      traits.insert(.damaged)
    }
    traits.insert(.beyondASCII)
    return at + sequence.length
  }

  private mutating func escape(_ at: Int, _ traits: inout JSONStringTraits) -> Int {
    traits.insert(.escaped)
    guard at + 1 < bytes.count else { return at + 1 }
    switch bytes[at + 1] {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"),
      UInt8(ascii: "f"), UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
      return at + 2
    case UInt8(ascii: "u"):
      return unicodeEscape(at, &traits)
    default:
      let sequence = UTF8Sequence(at: at + 1, in: bytes)
      let isShown = sequence.isValid && bytes[at + 1] >= 0x20
      let end = at + 1 + (isShown ? sequence.length : 0)
      report(.unknownEscape(text(at..<end)), at..<end)
      return end
    }
  }

  private mutating func unicodeEscape(_ at: Int, _ traits: inout JSONStringTraits) -> Int {
    guard let unit = JSONHex.unit(at: at, in: bytes) else {
      var end = at + 2
      while end < min(at + 6, bytes.count), JSONHex.digit(bytes[end]) != nil { end += 1 }
      report(.shortUnicodeEscape(text(at..<end)), at..<end)
      return end
    }
    if unit == 0 { traits.insert(.containsNUL) }
    guard unit & 0xF800 == 0xD800 else { return at + 6 }
    if unit < 0xDC00, let second = JSONHex.unit(at: at + 6, in: bytes),
      second & 0xFC00 == 0xDC00
    {
      return at + 12
    }
    report(.loneSurrogate(text(at..<at + 6)), at..<at + 6)
    return at + 6
  }

  func text(_ range: Range<Int>) -> String {
    String(decoding: UnsafeBufferPointer(rebasing: bytes[range]), as: UTF8.self)
  }
}

/// One UTF-8 sequence, as defined in Unicode 16.0, table 3-7: overlong forms, surrogates and values beyond U+10FFFF are
/// invalid.
struct UTF8Sequence {
  /// For an invalid sequence, the length of its longest prefix that could begin a valid one, at least 1.
  let length: Int
  let isValid: Bool

  init(at start: Int, in bytes: UnsafeBufferPointer<UInt8>) {
    let lead = bytes[start]
    let (wanted, second) = UTF8Sequence.shape(of: lead)
    var length = 1
    while length < wanted, start + length < bytes.count {
      let byte = bytes[start + length]
      guard length == 1 ? second.contains(byte) : byte & 0xC0 == 0x80 else { break }
      length += 1
    }
    self.length = length
    isValid = length == wanted
  }

  /// The length that a lead byte announces, 0 for none, and the valid range of the second byte.
  private static func shape(of lead: UInt8) -> (length: Int, second: ClosedRange<UInt8>) {
    switch lead {
    case 0x00...0x7F: (1, 0x80...0xBF)
    case 0xC2...0xDF: (2, 0x80...0xBF)
    case 0xE0: (3, 0xA0...0xBF)
    case 0xED: (3, 0x80...0x9F)
    case 0xE1...0xEF: (3, 0x80...0xBF)
    case 0xF0: (4, 0x90...0xBF)
    case 0xF1...0xF3: (4, 0x80...0xBF)
    case 0xF4: (4, 0x80...0x8F)
    default: (0, 0x80...0xBF)
    }
  }
}
