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

  static func parse(_ bytes: [UInt8], from start: Int, limits: JSONLimits) -> Result {
    var result: Result?
    bytes.withUnsafeBufferPointer { bytes in
      var parser = JSONParser(bytes: bytes, limits: limits)
      let isWhole = parser.run(from: start)
      let problems = parser.problems
      result = Result(tape: parser.tape, problems: problems, isWhole: isWhole)
    }
    // The closure above has run.
    return result!
  }

  private init(bytes: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
    self.bytes = bytes
    self.limits = limits
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
  func isDelimiter(_ at: Int) -> Bool {
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
