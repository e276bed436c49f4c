import CWeftPlatform

/// CRC-32C (Castagnoli), as in iSCSI (RFC 3720, appendix B.4), with the processor's instruction if there is one.
package enum Checksum {
  package static func crc32c(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c(0, bytes.baseAddress, bytes.count)
  }

  /// The computation that works on every processor.
  static func crc32cByTable(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    weft_crc32c_by_table(0, bytes.baseAddress, bytes.count)
  }
}
