import WeftDefinition
import WeftPlanning

/// What of a step's output is kept for expressions that read it: the exact bytes, up to a limit.
struct OutputCapture: Sendable {
  /// One stream.
  struct Stream: Sendable {
    /// All of it, or as much as is kept.
    fileprivate(set) var bytes: [UInt8] = []
    /// Whether there was more.
    fileprivate(set) var isCut = false

    /// - Parameters:
    ///   - bytes: What was written.
    ///   - isCut: Whether there was more.
    init(_ bytes: [UInt8] = [], isCut: Bool = false) { (self.bytes, self.isCut) = (bytes, isCut) }

    fileprivate mutating func take(_ chunk: UnsafeRawBufferPointer, atMost limit: Int) {
      guard !isCut else { return }
      let kept = chunk.prefix(limit - bytes.count)
      bytes.append(contentsOf: kept)
      isCut = kept.count < chunk.count
    }
  }

  /// `nil` where nobody reads it.
  private(set) var stdout: Stream?
  private(set) var stderr: Stream?
  private let limit: Int

  /// - Parameter limit: Bytes of each stream.
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
