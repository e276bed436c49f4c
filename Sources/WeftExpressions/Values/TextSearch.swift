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
