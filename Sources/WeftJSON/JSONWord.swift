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
