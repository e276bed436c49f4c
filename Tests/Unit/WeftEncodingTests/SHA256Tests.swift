import Testing

@testable import WeftEncoding

struct SHA256Tests {
  /// FIPS 180-4, and NIST's Cryptographic Algorithm Validation Program.
  static let vectors: [(text: String, count: Int, digest: String)] = [
    ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
    (
      "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
      1, "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
    ),
    ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
  ]

  @Test(arguments: vectors)
  func hashesAsTheStandardSays(text: String, count: Int, digest: String) {
    let bytes = Array(String(repeating: text, count: count).utf8)
    #expect(SHA256.text(of: SHA256.digest(of: bytes)) == digest)
  }

  @Test func thePiecesInWhichBytesComeDoNotMatter() {
    let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
    let whole = SHA256.digest(of: bytes)
    for length in [1, 3, 55, 56, 63, 64, 65, 127, 128, 500] {
      var hash = SHA256()
      for start in stride(from: 0, to: bytes.count, by: length) {
        hash.update(bytes[start..<min(start + length, bytes.count)])
      }
      #expect(hash.digest() == whole)
      #expect(hash.digest() == whole, "asking changes nothing")
    }
  }

  /// Lengths at which the padding needs a further block, and at which it does not.
  @Test(arguments: [
    (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
    (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
    (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
    (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
    (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
    (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
  ])
  func lengthsAroundABlockArePaddedRight(count: Int, digest: String) {
    let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: count)
    #expect(SHA256.text(of: SHA256.digest(of: bytes)) == digest)
  }

  /// Compares the processor's instructions, where there are any, with the computation that needs none.
  @Test(arguments: [0, 1, 2, 3, 17])
  func allProcessorsComputeTheSame(blocks: Int) {
    let bytes = (0..<64 * blocks).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
    let start = SHA256.State(1, 2, 3, 4, 5, 6, 7, .max)
    var (one, other) = (start, start)
    bytes.withUnsafeBytes {
      SHA256.add($0, to: &one)
      SHA256.addPortably($0, to: &other)
    }
    #expect(one == other)
    #expect(blocks == 0 || one != start)
  }
}
