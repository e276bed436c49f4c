/// Writes JSON texts into a buffer of bytes, piece by piece.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("event")
/// writer.string("step.started")
/// writer.endObject()
/// ```
///
/// Commas, colons and indentation are added automatically. The output is always valid UTF-8 and valid JSON, provided
/// that keys and values alternate and everything begun is ended. In debug builds, a key that an object has already ends
/// the program: readers take one of its two values, and the other is lost.
package struct JSONWriter: Sendable {
  package enum Style: Sendable, Hashable {
    /// No white space.
    case compact
    /// Two spaces for each level, one member or element per line.
    case pretty
  }

  package let style: Style
  private let drain: (@Sendable (UnsafeRawBufferPointer) -> Void)?
  /// The buffer, which may be longer than the text; `count` is the length of the text.
  private var storage: [UInt8]
  /// The number of bytes in the buffer.
  package private(set) var count = 0
  private var depth = 0
  /// Whether a value precedes the next one.
  private var needsComma = false
  private var isAfterKey = false
  #if DEBUG
    /// The keys of the objects that are open, and nothing for each open array.
    private var keys: [Set<String>] = []
  #endif

  /// - Parameter drain: Takes the bytes whenever the buffer is full, except the last ones, which ``withBytes(_:)`` gives.
  ///   Without it, the buffer grows.
  package init(
    _ style: Style = .compact, capacity: Int = 256,
    draining drain: (@Sendable (UnsafeRawBufferPointer) -> Void)? = nil
  ) {
    self.style = style
    self.drain = drain
    storage = [UInt8](repeating: 0, count: max(capacity, 64))
  }

  // MARK: Taking the text

  package var bytes: [UInt8] { Array(storage[..<count]) }

  package var text: String { String(decoding: storage[..<count], as: UTF8.self) }

  /// Passes the bytes to `body` without copying them.
  package func withBytes<Result>(
    _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try storage.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
  }

  /// Empties the buffer and keeps its memory.
  package mutating func removeAll() {
    count = 0
    depth = 0
    needsComma = false
    isAfterKey = false
    #if DEBUG
      keys.removeAll()
    #endif
  }

  // MARK: Structure

  package mutating func beginObject() { begin(UInt8(ascii: "{")) }
  package mutating func endObject() { end(UInt8(ascii: "}")) }
  package mutating func beginArray() { begin(UInt8(ascii: "[")) }
  package mutating func endArray() { end(UInt8(ascii: "]")) }

  /// Ends a line, as in JSON Lines and files; the next value begins a new text.
  package mutating func endLine() {
    put(UInt8(ascii: "\n"))
    needsComma = false
  }

  /// Writes a key that needs no escapes: plain ASCII without quotes and backslashes.
  package mutating func key(_ key: StaticString) {
    note(key: "\(key)")
    let length = key.utf8CodeUnitCount
    let isPretty = style == .pretty
    putNext(atMost: length + 4) { target in
      target[0] = UInt8(ascii: "\"")
      (target + 1).update(from: key.utf8Start, count: length)
      target[length + 1] = UInt8(ascii: "\"")
      target[length + 2] = UInt8(ascii: ":")
      target[length + 3] = UInt8(ascii: " ")
      return isPretty ? length + 4 : length + 3
    }
    awaitValue()
  }

  package mutating func key(_ key: String) {
    note(key: key)
    putQuoted(key, isKey: true)
    awaitValue()
  }

  /// Requires that the innermost object does not have the key yet.
  @inline(__always)
  private mutating func note(key: @autoclosure () -> String) {
    #if DEBUG
      guard !keys.isEmpty else { return }
      let key = key()
      let isNew = keys[keys.count - 1].insert(key).inserted
      precondition(isNew, "an object has the key \"\(key)\" twice")
    #endif
  }

  private mutating func awaitValue() {
    isAfterKey = true
    needsComma = false
  }

  private mutating func begin(_ bracket: UInt8) {
    putNext(atMost: 1) { target in
      target[0] = bracket
      return 1
    }
    depth += 1
    needsComma = false
    #if DEBUG
      keys.append([])
    #endif
  }

  private mutating func end(_ bracket: UInt8) {
    precondition(depth > 0 && !isAfterKey, "nothing to end, or a key without a value")
    depth -= 1
    #if DEBUG
      keys.removeLast()
    #endif
    if style == .pretty, needsComma { indent() }
    put(bracket)
    needsComma = true
  }
}

extension JSONWriter {
  package mutating func null() { plain("null") }

  package mutating func bool(_ value: Bool) { plain(value ? "true" : "false") }

  package mutating func string(_ value: String) { putQuoted(value) }

  /// Writes text of unknown origin: invalid UTF-8 becomes U+FFFD.
  package mutating func string(decoding bytes: some Collection<UInt8>) {
    string(String(decoding: bytes, as: UTF8.self))
  }

  package mutating func int(_ value: Int) {
    var rest = value.magnitude
    let digits = JSONWriter.digitCount(of: rest)
    putNext(atMost: digits + 1) { target in
      target[0] = UInt8(ascii: "-")
      let end = digits + (value < 0 ? 1 : 0)
      for place in 1...digits {
        target[end - place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      }
      return end
    }
  }

  private static func digitCount(of value: UInt) -> Int {
    var count = 1
    var bound: UInt = 10
    while value >= bound, count < 20 {
      count += 1
      bound = bound.multipliedReportingOverflow(by: 10).partialValue
    }
    return count
  }

  /// Writes the shortest text that reads back as the same `Double`, whole numbers without a point. Infinities and NaN,
  /// which JSON does not have, become `null`.
  package mutating func double(_ value: Double) {
    raw(value.isFinite ? JSONNumber.text(of: value) : "null")
  }

  package mutating func number(_ value: JSONNumber) { raw(value.text) }

  /// Writes a value that is already JSON, unchecked.
  package mutating func raw(_ json: some Collection<UInt8>) {
    let bytes = Array(json)
    putNext(atMost: bytes.count) { target in
      for (index, byte) in bytes.enumerated() { target[index] = byte }
      return bytes.count
    }
  }

  private mutating func raw(_ text: String) {
    lendBytes(of: text) { bytes in
      putNext(atMost: bytes.count) { target in
        guard let source = bytes.baseAddress else { return 0 }
        target.update(from: source, count: bytes.count)
        return bytes.count
      }
    }
  }

  /// Writes any value; recurses as deep as the value is nested.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let value): number(value)
    case .string(let value): string(value)
    case .array(let elements):
      beginArray()
      for element in elements { self.value(element) }
      endArray()
    case .object(let members):
      beginObject()
      for member in members {
        key(member.key)
        self.value(member.value)
      }
      endObject()
    }
  }

  // MARK: Shorthands

  /// Writes an object whose members `body` writes.
  package mutating func object(_ body: (inout JSONWriter) -> Void) {
    beginObject()
    body(&self)
    endObject()
  }

  package mutating func object(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    object(body)
  }

  /// Writes an array whose elements `body` writes.
  package mutating func array(_ key: StaticString, _ body: (inout JSONWriter) -> Void) {
    self.key(key)
    beginArray()
    body(&self)
    endArray()
  }

  package mutating func array(_ key: StaticString, of strings: [String]) {
    array(key) { for string in strings { $0.string(string) } }
  }

  /// Writes the strings, unless there are none.
  package mutating func list(_ key: StaticString, _ strings: [String]) {
    if !strings.isEmpty { array(key, of: strings) }
  }

  package mutating func member(_ key: StaticString, _ value: String) {
    self.key(key)
    string(value)
  }

  package mutating func member(_ key: StaticString, _ value: Int) {
    self.key(key)
    int(value)
  }

  package mutating func member(_ key: StaticString, _ value: Bool) {
    self.key(key)
    bool(value)
  }

  /// Writes a member, unless it has no value.
  package mutating func member(_ key: StaticString, _ value: String?) {
    if let value { member(key, value) }
  }

  /// Writes a member, unless it has no value.
  package mutating func member(_ key: StaticString, _ value: Int?) {
    if let value { member(key, value) }
  }

  private mutating func plain(_ word: StaticString) {
    let length = word.utf8CodeUnitCount
    putNext(atMost: length) { target in
      target.update(from: word.utf8Start, count: length)
      return length
    }
  }
}

/// Escapes no more than RFC 8259 §7 requires: quotes, backslashes and control characters.
///
/// U+2028, U+2029 and everything else beyond ASCII are written unescaped.
extension JSONWriter {
  /// The length above which text is written in parts, which keeps the room for the worst case small.
  private static let partLength = 512

  /// Writes a string, or a key with its colon.
  private mutating func putQuoted(_ text: String, isKey: Bool = false) {
    lendBytes(of: text) { bytes in
      if bytes.count <= JSONWriter.partLength {
        putShort(bytes, isKey)
      } else {
        putLong(bytes, isKey)
      }
    }
  }

  private mutating func putShort(_ text: UnsafeBufferPointer<UInt8>, _ isKey: Bool) {
    let isPretty = style == .pretty
    putNext(atMost: JSONWriter.room(for: text.count) + 4) { target in
      target[0] = UInt8(ascii: "\"")
      let end = 1 + JSONWriter.escape(text, into: target + 1)
      target[end] = UInt8(ascii: "\"")
      guard isKey else { return end + 1 }
      target[end + 1] = UInt8(ascii: ":")
      target[end + 2] = UInt8(ascii: " ")
      return isPretty ? end + 3 : end + 2
    }
  }

  private mutating func putLong(_ text: UnsafeBufferPointer<UInt8>, _ isKey: Bool) {
    putNext(atMost: 1) { target in
      target[0] = UInt8(ascii: "\"")
      return 1
    }
    for start in stride(from: 0, to: text.count, by: JSONWriter.partLength) {
      let end = min(start + JSONWriter.partLength, text.count)
      let part = UnsafeBufferPointer(rebasing: text[start..<end])
      put(atMost: JSONWriter.room(for: part.count)) { JSONWriter.escape(part, into: $0) }
    }
    put(UInt8(ascii: "\""))
    if isKey { put(UInt8(ascii: ":")) }
    if isKey, style == .pretty { put(UInt8(ascii: " ")) }
  }

  /// Six bytes for each byte, and the excess of a last whole word.
  private static func room(for count: Int) -> Int { count * 6 + 8 }

  /// Copies eight bytes at a time and searches them for characters to escape. Whole words are stored; their excess
  /// bytes are overwritten.
  @inline(__always)
  private static func escape(
    _ text: UnsafeBufferPointer<UInt8>, into target: UnsafeMutablePointer<UInt8>
  ) -> Int {
    let source = UnsafeRawBufferPointer(text)
    let raw = UnsafeMutableRawPointer(target)
    var read = 0
    var written = 0
    while read + 8 <= source.count {
      let word = source.loadUnaligned(fromByteOffset: read, as: UInt64.self)
      raw.storeBytes(of: word, toByteOffset: written, as: UInt64.self)
      let bytes = UInt64(littleEndian: word)
      let special = JSONWord.quotes(in: bytes) | JSONWord.controls(in: bytes)
      let plain = special == 0 ? 8 : special.trailingZeroBitCount / 8
      read += plain
      written += plain
      guard special != 0 else { continue }
      written += putEscape(of: source[read], at: target + written)
      read += 1
    }
    while read < source.count {
      let byte = source[read]
      target[written] = byte
      written += needsEscape(byte) ? putEscape(of: byte, at: target + written) : 1
      read += 1
    }
    return written
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func putEscape(of byte: UInt8, at target: UnsafeMutablePointer<UInt8>) -> Int {
    target[0] = UInt8(ascii: "\\")
    let letter = shortEscape(of: byte)
    target[1] = letter
    guard letter == UInt8(ascii: "u") else { return 2 }
    target[2] = UInt8(ascii: "0")
    target[3] = UInt8(ascii: "0")
    target[4] = UInt8(ascii: "0") + byte >> 4
    let digit = byte & 0xF
    target[5] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit
    return 6
  }

  private static func shortEscape(of byte: UInt8) -> UInt8 {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): byte
    case 0x08: UInt8(ascii: "b")
    case 0x09: UInt8(ascii: "t")
    case 0x0A: UInt8(ascii: "n")
    case 0x0C: UInt8(ascii: "f")
    case 0x0D: UInt8(ascii: "r")
    default: UInt8(ascii: "u")
    }
  }
}

/// The buffer: room is made once for each piece, then the bytes are written without further checks.
extension JSONWriter {
  /// Appends the bytes that `write` stores at the address it gets; it returns their count.
  @inline(__always)
  private mutating func put(atMost room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    if count + room > storage.count { grow(room) }
    let start = count
    count += storage.withUnsafeMutableBufferPointer { target in
      target.baseAddress.map { write($0 + start) } ?? 0
    }
  }

  /// Appends a key or the beginning of a value, with the comma that belongs before it.
  @inline(__always)
  private mutating func putNext(atMost room: Int, _ write: (UnsafeMutablePointer<UInt8>) -> Int) {
    if style == .pretty { breakLine() }
    let comma = needsComma ? 1 : 0
    put(atMost: room + 1) { target in
      target[0] = UInt8(ascii: ",")
      return comma + write(target + comma)
    }
    needsComma = true
    isAfterKey = false
  }

  @inline(__always)
  private mutating func put(_ byte: UInt8) {
    put(atMost: 1) { target in
      target[0] = byte
      return 1
    }
  }

  @inline(never)
  private mutating func grow(_ wanted: Int) {
    if let drain {
      withBytes(drain)
      count = 0
      if wanted <= storage.count { return }
    }
    let size = max(storage.count * 2, count + wanted)
    storage.append(contentsOf: repeatElement(0, count: size - storage.count))
  }

  /// Begins the line of a key, element or bracket in pretty text.
  private mutating func breakLine() {
    guard depth > 0, !isAfterKey else { return }
    if needsComma { put(UInt8(ascii: ",")) }
    needsComma = false
    indent()
  }

  private mutating func indent() {
    put(UInt8(ascii: "\n"))
    for _ in 0..<depth * 2 { put(UInt8(ascii: " ")) }
  }
}

/// Passes the contiguous bytes of a text to `body`; those of a short one are copied to the stack.
@inline(__always)
private func lendBytes(of text: String, to body: (UnsafeBufferPointer<UInt8>) -> Void) {
  if text.utf8.withContiguousStorageIfAvailable(body) == nil {
    var copy = text
    copy.withUTF8(body)
  }
}
