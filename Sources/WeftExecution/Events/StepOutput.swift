/// One line that a step wrote, a part of a line that is longer than 64 KiB, or what a line shows for now.
///
/// A line that returned to its start (`\r`) and was written over is told as what stood there at last.
public struct StepOutput: Sendable, Hashable {
  public enum Stream: String, Sendable, Hashable, CaseIterable {
    case stdout
    case stderr
  }

  /// What follows the bytes in the step's output.
  public enum Ending: Sendable, Hashable {
    /// A newline, which is not part of `bytes`.
    case newline
    /// More of the same line.
    case partial
    /// The end of the stream, or of what is kept of it, without a newline.
    case endOfStream
    /// What writes over it: the line has returned to its start. For displays that follow progress, at most
    /// 20 a second of each stream; what stands there at last comes as an event of its own.
    case transient
  }

  public let stream: Stream
  /// Exactly as written, without the newline.
  public let bytes: ArraySlice<UInt8>
  public let ending: Ending
  /// Where the bytes begin in the step's log, which holds both streams in the order they were read; of
  /// what is transient, where the log ended then.
  public let logOffset: UInt64

  package init(stream: Stream, bytes: ArraySlice<UInt8>, ending: Ending, logOffset: UInt64) {
    self.stream = stream
    self.bytes = bytes
    self.ending = ending
    self.logOffset = logOffset
  }

  /// The bytes as text; what is not UTF-8 appears as U+FFFD.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}
