/// Why the bytes of an answer are not what its `Content-Encoding` says.
enum PackingFault: Error, Hashable {
  /// What is wrong.
  case malformed(String)
}

/// Unpacks the body of an answer as it arrives: `gzip` (RFC 1952) and `deflate` (RFC 1950, and the bare RFC 1951
/// that some servers send by that name). A body is whole only with its end mark and its trailer.
///
/// Its own decoder, for libcurl's does not notice that the end is missing.
struct Unpacker {
  enum Coding: Hashable {
    case gzip, deflate
  }

  /// The `Accept-Encoding` of requests whose answers are unpacked: nothing but what is.
  static let accepted = "gzip, deflate"

  /// Where in the format it is. Each case is a unit that is read when all of it is there.
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
    /// One member of a gzip file has ended, and another may follow.
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

  /// Adds bytes of the body.
  mutating func append(_ bytes: UnsafeRawBufferPointer) { bits.append(bytes) }

  /// Whether the body may end here.
  var isComplete: Bool { phase == .over || phase == .betweenMembers }

  /// The next piece of the unpacked body, the same until ``takePiece()``; `nil` when the bytes have been read.
  mutating func nextPiece() throws(PackingFault) -> ArraySlice<UInt8>? {
    while inflater.output.isEmpty {
      guard try advance() else { return nil }
    }
    return inflater.output
  }

  /// The last piece has been used.
  mutating func takePiece() {
    inflater.output.withUnsafeBytes { checksum.add($0) }
    inflater.takeOutput()
  }

  /// - Returns: Whether anything has been read.
  private mutating func advance() throws(PackingFault) -> Bool {
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

  private mutating func inflate() throws(PackingFault) -> Bool {
    switch try inflater.run(&bits) {
    case .needsInput: return !inflater.output.isEmpty
    case .isFull: return true
    case .ended:
      // What was found before the end is a part of the checksum.
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

  /// Reads what has a fixed length.
  private mutating func readUnit() throws(PackingFault) -> Bool {
    let before = bits
    guard let next = try unit() else {
      bits = before
      return false
    }
    phase = next
    return true
  }

  /// - Returns: What follows; `nil` if not all of it is there.
  private mutating func unit() throws(PackingFault) -> Phase? {
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
