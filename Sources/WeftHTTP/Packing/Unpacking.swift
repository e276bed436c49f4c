/// The way of a packed body from libcurl to where it goes.
struct Unpacking {
  private var unpacker: Unpacker
  /// How many bytes come again, since the place they go to was full.
  private var repeated = 0
  /// Whether there may be no body at all.
  private let mayBeAbsent: Bool
  private var hasBegun = false

  /// - Returns: `nil` if the body is not packed.
  /// - Throws: If it is packed as nobody asked for.
  init?(of head: HTTPResponseHead, to method: HTTPMethod) throws(PackingFault) {
    let codings = head.headers.list(of: "content-encoding").map { ASCII.lowercased($0) }
      .filter { $0 != "identity" }
    mayBeAbsent =
      method == .head || head.status == 204 || head.status == 304 || head.contentLength == 0
    switch codings {
    case []: return nil
    case ["gzip"], ["x-gzip"]: unpacker = Unpacker(.gzip)
    case ["deflate"]: unpacker = Unpacker(.deflate)
    // An answer without a body may say what the body would be.
    case _ where mayBeAbsent: return nil
    default: throw .malformed("it is packed as \"\(codings.joined(separator: ", "))\"")
    }
  }

  /// Whether the body may end here.
  var isComplete: Bool { unpacker.isComplete || mayBeAbsent && !hasBegun }

  /// Unpacks bytes. After ``IncomingBody/Taking/full`` libcurl brings the same again, perhaps in other pieces.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, into sink: inout IncomingBody
  ) throws(PackingFault) -> IncomingBody.Taking {
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

extension PackingFault {
  var kind: HTTPFailure.Kind {
    switch self {
    case .malformed(let what): .malformed("its body is not packed as it should be: \(what)")
    }
  }
}
