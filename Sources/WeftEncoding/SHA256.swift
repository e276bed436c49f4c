import CWeftPlatform

/// The hash of FIPS 180-4 §6.2, computed piece by piece, with the processor's instructions if there are any.
package struct SHA256: Sendable {
  /// A hash, as 32 bytes.
  package typealias Digest = [UInt8]
  typealias State = SIMD8<UInt32>

  private var state = State(
    0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
    0x5be0_cd19)
  /// Input that does not fill a block yet.
  private var rest: [UInt8] = []
  private var byteCount: UInt64 = 0

  package init() {}

  private static let blockLength = 64

  package mutating func update(_ bytes: some Collection<UInt8>) {
    let done: Void? = bytes.withContiguousStorageIfAvailable { update(UnsafeRawBufferPointer($0)) }
    if done == nil { Array(bytes).withUnsafeBytes { update($0) } }
  }

  package mutating func update(_ bytes: UnsafeRawBufferPointer) {
    byteCount += UInt64(bytes.count)
    var start = 0
    if !rest.isEmpty {
      start = min(SHA256.blockLength - rest.count, bytes.count)
      rest.append(contentsOf: bytes[..<start])
      guard rest.count == SHA256.blockLength else { return }
      rest.withUnsafeBytes { SHA256.add($0, to: &state) }
      rest.removeAll(keepingCapacity: true)
    }
    let end = bytes.count - (bytes.count - start) % SHA256.blockLength
    SHA256.add(UnsafeRawBufferPointer(rebasing: bytes[start..<end]), to: &state)
    rest.append(contentsOf: bytes[end...])
  }

  /// The hash of all input so far.
  package func digest() -> Digest {
    var last = state
    // A bit, zeros up to the end of a block, and the number of bits of the input.
    let count = rest.count < SHA256.blockLength - 8 ? SHA256.blockLength : 2 * SHA256.blockLength
    withUnsafeTemporaryAllocation(byteCount: count, alignment: 8) { padded in
      padded.initializeMemory(as: UInt8.self, repeating: 0)
      padded.copyBytes(from: rest)
      padded[rest.count] = 0x80
      padded.storeBytes(of: (byteCount &* 8).bigEndian, toByteOffset: count - 8, as: UInt64.self)
      SHA256.add(UnsafeRawBufferPointer(padded), to: &last)
    }
    return Digest(unsafeUninitializedCapacity: 32) { bytes, count in
      for index in 0..<32 {
        let shift = 24 - 8 * UInt32(index & 3)
        bytes.initializeElement(
          at: index, to: UInt8(truncatingIfNeeded: last[index >> 2] >> shift))
      }
      count = 32
    }
  }

  package static func digest(of bytes: some Collection<UInt8>) -> Digest {
    var hash = SHA256()
    hash.update(bytes)
    return hash.digest()
  }

  /// The digest in lower-case hexadecimal digits.
  package static func text(of digest: Digest) -> String {
    let digits: StaticString = "0123456789abcdef"
    return String(unsafeUninitializedCapacity: 2 * digest.count) { text in
      for (index, byte) in digest.enumerated() {
        text.initializeElement(at: 2 * index, to: digits.utf8Start[Int(byte >> 4)])
        text.initializeElement(at: 2 * index + 1, to: digits.utf8Start[Int(byte & 15)])
      }
      return 2 * digest.count
    }
  }

  /// Adds whole blocks.
  static func add(_ blocks: UnsafeRawBufferPointer, to state: inout State) {
    guard let first = blocks.baseAddress else { return }
    change(&state) { weft_sha256($0, first, blocks.count / blockLength) }
  }

  /// The computation that works on every processor.
  static func addPortably(_ blocks: UnsafeRawBufferPointer, to state: inout State) {
    guard let first = blocks.baseAddress else { return }
    change(&state) { weft_sha256_portably($0, first, blocks.count / blockLength) }
  }

  private static func change(
    _ state: inout State, _ body: (UnsafeMutablePointer<UInt32>) -> Void
  ) {
    withUnsafeMutableBytes(of: &state) { bytes in
      // A vector of eight words is eight words in a row.
      bytes.withMemoryRebound(to: UInt32.self) { body($0.baseAddress!) }
    }
  }
}

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
