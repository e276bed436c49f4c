package import WeftDiagnostics

/// Resolves the escapes of strings (RFC 8259 §7).
///
/// Works on strings that were already read, so it never fails: a lone surrogate becomes U+FFFD, and an unknown escape
/// loses its backslash.
enum JSONEscapes {
  static func resolved(_ content: UnsafeBufferPointer<UInt8>) -> String {
    // No escape resolves to more bytes than it is written with.
    String(unsafeUninitializedCapacity: content.count) { target in
      var count = 0
      walk(content) { piece in
        switch piece {
        case .plain(let range):
          for offset in range { target[count + offset - range.lowerBound] = content[offset] }
          count += range.count
        case .escape(_, let scalar):
          for byte in Unicode.UTF8.encode(scalar) ?? Unicode.UTF8.encodedReplacementCharacter {
            target[count] = byte
            count += 1
          }
        }
        return true
      }
      return count
    }
  }

  /// The source offset of a byte of the resolved content.
  static func sourceOffset(ofUTF8 wanted: Int, in content: UnsafeBufferPointer<UInt8>) -> Int {
    var found = content.count
    var count = 0
    walk(content) { piece in
      switch piece {
      case .plain(let range):
        found = range.lowerBound + wanted - count
        count += range.count
      case .escape(let range, let scalar):
        found = range.lowerBound
        count += UTF8.width(scalar)
      }
      return count <= wanted
    }
    return count > wanted ? found : content.count
  }

  private enum Piece {
    case plain(Range<Int>)
    case escape(Range<Int>, Unicode.Scalar)
  }

  /// Visits the pieces in order until `visit` returns `false`.
  @inline(__always)
  private static func walk(_ content: UnsafeBufferPointer<UInt8>, _ visit: (Piece) -> Bool) {
    var start = 0
    while start < content.count {
      var end = start
      while end < content.count, content[end] != UInt8(ascii: "\\") { end += 1 }
      if end > start, !visit(.plain(start..<end)) { return }
      start = end
      guard end + 1 < content.count else { continue }
      if let (length, scalar) = escape(at: end, in: content) {
        guard visit(.escape(end..<end + length, scalar)) else { return }
        start = end + length
      } else {
        guard visit(.plain(end + 1..<end + 2)) else { return }
        start = end + 2
      }
    }
  }

  private static func escape(
    at offset: Int, in content: UnsafeBufferPointer<UInt8>
  ) -> (length: Int, scalar: Unicode.Scalar)? {
    switch content[offset + 1] {
    case UInt8(ascii: "b"): (2, "\u{8}")
    case UInt8(ascii: "f"): (2, "\u{C}")
    case UInt8(ascii: "n"): (2, "\n")
    case UInt8(ascii: "r"): (2, "\r")
    case UInt8(ascii: "t"): (2, "\t")
    case UInt8(ascii: "u"): unicodeEscape(at: offset, in: content)
    // A quote, a slash, a backslash, or an unknown escape.
    case let byte where byte < 0x80: (2, Unicode.Scalar(byte))
    default: nil
    }
  }

  private static func unicodeEscape(
    at offset: Int, in content: UnsafeBufferPointer<UInt8>
  ) -> (length: Int, scalar: Unicode.Scalar)? {
    guard let unit = JSONHex.unit(at: offset, in: content) else { return nil }
    if unit & 0xFC00 == 0xD800, let second = JSONHex.unit(at: offset + 6, in: content),
      second & 0xFC00 == 0xDC00
    {
      let value = 0x10000 + ((unit & 0x3FF) << 10) + (second & 0x3FF)
      return (12, Unicode.Scalar(value) ?? "\u{FFFD}")
    }
    return (6, Unicode.Scalar(unit) ?? "\u{FFFD}")
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

  /// The UTF-16 code unit of a `\uXXXX` that begins at `offset`; `nil` if there is none.
  static func unit(at offset: Int, in bytes: UnsafeBufferPointer<UInt8>) -> UInt32? {
    guard offset + 6 <= bytes.count, bytes[offset] == UInt8(ascii: "\\"),
      bytes[offset + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt32 = 0
    for index in offset + 2..<offset + 6 {
      guard let digit = digit(bytes[index]) else { return nil }
      unit = unit << 4 | digit
    }
    return unit
  }
}

extension SourceFile {
  /// The range in the file of a part of a string.
  ///
  /// - Parameters:
  ///   - part: UTF-8 offsets in the content of the string, its escapes resolved.
  ///   - string: The range of the string in the file, including its quotes.
  package func range(of part: SourceRange, inStringAt string: SourceRange) -> SourceRange {
    let content = Int(string.start) + 1..<max(Int(string.end) - 1, Int(string.start) + 1)
    return bytes.withUnsafeBufferPointer { bytes in
      let written = UnsafeBufferPointer(rebasing: bytes[content])
      let isEscaped = written.contains(UInt8(ascii: "\\"))
      let place = { (offset: UInt32) in
        content.lowerBound
          + (isEscaped
            ? JSONEscapes.sourceOffset(ofUTF8: Int(offset), in: written)
            : min(Int(offset), written.count))
      }
      return SourceRange(start: place(part.start), end: place(part.end))
    }
  }

  /// The range of a part of the contents of several strings, joined by newlines. It is in the string where the part
  /// begins.
  package func range(of part: SourceRange, inLinesAt strings: [SourceRange]) -> SourceRange? {
    var start = Int(part.start)
    for string in strings {
      let count = bytes.withUnsafeBufferPointer { bytes in
        let content = Int(string.start) + 1..<max(Int(string.end) - 1, Int(string.start) + 1)
        return JSONEscapes.resolved(UnsafeBufferPointer(rebasing: bytes[content])).utf8.count
      }
      if start <= count {
        let end = min(start + Int(part.end - part.start), count)
        return range(of: SourceRange(start: start, end: end), inStringAt: string)
      }
      start -= count + 1
    }
    return strings.last
  }
}

/// Searches eight bytes of text at a time.
///
/// The results have the high bit set in every byte that matches, counted from the lowest. Only the lowest is reliable:
/// a borrow may set bits above it (Mycroft 1987).
enum JSONWord {
  private static let ones: UInt64 = 0x0101_0101_0101_0101
  static let highs: UInt64 = 0x8080_8080_8080_8080

  /// Finds `"` and `\`.
  @inline(__always)
  static func quotes(in word: UInt64) -> UInt64 {
    let quote = word ^ (ones &* 0x22)
    let backslash = word ^ (ones &* 0x5C)
    return ((quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
  }

  /// Finds bytes below 0x20.
  @inline(__always)
  static func controls(in word: UInt64) -> UInt64 { (word &- ones &* 0x20) & ~word & highs }

  /// Finds bytes beyond ASCII.
  @inline(__always)
  static func beyondASCII(in word: UInt64) -> UInt64 { word & highs }
}
