/// One line that a step wrote, a part of a line longer than 64 KiB, or the present content of a progress line.
///
/// A line that was overwritten after a return to its start (`\r`) is reported with its final content.
public struct StepOutput: Sendable, Hashable {
  public enum Stream: String, Sendable, Hashable, CaseIterable {
    case stdout
    case stderr
  }

  /// The end of the bytes in the step's output.
  public enum Ending: Sendable, Hashable {
    /// A newline, which is not part of `bytes`.
    case newline
    /// More of this line follows.
    case partial
    /// The end of the stream, or of the part that the log keeps, without a newline.
    case endOfStream
    /// The line has returned to its start and will be overwritten. For progress displays: at most 20 events per
    /// second and stream; the final content is reported as an event of its own.
    case transient
  }

  public let stream: Stream
  /// Exactly as written, without the newline.
  public let bytes: ArraySlice<UInt8>
  public let ending: Ending
  /// The offset of the bytes in the step's log, which holds both streams in the order they were read; for a
  /// transient line, the end of the log at that time.
  public let logOffset: UInt64

  package init(stream: Stream, bytes: ArraySlice<UInt8>, ending: Ending, logOffset: UInt64) {
    self.stream = stream
    self.bytes = bytes
    self.ending = ending
    self.logOffset = logOffset
  }

  /// The bytes as text; invalid UTF-8 is replaced by U+FFFD.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}
