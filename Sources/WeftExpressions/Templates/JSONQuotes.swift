/// Tracks whether a JSON text, as far as it was passed, ends inside a string.
struct JSONQuotes {
  private(set) var isInside = false
  private var isEscaped = false

  mutating func pass(_ text: String) {
    for byte in text.utf8 {
      if isEscaped {
        isEscaped = false
      } else if byte == UInt8(ascii: "\"") {
        isInside.toggle()
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = isInside
      }
    }
  }
}
