/// The length and checksum to compare with the trailer of a compressed body.
struct UnpackedChecksum {
  enum Kind: Hashable {
    case none
    /// RFC 1952 §8.
    case crc32
    /// RFC 1950 §8.2.
    case adler32
  }

  let kind: Kind
  private(set) var length = 0
  private var remainder = UInt32.max
  private var sums: (UInt32, UInt32) = (1, 0)

  init(_ kind: Kind = .none) { self.kind = kind }

  var crc: Int { Int(~remainder) }
  var adler: UInt32 { sums.1 << 16 | sums.0 }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    length += bytes.count
    switch kind {
    case .none: break
    case .crc32:
      remainder = UnpackedChecksum.table.withUnsafeBufferPointer { table in
        bytes.reduce(remainder) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 0xFF)] }
      }
    case .adler32: addToSums(bytes)
    }
  }

  private mutating func addToSums(_ bytes: UnsafeRawBufferPointer) {
    // The most bytes for which neither sum overflows 32 bits.
    for start in stride(from: 0, to: bytes.count, by: 5552) {
      for byte in bytes[start..<min(start + 5552, bytes.count)] {
        sums.0 &+= UInt32(byte)
        sums.1 &+= sums.0
      }
      sums = (sums.0 % 65521, sums.1 % 65521)
    }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }
}
