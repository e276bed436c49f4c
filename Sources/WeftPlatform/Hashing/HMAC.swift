/// A hash that can only be computed with the key: RFC 2104 over SHA-256.
package struct HMAC: Sendable {
  private let inner: SHA256
  private let outer: SHA256

  package init(key: [UInt8]) {
    let short = key.count > HMAC.blockLength ? SHA256.digest(of: key) : key
    let block = short + [UInt8](repeating: 0, count: HMAC.blockLength - short.count)
    var (inner, outer) = (SHA256(), SHA256())
    inner.update(block.map { $0 ^ 0x36 })
    outer.update(block.map { $0 ^ 0x5c })
    (self.inner, self.outer) = (inner, outer)
  }

  private static let blockLength = 64

  package func digest(of bytes: some Collection<UInt8>) -> SHA256.Digest {
    var (inner, outer) = (inner, outer)
    inner.update(bytes)
    outer.update(inner.digest())
    return outer.digest()
  }
}
