/// Whether one stands inside a string of a JSON text, told as the text goes by.
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
