import WeftHTTP

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
      guard bits.isEmpty else { throw .malformed("extra data after the end") }
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
        throw .malformed("no gzip header")
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
        throw .malformed("wrong checksum")
      }
      return .betweenMembers
    case .zlibTrailer:
      guard let check = bits.take(32) else { return nil }
      guard UInt32(check).byteSwapped == checksum.adler else {
        throw .malformed("wrong checksum")
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

/// Decompresses a body on its way from libcurl to its destination.
struct Unpacking {
  private var unpacker: Unpacker
  /// The number of bytes that libcurl will deliver again because the destination was full.
  private var repeated = 0
  /// Whether the body may be absent.
  private let mayBeAbsent: Bool
  private var hasBegun = false

  /// - Returns: `nil` if the body is not compressed.
  /// - Throws: If the coding was not requested.
  init?(of head: HTTPResponseHead, to method: HTTPMethod) throws(PackingError) {
    let codings = head.headers.list(of: "content-encoding").map { ASCII.lowercased($0) }
      .filter { $0 != "identity" }
    mayBeAbsent =
      method == .head || head.status == 204 || head.status == 304 || head.contentLength == 0
    switch codings {
    case []: return nil
    case ["gzip"], ["x-gzip"]: unpacker = Unpacker(.gzip)
    case ["deflate"]: unpacker = Unpacker(.deflate)
    // A response without a body may declare the coding that the body would have.
    case _ where mayBeAbsent: return nil
    default: throw .malformed("it is encoded as \"\(codings.joined(separator: ", "))\"")
    }
  }

  /// Whether the body may end here.
  var isComplete: Bool { unpacker.isComplete || mayBeAbsent && !hasBegun }

  /// Decompresses bytes. After ``IncomingBody/Taking/full``, libcurl delivers the same bytes again, possibly in other
  /// pieces.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, into sink: inout IncomingBody
  ) throws(PackingError) -> IncomingBody.Acceptance {
    if !bytes.isEmpty { hasBegun = true }
    let known = min(repeated, bytes.count)
    repeated -= known
    unpacker.append(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(known)))
    while let piece = try unpacker.nextPiece() {
      switch piece.withUnsafeBytes({ sink.take($0) }) {
      case .taken: unpacker.takePiece()
      case .full:
        repeated += bytes.count
        return .full
      case let end: return end
      }
    }
    return .taken
  }
}

extension PackingError {
  var kind: HTTPFailure.Kind {
    switch self {
    case .malformed(let what): .malformed("the compressed body is invalid: \(what)")
    }
  }
}

/// The length and checksum to compare with the trailer of a compressed body.
struct UnpackedChecksum {
  enum Kind: Hashable {
    case none
    /// RFC 1952 §8.
    case crc32
    /// RFC 1950 §8.2.
    case adler32
  }

  let kind: Kind
  private(set) var length = 0
  private var remainder = UInt32.max
  private var sums: (UInt32, UInt32) = (1, 0)

  init(_ kind: Kind = .none) { self.kind = kind }

  var crc: Int { Int(~remainder) }
  var adler: UInt32 { sums.1 << 16 | sums.0 }

  mutating func add(_ bytes: UnsafeRawBufferPointer) {
    length += bytes.count
    switch kind {
    case .none: break
    case .crc32:
      remainder = UnpackedChecksum.table.withUnsafeBufferPointer { table in
        bytes.reduce(remainder) { $0 >> 8 ^ table[Int(($0 ^ UInt32($1)) & 0xFF)] }
      }
    case .adler32: addToSums(bytes)
    }
  }

  private mutating func addToSums(_ bytes: UnsafeRawBufferPointer) {
    // The most bytes for which neither sum overflows 32 bits.
    for start in stride(from: 0, to: bytes.count, by: 5552) {
      for byte in bytes[start..<min(start + 5552, bytes.count)] {
        sums.0 &+= UInt32(byte)
        sums.1 &+= sums.0
      }
      sums = (sums.0 % 65521, sums.1 % 65521)
    }
  }

  private static let table: [UInt32] = (0..<256).map { byte in
    (0..<8).reduce(UInt32(byte)) { value, _ in
      value & 1 == 1 ? 0xEDB8_8320 ^ value >> 1 : value >> 1
    }
  }
}
