import WeftHTTP

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
    default: throw .malformed("it is packed as \"\(codings.joined(separator: ", "))\"")
    }
  }

  /// Whether the body may end here.
  var isComplete: Bool { unpacker.isComplete || mayBeAbsent && !hasBegun }

  /// Decompresses bytes. After ``IncomingBody/Taking/full``, libcurl delivers the same bytes again, possibly in other
  /// pieces.
  mutating func take(
    _ bytes: UnsafeRawBufferPointer, into sink: inout IncomingBody
  ) throws(PackingError) -> IncomingBody.Taking {
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
    case .malformed(let what): .malformed("its body is not packed as it should be: \(what)")
    }
  }
}
