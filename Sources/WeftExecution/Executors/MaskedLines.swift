/// One output stream without its secrets, up to a limit that both streams of an attempt share.
///
/// What counts towards the limit is what is passed on; so the limit never cuts a secret, whose beginning
/// would then be shown.
struct MaskedLines {
  private(set) var lines = StreamLines()
  private var filter = SecretFilter()

  mutating func use(_ mask: SecretMask) { filter.use(mask) }

  /// Takes a chunk.
  ///
  /// - Parameter room: How much more is passed on; below zero once something was not.
  mutating func take(
    _ chunk: UnsafeRawBufferPointer, at now: Duration, room: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    filter.take(chunk) { lines.take($0, at: now, room: &room, pass) }
  }

  /// The stream has ended; passes on what is left of it.
  mutating func finish(room: inout Int, _ pass: (LineSplitter.Block?) -> Void) {
    // The time no longer matters: nothing is shown for now any more.
    filter.finish { lines.take($0, at: .zero, room: &room, pass) }
    pass(lines.finish())
  }

  /// Nothing is passed on any more but what the last line has already.
  mutating func cut(_ pass: (LineSplitter.Block?) -> Void) { pass(lines.finish()) }

  /// Once, shows the last state of a line that writes over itself.
  mutating func state(at now: Duration) -> [UInt8]? { lines.state(at: now) }
}

extension StreamLines {
  /// Takes as much as there is room for.
  fileprivate mutating func take(
    _ piece: UnsafeRawBufferPointer, at now: Duration, room: inout Int,
    _ pass: (LineSplitter.Block?) -> Void
  ) {
    guard room >= 0 else { return }
    pass(take(UnsafeRawBufferPointer(rebasing: piece.prefix(room)), at: now))
    room = piece.count > room ? -1 : room - piece.count
  }
}
