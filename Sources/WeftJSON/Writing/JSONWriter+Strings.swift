/// Escaping as RFC 8259 §7 requires and no more: quotes, backslashes and control characters.
///
/// U+2028, U+2029 and everything else beyond ASCII stand for themselves.
extension JSONWriter {
  mutating func putQuoted(_ text: String) {
    var text = text
    text.withUTF8 { putQuoted($0) }
  }

  private mutating func putQuoted(_ text: UnsafeBufferPointer<UInt8>) {
    put(UInt8(ascii: "\""))
    var written = 0
    for index in text.indices where JSONWriter.needsEscape(text[index]) {
      put(UnsafeBufferPointer(rebasing: text[written..<index]))
      putEscape(of: text[index])
      written = index + 1
    }
    put(UnsafeBufferPointer(rebasing: text[written...]))
    put(UInt8(ascii: "\""))
  }

  @inline(__always)
  private static func needsEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private mutating func putEscape(of byte: UInt8) {
    put(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): put(byte)
    case 0x08: put(UInt8(ascii: "b"))
    case 0x09: put(UInt8(ascii: "t"))
    case 0x0A: put(UInt8(ascii: "n"))
    case 0x0C: put(UInt8(ascii: "f"))
    case 0x0D: put(UInt8(ascii: "r"))
    default:
      put(byte < 0x10 ? "u000" : "u001")
      let digit = byte & 0xF
      put(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") - 10 + digit)
    }
  }
}
