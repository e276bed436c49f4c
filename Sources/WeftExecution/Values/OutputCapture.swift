import WeftDefinition
import WeftEvents
import WeftPlanning

/// The output of a step that is kept for expressions: the exact bytes, up to a limit.
struct OutputCapture: Sendable {
  /// One stream.
  struct Stream: Sendable {
    /// The output up to the limit.
    fileprivate(set) var bytes: [UInt8] = []
    /// Whether output beyond the limit was dropped.
    fileprivate(set) var isCut = false

    /// - Parameters:
    ///   - bytes: The output up to the limit.
    ///   - isCut: Whether output beyond the limit was dropped.
    init(_ bytes: [UInt8] = [], isCut: Bool = false) { (self.bytes, self.isCut) = (bytes, isCut) }

    fileprivate mutating func take(_ chunk: UnsafeRawBufferPointer, atMost limit: Int) {
      guard !isCut else { return }
      let kept = chunk.prefix(limit - bytes.count)
      bytes.append(contentsOf: kept)
      isCut = kept.count < chunk.count
    }
  }

  /// `nil` if no expression reads it.
  private(set) var stdout: Stream?
  private(set) var stderr: Stream?
  private let limit: Int

  /// - Parameter limit: The maximum number of bytes of each stream.
  init(_ reads: StepReads, limit: Int = WorkflowLimits.valueBytes) {
    stdout = reads.contains(.stdout) ? Stream() : nil
    stderr = reads.contains(.stderr) ? Stream() : nil
    self.limit = limit
  }

  var isIdle: Bool { stdout == nil && stderr == nil }

  mutating func take(_ chunk: UnsafeRawBufferPointer, _ stream: StepOutput.Stream) {
    switch stream {
    case .stdout: stdout?.take(chunk, atMost: limit)
    case .stderr: stderr?.take(chunk, atMost: limit)
    }
  }
}
