/// Finds users and passwords in the URLs of a file, so that diagnostics do not show them: more people may read a
/// diagnostic than the file.
///
/// They are between `://` and the `@` before a host; the slashes may be escaped as `\/`. An expression in them names
/// the source of a value and is not a secret itself.
enum HiddenCredentials {
  /// Returns the ranges of credentials in ascending order, none of them empty.
  static func ranges(in part: Range<Int>, of bytes: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var offset = part.lowerBound
    while let colon = bytes[offset..<part.upperBound].firstIndex(of: UInt8(ascii: ":")) {
      offset = colon + 1
      guard let start = afterSlashes(offset..<part.upperBound, bytes) else { continue }
      let pieces = credentials(from: start, to: part.upperBound, bytes)
      found += pieces
      offset = pieces.last?.upperBound ?? start
    }
    return found
  }

  private static func afterSlashes(_ part: Range<Int>, _ bytes: [UInt8]) -> Int? {
    var offset = part.lowerBound
    for _ in 0..<2 {
      if offset < part.upperBound, bytes[offset] == UInt8(ascii: "\\") { offset += 1 }
      guard offset < part.upperBound, bytes[offset] == UInt8(ascii: "/") else { return nil }
      offset += 1
    }
    return offset
  }

  /// The text before the last `@` of the authority, without expressions; empty if there is no `@`.
  private static func credentials(from start: Int, to end: Int, _ bytes: [UInt8]) -> [Range<Int>] {
    var pieces: [Range<Int>] = []
    var hidden = 0
    var offset = start
    var pieceStart = start
    while offset < end, !endsAuthority(bytes[offset]) {
      if let behind = behindExpression(offset..<end, bytes) {
        pieces.append(pieceStart..<offset)
        (offset, pieceStart) = (behind, behind)
        continue
      }
      if bytes[offset] == UInt8(ascii: "@") {
        pieces.append(pieceStart..<offset)
        (hidden, pieceStart) = (pieces.count, offset)
      }
      offset += 1
    }
    return pieces.prefix(hidden).filter { !$0.isEmpty }
  }

  /// Whether a byte ends the authority: a slash, a delimiter after the authority, or the end of a text.
  private static func endsAuthority(_ byte: UInt8) -> Bool {
    byte <= 0x20 || "/?#\"\\<>".utf8.contains(byte)
  }

  private static func behindExpression(_ part: Range<Int>, _ bytes: [UInt8]) -> Int? {
    guard bytes[part].starts(with: "${{".utf8) else { return nil }
    var offset = part.lowerBound
    while offset + 1 < part.upperBound {
      if bytes[offset] == UInt8(ascii: "}"), bytes[offset + 1] == UInt8(ascii: "}") {
        return offset + 2
      }
      offset += 1
    }
    return part.upperBound
  }
}
