/// Walks over the bytes once and writes the tape.
///
/// A state machine without recursion: the open containers form a list through the tape itself (an open container's
/// `next` is the container around it), so nesting costs neither stack nor memory. This file holds the normal path,
/// which knows nothing of errors; everything it cannot read goes to ``recover(at:)``.
///
/// It holds a pointer into the text, and lives only within one call of ``parse(_:from:limits:)``.
struct JSONParser: ~Copyable {
  /// The token that is expected next.
  enum Awaiting {
    /// The value of the whole text or of a key.
    case value
    /// After `[`, and after a comma in an array.
    case firstElement, element
    /// After `{`, and after a comma in an object.
    case firstKey, key
    case colon
    /// After a value: a comma, a closing bracket, or the end.
    case separator
  }

  /// Returned instead of an offset: the normal path cannot read this.
  static let nowhere = -1
  /// Returned instead of an offset: the problem is reported and parsing ends.
  static let stop = -2

  let bytes: UnsafeBufferPointer<UInt8>
  let limits: JSONLimits
  /// Whether comments and trailing commas are allowed.
  let allowsComments: Bool
  var tape: JSONTape
  var problems: [JSONProblem] = []
  var awaiting = Awaiting.value
  /// The tape index of the innermost open container, or -1.
  var container = -1
  var containerIsObject = false
  var depth = 0
  var lastComma = 0

  struct Result: ~Copyable {
    var tape: JSONTape
    var problems: [JSONProblem]
    /// Whether the tape is complete; its values may still have errors.
    var isWhole: Bool
  }

  static func parse(
    _ bytes: [UInt8], from start: Int, limits: JSONLimits, allowsComments: Bool = false
  ) -> Result {
    var result: Result?
    bytes.withUnsafeBufferPointer { bytes in
      var parser = JSONParser(bytes: bytes, limits: limits, allowsComments: allowsComments)
      let isWhole = parser.run(from: start)
      let problems = parser.problems
      result = Result(tape: parser.tape, problems: problems, isWhole: isWhole)
    }
    // The closure above has run.
    return result!
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits, allowsComments: Bool) {
    self.bytes = bytes
    self.limits = limits
    self.allowsComments = allowsComments
    // Real files have a value about every ten bytes. Reserved but unused memory is never touched, so it only takes
    // address space.
    tape = JSONTape(capacity: bytes.count / 4 + 2)
  }

  private mutating func run(from start: Int) -> Bool {
    var at = start
    while true {
      at = afterBlanks(at)
      guard at < bytes.count else { return finish() }
      var next = read(at)
      if next == JSONParser.nowhere { next = recover(at: at) }
      guard next >= 0 else { return awaiting == .separator && container < 0 }
      at = next
    }
  }

  @inline(__always)
  func afterBlanks(_ start: Int) -> Int {
    var at = start
    while at < bytes.count {
      switch bytes[at] {
      case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): at += 1
      default: return at
      }
    }
    return at
  }

  /// Reads one token and returns the offset after it, or ``nowhere``.
  @inline(__always)
  private mutating func read(_ at: Int) -> Int {
    let byte = bytes[at]
    switch awaiting {
    case .separator:
      if byte == UInt8(ascii: ","), container >= 0 {
        lastComma = at
        awaiting = containerIsObject ? .key : .element
        return at + 1
      }
      let bracket = containerIsObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
      return byte == bracket && container >= 0 ? close(at) : JSONParser.nowhere
    case .firstKey, .key:
      if byte == UInt8(ascii: "\"") { return string(at, then: .colon) }
      let isEnd = byte == UInt8(ascii: "}") && awaiting == .firstKey
      return isEnd ? close(at) : JSONParser.nowhere
    case .colon:
      guard byte == UInt8(ascii: ":") else { return JSONParser.nowhere }
      awaiting = .value
      return at + 1
    case .firstElement where byte == UInt8(ascii: "]"):
      return close(at)
    case .firstElement, .element, .value:
      return value(at, byte)
    }
  }

  @inline(__always)
  private mutating func value(_ at: Int, _ byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""): return string(at, then: .separator)
    case UInt8(ascii: "{"): return open(.object, at)
    case UInt8(ascii: "["): return open(.array, at)
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      return literal(.number, from: at, to: endOfNumber(at))
    case UInt8(ascii: "t"): return literal(.bool, from: at, to: end(of: "true", at))
    case UInt8(ascii: "f"): return literal(.bool, from: at, to: end(of: "false", at))
    case UInt8(ascii: "n"): return literal(.null, from: at, to: end(of: "null", at))
    default: return JSONParser.nowhere
    }
  }

  // MARK: Writing the tape

  @inline(__always)
  mutating func append(
    _ kind: JSONKind, _ traits: JSONStringTraits = [], from start: Int, to end: Int
  ) {
    tape.append(JSONTapeEntry(kind, traits, start: start, end: end, next: tape.count + 1))
  }

  @inline(__always)
  private mutating func literal(_ kind: JSONKind, from start: Int, to end: Int) -> Int {
    guard end >= 0, isDelimiter(end) else { return JSONParser.nowhere }
    append(kind, from: start, to: end)
    awaiting = .separator
    return end
  }

  private mutating func open(_ kind: JSONKind, _ at: Int) -> Int {
    guard depth < limits.depth else { return JSONParser.nowhere }
    depth += 1
    tape.append(JSONTapeEntry(kind, start: at, end: at + 1, next: container))
    container = tape.count - 1
    containerIsObject = kind == .object
    awaiting = containerIsObject ? .firstKey : .firstElement
    return at + 1
  }

  mutating func close(_ at: Int) -> Int {
    let outer = Int(Int32(bitPattern: tape[container].next))
    tape[container].end = UInt32(at + 1)
    tape[container].next = UInt32(tape.count)
    container = outer
    containerIsObject = outer >= 0 && tape[outer].kind == .object
    depth -= 1
    awaiting = .separator
    return at + 1
  }

  // MARK: Numbers and words

  @inline(__always)
  private func end(of word: StaticString, _ at: Int) -> Int {
    let end = at + word.utf8CodeUnitCount
    guard end <= bytes.count else { return JSONParser.nowhere }
    for index in at..<end where bytes[index] != word.utf8Start[index - at] {
      return JSONParser.nowhere
    }
    return end
  }

  /// The end of a number by the grammar of RFC 8259 §6.
  private func endOfNumber(_ start: Int) -> Int {
    var at = start
    if bytes[at] == UInt8(ascii: "-") { at += 1 }
    guard at < bytes.count else { return JSONParser.nowhere }
    if bytes[at] == UInt8(ascii: "0") {
      at += 1
    } else {
      at = afterDigits(at)
    }
    if at > 0, at < bytes.count, bytes[at] == UInt8(ascii: ".") { at = afterDigits(at + 1) }
    guard at > 0, at < bytes.count, bytes[at] | 0x20 == UInt8(ascii: "e") else { return at }
    at += 1
    if at < bytes.count, bytes[at] == UInt8(ascii: "+") || bytes[at] == UInt8(ascii: "-") {
      at += 1
    }
    return afterDigits(at)
  }

  /// The end of one or more digits.
  @inline(__always)
  private func afterDigits(_ start: Int) -> Int {
    var at = start
    while at < bytes.count, bytes[at] &- UInt8(ascii: "0") < 10 { at += 1 }
    return at > start ? at : JSONParser.nowhere
  }

  /// Whether a number or literal may end before `at`.
  @inline(__always)
  private func isDelimiter(_ at: Int) -> Bool {
    guard at < bytes.count else { return true }
    switch bytes[at] {
    case UInt8(ascii: ","), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "\n"),
      UInt8(ascii: " "), UInt8(ascii: "\r"), UInt8(ascii: "\t"), UInt8(ascii: ":"),
      UInt8(ascii: "["), UInt8(ascii: "{"), UInt8(ascii: "\""), UInt8(ascii: "/"),
      UInt8(ascii: "#"):
      return true
    default: return false
    }
  }
}

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
  private func afterPlainText(_ start: Int) -> Int {
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
        return limited(at + 1)
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
