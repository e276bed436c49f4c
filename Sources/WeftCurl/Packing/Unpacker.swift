/// The reason why a body does not match its `Content-Encoding`.
enum PackingError: Error, Hashable {
  /// `what` describes the malformed part.
  case malformed(String)
}

/// Decompresses a response body as it arrives: `gzip` (RFC 1952) and `deflate` (RFC 1950, and the bare RFC 1951 that
/// some servers send under that name). A body is complete only with its end marker and its trailer.
///
/// Not libcurl's decoder, because that does not notice a missing end.
struct Unpacker {
  enum Coding: Hashable {
    case gzip, deflate
  }

  /// The `Accept-Encoding` of requests: exactly the supported codings.
  static let accepted = "gzip, deflate"

  /// The position in the format. Each case is a unit that is read once it is completely available.
  private enum Phase: Hashable {
    case gzipHead
    case extraLength(flags: Int)
    case extra(flags: Int, left: Int)
    case text(flags: Int, isName: Bool)
    case headCheck
    case zlibHead
    case deflated
    case gzipTrailer
    case zlibTrailer
    /// A gzip member has ended; another may follow.
    case betweenMembers
    case over
  }

  private enum Flag {
    static let check = 2
    static let extra = 4
    static let name = 8
    static let comment = 16
    static let reserved = 0xE0
  }

  private var phase: Phase
  private var bits = BitReader()
  private var inflater = Inflater()
  private var checksum = UnpackedChecksum()

  init(_ coding: Coding) {
    phase = coding == .gzip ? .gzipHead : .zlibHead
  }

  /// Appends bytes of the body.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { bits.append(bytes) }

  /// Whether the body may end here.
  var isComplete: Bool { phase == .over || phase == .betweenMembers }

  /// Returns the next decompressed piece, the same one until ``takePiece()``; `nil` if the bytes have been read.
  mutating func nextPiece() throws(PackingError) -> ArraySlice<UInt8>? {
    while inflater.output.isEmpty {
      guard try advance() else { return nil }
    }
    return inflater.output
  }

  /// Marks the last piece as used.
  mutating func takePiece() {
    inflater.output.withUnsafeBytes { checksum.add($0) }
    inflater.takeOutput()
  }

  /// - Returns: Whether anything was read.
  private mutating func advance() throws(PackingError) -> Bool {
    switch phase {
    case .deflated: return try inflate()
    case .betweenMembers:
      if bits.isEmpty { return false }
      phase = .gzipHead
      return true
    case .over:
      guard bits.isEmpty else { throw .malformed("there is more behind its end") }
      return false
    case .extra(let flags, let left):
      var done = 0
      bits.takeBytes(atMost: left) { done += $0.count }
      phase = done == left ? afterExtra(flags) : .extra(flags: flags, left: left - done)
      return done > 0
    case .text(let flags, let isName):
      guard let byte = bits.take(8) else { return false }
      if byte == 0 { phase = isName ? afterName(flags) : afterComment(flags) }
      return true
    default: return try readUnit()
    }
  }

  private mutating func inflate() throws(PackingError) -> Bool {
    switch try inflater.run(&bits) {
    case .needsInput: return !inflater.output.isEmpty
    case .isFull: return true
    case .ended:
      // Output before the end belongs to the checksum.
      if !inflater.output.isEmpty { return true }
      bits.alignToByte()
      switch checksum.kind {
      case .crc32: phase = .gzipTrailer
      case .adler32: phase = .zlibTrailer
      case .none: phase = .over
      }
      return true
    }
  }

  /// Reads a unit of fixed length.
  private mutating func readUnit() throws(PackingError) -> Bool {
    let before = bits
    guard let next = try unit() else {
      bits = before
      return false
    }
    phase = next
    return true
  }

  /// - Returns: The next phase; `nil` if the unit is not completely available.
  private mutating func unit() throws(PackingError) -> Phase? {
    switch phase {
    case .gzipHead:
      guard let start = bits.take(32) else { return nil }
      let flags = start >> 24
      guard start & 0xFFFFFF == 0x08_8B1F, flags & Flag.reserved == 0 else {
        throw .malformed("it does not begin as gzip does")
      }
      guard bits.take(48) != nil else { return nil }
      inflater = Inflater()
      checksum = UnpackedChecksum(.crc32)
      return flags & Flag.extra != 0 ? .extraLength(flags: flags) : afterExtra(flags)
    case .extraLength(let flags):
      return bits.take(16).map { .extra(flags: flags, left: $0) }
    case .headCheck: return bits.take(16).map { _ in .deflated }
    case .zlibHead:
      guard bits.holds(16) else { return nil }
      let (method, flags) = (Int(bits.bits & 0xFF), Int(bits.bits >> 8 & 0xFF))
      guard method & 15 == 8, method >> 4 <= 7, (method << 8 | flags) % 31 == 0 else {
        checksum = UnpackedChecksum(.none)
        return .deflated
      }
      guard flags & 0x20 == 0 else { throw .malformed("it needs a dictionary") }
      checksum = UnpackedChecksum(.adler32)
      bits.drop(16)
      return .deflated
    case .gzipTrailer:
      guard let check = bits.take(32), let length = bits.take(32) else { return nil }
      guard check == checksum.crc, length == checksum.length & 0xFFFF_FFFF else {
        throw .malformed("its checksum is another")
      }
      return .betweenMembers
    case .zlibTrailer:
      guard let check = bits.take(32) else { return nil }
      guard UInt32(check).byteSwapped == checksum.adler else {
        throw .malformed("its checksum is another")
      }
      return .over
    case .extra, .text, .deflated, .betweenMembers, .over: return phase
    }
  }

  private func afterExtra(_ flags: Int) -> Phase {
    flags & Flag.name != 0 ? .text(flags: flags, isName: true) : afterName(flags)
  }

  private func afterName(_ flags: Int) -> Phase {
    flags & Flag.comment != 0 ? .text(flags: flags, isName: false) : afterComment(flags)
  }

  private func afterComment(_ flags: Int) -> Phase {
    flags & Flag.check != 0 ? .headCheck : .deflated
  }
}
