extension Descriptor {
  /// Reads a file from its beginning to its end.
  ///
  /// - Parameter take: Called with each piece.
  /// - Returns: The hash of the content; `nil` if it was stopped.
  package func digest(
    stop: StopSwitch = StopSwitch(), take: ([UInt8]) throws(SystemError) -> Void = { _ in }
  ) throws(SystemError) -> SHA256.Digest? {
    var hash = SHA256()
    var offset = 0
    while true {
      guard stop.level == .none else { return nil }
      let piece = try piece(at: offset, atMost: Descriptor.pieceBytes)
      if piece.isEmpty { return hash.digest() }
      hash.update(piece)
      try take(piece)
      offset += piece.count
    }
  }

  private static let pieceBytes = 256 << 10
}
