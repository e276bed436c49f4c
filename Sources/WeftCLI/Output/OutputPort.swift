import WeftPlatform

/// One stream that the program writes to: gathers what is said, and is never a reason to stop.
///
/// After a failure everything is dropped, and the failure is told at the end. A reader that has gone
/// (`weft … | head -1`) is none: what it did not want to read it does not miss.
final class OutputPort {
  /// Written at once when so much has come together.
  private static let gatheredBytes = 64 << 10

  let descriptor: Descriptor
  private var gathered: [UInt8] = []
  /// Whether nobody reads any more, or nothing can be written.
  private(set) var isClosed = false
  /// Why not everything was written.
  private(set) var fault: WriteFailure?

  init(_ descriptor: Descriptor) {
    self.descriptor = descriptor
  }

  func write(_ text: String) { write(text.utf8) }

  func write(_ bytes: some Collection<UInt8>) {
    guard !isClosed else { return }
    gathered.append(contentsOf: bytes)
    if gathered.count >= OutputPort.gatheredBytes { flush() }
  }

  /// Writes what has been gathered; may wait for a reader.
  func flush() {
    guard !isClosed, !gathered.isEmpty else { return }
    defer { gathered.removeAll(keepingCapacity: true) }
    do {
      try descriptor.writeAll(gathered)
    } catch {
      isClosed = true
      if error != .brokenPipe { fault = error }
    }
  }
}
