extension UnsafeBufferPointer<UInt8> {
  /// Whether there is a dollar sign, without which there is no expression. Looks at eight bytes at
  /// a time with the test for a zero byte in a word (H. S. Warren, "Hacker's Delight", §6-1).
  var hasDollar: Bool {
    let dollars = UInt64(UInt8(ascii: "$")) &* 0x0101_0101_0101_0101
    let bytes = UnsafeRawBufferPointer(self)
    var offset = 0
    while offset &+ 8 <= bytes.count {
      let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self) ^ dollars
      if (word &- 0x0101_0101_0101_0101) & ~word & 0x8080_8080_8080_8080 != 0 { return true }
      offset &+= 8
    }
    while offset < bytes.count {
      if bytes[offset] == UInt8(ascii: "$") { return true }
      offset &+= 1
    }
    return false
  }
}

extension String {
  /// Whether the text contains `${{`.
  package var hasExpression: Bool {
    var text = self
    return text.withUTF8 { bytes in
      guard bytes.count >= 3, bytes.hasDollar else { return false }
      for index in 0..<bytes.count - 2 where bytes[index] == UInt8(ascii: "$") {
        if bytes[index + 1] == UInt8(ascii: "{") && bytes[index + 2] == UInt8(ascii: "{") {
          return true
        }
      }
      return false
    }
  }
}
