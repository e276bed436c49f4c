/// Compressed bytes made by hand, because no library is available here.
enum Gzip {
  /// Zeros as in a decompression bomb: deflate's longest copies, two bits each.
  static func zeros(_ count: Int) -> [UInt8] {
    precondition(count >= 259)
    var bits = Bits()
    bits.append(1, 1)  // the last block
    bits.append(1, 2)  // fixed codes (RFC 1951 §3.2.6)
    bits.append(0b0000_1100, 8)  // a zero: code 00110000, most significant bit first
    var left = count - 1
    while left >= 258 + 3 || left == 258 {
      bits.append(0b1010_0011, 8)  // copy 258: 285 is 11000101
      bits.append(0, 5)  // from one byte back
      left -= 258
    }
    for _ in 0..<left { bits.append(0b0000_1100, 8) }
    bits.append(0, 7)  // the end: 256
    return [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255] + bits.bytes + trailer(count)
  }

  private static func trailer(_ count: Int) -> [UInt8] {
    var check = UInt32.max
    let table = (0..<UInt32(256)).map { byte in
      (0..<8).reduce(byte) { value, _ in
        value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1
      }
    }
    for _ in 0..<count { check = table[Int(check & 0xFF)] ^ (check >> 8) }
    return [~check, UInt32(count)].flatMap { word in
      (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
    }
  }

  /// Bits, the least significant first.
  private struct Bits {
    var bytes: [UInt8] = []
    private var used = 8

    mutating func append(_ value: UInt32, _ count: Int) {
      for place in 0..<count {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8(value >> UInt32(place) & 1) << UInt8(used)
        used += 1
      }
    }
  }
}
