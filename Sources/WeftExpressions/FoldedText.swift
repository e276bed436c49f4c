/// Case-insensitive comparison of text, scalar by scalar.
///
/// Each scalar is compared by its simple uppercase mapping (Unicode, UnicodeData.txt), independent of language: `ß` is
/// not `SS`, and `ı` is not `I`, as in GitHub Actions. Uppercase also decides the order: `_` sorts after all ASCII
/// letters.
enum FoldedText {
  static func areEqual(_ left: String, _ right: String) -> Bool {
    let decided = left.utf8.withContiguousStorageIfAvailable { left in
      right.utf8.withContiguousStorageIfAvailable { right in areEqual(left, right) }
    }
    if case .some(.some(.some(let answer))) = decided { return answer }
    return scalars(of: left).elementsEqual(scalars(of: right))
  }

  static func isLess(_ left: String, _ right: String) -> Bool {
    scalars(of: left).lexicographicallyPrecedes(scalars(of: right)) { $0.value < $1.value }
  }

  static func hasPrefix(_ text: String, _ prefix: String) -> Bool {
    folded(text).utf8.starts(with: folded(prefix).utf8)
  }

  static func hasSuffix(_ text: String, _ suffix: String) -> Bool {
    folded(text).utf8.reversed().starts(with: folded(suffix).utf8.reversed())
  }

  static func contains(_ text: String, _ part: String) -> Bool {
    TextSearch(folded(part)).isFound(in: folded(text))
  }

  /// The text in the form in which it is compared.
  static func folded(_ text: String) -> String {
    if text.utf8.allSatisfy({ $0 < 0x80 }) {
      guard text.utf8.contains(where: { folded($0) != $0 }) else { return text }
      return String(decoding: text.utf8.map(folded), as: UTF8.self)
    }
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars(of: text))
    return String(view)
  }

  /// `nil` if the comparison needs more than ASCII.
  @inline(__always)
  private static func areEqual(
    _ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>
  ) -> Bool? {
    for index in 0..<min(left.count, right.count) {
      let (one, other) = (left[index], right[index])
      if (one | other) & 0x80 != 0 { return nil }
      if one != other, folded(one) != folded(other) { return false }
    }
    return left.count == right.count
  }

  @inline(__always)
  private static func folded(_ byte: UInt8) -> UInt8 {
    byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") ? byte - 0x20 : byte
  }

  private static func scalars(
    of text: String
  ) -> LazyMapSequence<String.UnicodeScalarView, Unicode.Scalar> {
    text.unicodeScalars.lazy.map(folded)
  }

  private static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    if scalar.isASCII {
      return Unicode.Scalar(folded(UInt8(truncatingIfNeeded: scalar.value)))
    }
    if scalar == "\u{131}" { return scalar }
    let properties = scalar.properties
    // If the full mapping is longer, the simple uppercase is the title case mapping, if that is one scalar.
    return single(properties.uppercaseMapping) ?? single(properties.titlecaseMapping) ?? scalar
  }

  private static func single(_ mapping: String) -> Unicode.Scalar? {
    mapping.unicodeScalars.count == 1 ? mapping.unicodeScalars.first : nil
  }
}

/// Searches for text in linear time (Knuth, Morris, Pratt 1977).
///
/// Compares UTF-8 bytes; no scalar begins inside another.
struct TextSearch {
  private let needle: [UInt8]
  /// For each prefix of the needle, the length of the longest shorter prefix that is also its suffix.
  private let borders: [Int]

  init(_ text: String) {
    let needle = Array(text.utf8)
    var borders = [Int](repeating: 0, count: needle.count)
    var length = 0
    for index in needle.indices.dropFirst() {
      while length > 0, needle[index] != needle[length] { length = borders[length - 1] }
      if needle[index] == needle[length] { length += 1 }
      borders[index] = length
    }
    self.needle = needle
    self.borders = borders
  }

  func isFound(in text: String) -> Bool {
    needle.isEmpty || firstEnd(in: Array(text.utf8), from: 0) != nil
  }

  /// The pieces between the occurrences of the needle, which must not be empty.
  func pieces(of text: String) -> [String] {
    let bytes = Array(text.utf8)
    var pieces: [String] = []
    var start = 0
    while let end = firstEnd(in: bytes, from: start) {
      pieces.append(String(decoding: bytes[start..<end - needle.count], as: UTF8.self))
      start = end
    }
    return pieces + [String(decoding: bytes[start...], as: UTF8.self)]
  }

  private func firstEnd(in bytes: [UInt8], from start: Int) -> Int? {
    var length = 0
    for index in start..<bytes.count {
      while length > 0, bytes[index] != needle[length] { length = borders[length - 1] }
      if bytes[index] == needle[length] { length += 1 }
      if length == needle.count { return index + 1 }
    }
    return nil
  }
}

/// White space as ECMAScript defines it: Unicode's, plus the byte order mark, without U+0085.
enum WhiteSpace {
  static func isWhiteSpace(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.isASCII { return scalar == " " || (0x09...0x0D).contains(scalar.value) }
    return scalar == "\u{FEFF}" || scalar.properties.isWhitespace && scalar != "\u{85}"
  }

  static func trimmed(_ text: String) -> String {
    let scalars = text.unicodeScalars
    guard let first = scalars.firstIndex(where: { !isWhiteSpace($0) }),
      let last = scalars.lastIndex(where: { !isWhiteSpace($0) })
    else { return "" }
    return String(scalars[first...last])
  }
}
