/// Escapes no more than RFC 8259 §7 requires: quotes, backslashes and control characters.
///
/// U+2028, U+2029 and everything else beyond ASCII are written unescaped.
extension JSONWriter {
  /// The length above which text is written in parts, which keeps the room for the worst case small.
  private static let partLength = 512

  /// Writes a string, or a key with its colon.
  mutating func putQuoted(_ text: String, isKey: Bool = false) {
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
