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
/// that keys and values alternate and everything begun is ended.
package struct JSONWriter: Sendable {
  package enum Style: Sendable, Hashable {
    /// No white space.
    case compact
    /// Two spaces for each level, one member or element per line.
    case pretty
  }

  package let style: Style
  /// The buffer, which may be longer than the text; `count` is the length of the text.
  var storage: [UInt8]
  /// The number of bytes written.
  package internal(set) var count = 0
  var depth = 0
  /// Whether a value precedes the next one.
  var needsComma = false
  var isAfterKey = false

  package init(_ style: Style = .compact, capacity: Int = 256) {
    self.style = style
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
    putQuoted(key, isKey: true)
    awaitValue()
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
  }

  private mutating func end(_ bracket: UInt8) {
    precondition(depth > 0 && !isAfterKey, "nothing to end, or a key without a value")
    depth -= 1
    if style == .pretty, needsComma { indent() }
    put(bracket)
    needsComma = true
  }
}
