import Testing

@testable import WeftEncoding

@Suite struct ChecksumTests {
  /// RFC 3720, appendix B.4, and the value that catalogues of CRCs give for "123456789".
  @Test(
    arguments: [
      (Array("123456789".utf8), 0xE306_9283), ([UInt8](repeating: 0, count: 32), 0x8A91_36AA),
      ([UInt8](repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0..<32), 0x46DD_794E), ([], 0),
    ] as [([UInt8], UInt32)])
  func checksumsAreThoseOfTheStandard(bytes: [UInt8], checksum: UInt32) {
    #expect(bytes.withUnsafeBytes(Checksum.crc32c) == checksum)
    #expect(bytes.withUnsafeBytes(Checksum.crc32cByTable) == checksum)
  }

  @Test func theProcessorsInstructionAndTheTableAgreeAtEveryLength() {
    let bytes = (0..<200).map { UInt8(truncatingIfNeeded: $0 * 37 + 11) }
    for start in 0..<8 {
      for end in start...bytes.count {
        bytes[start..<end].withUnsafeBytes { part in
          #expect(Checksum.crc32c(part) == Checksum.crc32cByTable(part))
        }
      }
    }
  }
}
