import WeftPlatform

/// An unambiguous encoding of texts: each is preceded by its length, and each list by its count, so that no two lists
/// have the same bytes.
struct CanonicalBytes {
  private(set) var bytes: [UInt8] = []

  mutating func append(_ texts: String...) {
    append(count: texts.count)
    for text in texts {
      append(count: text.utf8.count)
      bytes += text.utf8
    }
  }

  mutating func append(count: Int) {
    for shift in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> (8 * shift))) }
  }

  var hash: String { SHA256.text(of: SHA256.digest(of: bytes)) }
}
