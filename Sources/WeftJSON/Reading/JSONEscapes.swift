/// What the escapes of a string stand for (RFC 8259 §7).
///
/// Is asked about strings that have been read, so it never fails: what the reader has told to be
/// wrong becomes U+FFFD, and an unknown escape stands for its letter.
enum JSONEscapes {
  static func resolved(_ content: ArraySlice<UInt8>) -> [UInt8] {
    var result: [UInt8] = []
    result.reserveCapacity(content.count)
    walk(content) { _, piece in
      result.append(contentsOf: piece)
      return true
    }
    return result
  }

  /// The place of a byte of the resolved content.
  static func sourceOffset(ofUTF8 wanted: Int, in content: ArraySlice<UInt8>) -> Int {
    var found = content.endIndex
    var count = 0
    walk(content) { offset, piece in
      count += piece.count
      guard count > wanted else { return true }
      found = offset
      return false
    }
    return found
  }

  /// Goes over the content byte by byte and escape by escape until `visit` has had enough.
  private static func walk(
    _ content: ArraySlice<UInt8>, _ visit: (_ offset: Int, _ piece: ArraySlice<UInt8>) -> Bool
  ) {
    var offset = content.startIndex
    while offset < content.endIndex {
      guard content[offset] == UInt8(ascii: "\\"), offset + 1 < content.endIndex else {
        guard visit(offset, content[offset...offset]) else { return }
        offset += 1
        continue
      }
      let escape = JSONEscape(at: offset, in: content)
      guard visit(offset, escape.meaning[...]) else { return }
      offset += escape.length
    }
  }
}

/// One escape: how long it is, and the UTF-8 that it means.
private struct JSONEscape {
  let length: Int
  let meaning: [UInt8]

  init(at offset: Int, in content: ArraySlice<UInt8>) {
    let letter = content[offset + 1]
    guard letter == UInt8(ascii: "u"), let unit = JSONEscape.unit(at: offset, in: content) else {
      length = 2
      meaning = [JSONEscape.character(for: letter)]
      return
    }
    if unit & 0xFC00 == 0xD800, let second = JSONEscape.unit(at: offset + 6, in: content),
      second & 0xFC00 == 0xDC00
    {
      length = 12
      let value = 0x10000 + ((unit & 0x3FF) << 10) + (second & 0x3FF)
      meaning = JSONEscape.encoded(value)
    } else {
      length = 6
      meaning = JSONEscape.encoded(unit)
    }
  }

  private static func encoded(_ value: UInt32) -> [UInt8] {
    Array(String(Unicode.Scalar(value) ?? "\u{FFFD}").utf8)
  }

  private static func character(for letter: UInt8) -> UInt8 {
    switch letter {
    case UInt8(ascii: "b"): 0x08
    case UInt8(ascii: "f"): 0x0C
    case UInt8(ascii: "n"): 0x0A
    case UInt8(ascii: "r"): 0x0D
    case UInt8(ascii: "t"): 0x09
    default: letter
    }
  }

  /// The UTF-16 unit of a `\uXXXX` that begins at `offset`.
  private static func unit(at offset: Int, in content: ArraySlice<UInt8>) -> UInt32? {
    guard offset + 6 <= content.endIndex, content[offset] == UInt8(ascii: "\\"),
      content[offset + 1] == UInt8(ascii: "u")
    else { return nil }
    return JSONHex.unit(content[offset + 2..<offset + 6])
  }
}

enum JSONHex {
  static func digit(_ byte: UInt8) -> UInt32? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(byte - UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(byte - UInt8(ascii: "a") + 10)
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(byte - UInt8(ascii: "A") + 10)
    default: nil
    }
  }

  /// Hexadecimal digits as a number; `nil` if there is another byte among them.
  static func unit(_ digits: some Sequence<UInt8>) -> UInt32? {
    var unit: UInt32 = 0
    for byte in digits {
      guard let digit = digit(byte) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }
}
