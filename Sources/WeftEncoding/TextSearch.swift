// Swift's own methods for this are in the library of regular expressions, a twentieth of the linked program.
// Overload resolution prefers these; `.ci/run` checks that none of the others is used.

extension StringProtocol {
  /// Whether the text occurs in it, byte for byte; an empty text does.
  package func contains(_ text: some StringProtocol) -> Bool {
    Array(utf8).firstOffset(of: Array(text.utf8), from: 0) != nil
  }

  /// The ranges in which the text, which is not empty, occurs byte for byte; they do not overlap.
  package func ranges(of text: String) -> [Range<Index>] {
    let (bytes, wanted) = (Array(utf8), Array(text.utf8))
    var ranges: [Range<Index>] = []
    var (end, offset) = (startIndex, 0)
    while let found = bytes.firstOffset(of: wanted, from: offset) {
      let start = utf8.index(end, offsetBy: found - offset)
      end = utf8.index(start, offsetBy: wanted.count)
      offset = found + wanted.count
      ranges.append(start..<end)
    }
    return ranges
  }

  /// The text with each occurrence of one text, which is not empty, replaced by another.
  package func replacing(_ text: String, with replacement: String) -> String {
    var replaced = ""
    var end = startIndex
    for range in ranges(of: text) {
      replaced += self[end..<range.lowerBound]
      replaced += replacement
      end = range.upperBound
    }
    return replaced + self[end...]
  }
}

extension [UInt8] {
  /// The first offset, at least `start`, at which the bytes are those.
  package func firstOffset(of bytes: [UInt8], from start: Int) -> Int? {
    guard start + bytes.count <= count else { return nil }
    return (start...(count - bytes.count)).first { self[$0...].starts(with: bytes) }
  }
}
