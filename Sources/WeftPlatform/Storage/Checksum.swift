import CWeftPlatform

/// CRC-32C (Castagnoli), as iSCSI has it (RFC 3720, appendix B.4): by the processor's own instruction
/// where there is one.
package enum Checksum {
  package static func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// As every processor can compute it.
  static func crc32cByTable(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c_by_table(0, bytes.baseAddress, bytes.count)
  }
}
