/// Whether an address is public: not one of this machine, of a private network or of a special purpose (IANA's
/// special-purpose address registries, RFC 6890).
enum PublicAddress {
  /// - Parameter bytes: Four or sixteen, in network byte order.
  static func isPublic(_ bytes: [UInt8]) -> Bool {
    switch bytes.count {
    case 4: isPublicFour(bytes)
    case 16: isPublicSixteen(bytes)
    default: false
    }
  }

  private static func isPublicFour(_ bytes: [UInt8]) -> Bool {
    let address = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return !specialFour.contains { network, bits in
      (address ^ network) >> (32 - bits) == 0
    }
  }

  private static let specialFour: [(UInt32, UInt32)] = [
    (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
    (0xAC10_0000, 12), (0xC000_0000, 24), (0xC000_0200, 24), (0xC058_6300, 24), (0xC0A8_0000, 16),
    (0xC612_0000, 15), (0xC633_6400, 24), (0xCB00_7100, 24), (0xE000_0000, 4), (0xF000_0000, 4),
  ]

  private static func isPublicSixteen(_ bytes: [UInt8]) -> Bool {
    // ::ffff:a.b.c.d, 64:ff9b::a.b.c.d and 2002:a.b.c.d:: reach the IPv4 address embedded in them.
    if bytes.starts(with: mapped) || bytes.starts(with: translated) {
      return isPublicFour(Array(bytes.suffix(4)))
    }
    if bytes.starts(with: [0x20, 0x02]) { return isPublicFour(Array(bytes[2..<6])) }
    // Only 2000::/3 is allocated; these parts of it are special: 2001::/23, 2001:db8::/32 and 3fff::/20.
    guard bytes[0] & 0xE0 == 0x20 else { return false }
    if bytes.starts(with: [0x20, 0x01]) {
      return bytes[2] > 0x01 && !bytes.starts(with: [0x20, 0x01, 0x0D, 0xB8])
    }
    return !(bytes.starts(with: [0x3F, 0xFF]) && bytes[2] & 0xF0 == 0)
  }

  private static let mapped = [UInt8](repeating: 0, count: 10) + [0xFF, 0xFF]
  private static let translated: [UInt8] =
    [0x00, 0x64, 0xFF, 0x9B] + [UInt8](repeating: 0, count: 8)

  /// The text form: "127.0.0.1", or "[::1]" with all groups written out.
  static func text(_ bytes: [UInt8]) -> String {
    if bytes.count == 4 { return bytes.map(String.init).joined(separator: ".") }
    let groups = stride(from: 0, to: bytes.count - 1, by: 2).map { at in
      String(UInt16(bytes[at]) << 8 | UInt16(bytes[at + 1]), radix: 16)
    }
    return "[" + groups.joined(separator: ":") + "]"
  }
}
