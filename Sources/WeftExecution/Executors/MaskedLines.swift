/// One output stream without its secrets, up to a limit that both streams of an attempt share.
///
/// The limit counts masked output; so it never cuts a secret, whose beginning would then be visible.
struct MaskedLines {
  private(set) var lines = StreamLines()
  private var filter = SecretFilter()

  mutating func use(_ mask: SecretMask) { filter.use(mask) }

  /// Takes a chunk.
  ///
  /// - Parameter room: The number of bytes that may still be passed on; below zero once output was dropped.
  mutating func take(
    _ chunk: UnsafeRawBufferPointer, at now: Duration, room: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    filter.take(chunk) { lines.take($0, at: now, room: &room, pass) }
  }

  /// Passes on the rest of the stream after it has ended.
  mutating func finish(room: inout Int, _ pass: (LineSplitter.Block?) -> Void) {
    // The time does not matter any more, since no further states are shown.
    filter.finish { lines.take($0, at: .zero, room: &room, pass) }
    pass(lines.finish())
  }

  /// Passes on the rest of the last line, and nothing after it.
  mutating func cut(_ pass: (LineSplitter.Block?) -> Void) { pass(lines.finish()) }

  /// The state of a progress line, if it is new and due.
  mutating func state(at now: Duration) -> [UInt8]? { lines.state(at: now) }
}

extension StreamLines {
  /// Takes as many bytes as there is room for.
  fileprivate mutating func take(
    _ piece: UnsafeRawBufferPointer, at now: Duration, room: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    guard room >= 0 else { return }
    pass(take(UnsafeRawBufferPointer(rebasing: piece.prefix(room)), at: now))
    room = piece.count > room ? -1 : room - piece.count
  }
}
