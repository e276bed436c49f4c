import WeftPlatform

/// A buffered output stream of the program that never fails a caller.
///
/// After a write error, further output is dropped, and the error is reported at the end. A closed pipe
/// (`weft … | head -1`) is not an error.
final class OutputPort {
  /// The buffer size that triggers a write.
  private static let gatheredBytes = 64 << 10

  let descriptor: Descriptor
  private var gathered: [UInt8] = []
  /// Whether the output is no longer read, or cannot be written.
  private(set) var isClosed = false
  /// The reason why output is incomplete.
  private(set) var fault: WriteError?

  init(_ descriptor: Descriptor) {
    self.descriptor = descriptor
  }

  func write(_ text: String) { write(text.utf8) }

  func write(_ bytes: some Collection<UInt8>) {
    guard !isClosed else { return }
    gathered.append(contentsOf: bytes)
    if gathered.count >= OutputPort.gatheredBytes { flush() }
  }

  /// Writes the buffer; may wait for a reader.
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
