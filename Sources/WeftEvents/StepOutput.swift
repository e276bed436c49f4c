import WeftEncoding
import WeftPlatform

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

  public package(set) var stream: Stream
  /// Exactly as written, without the newline.
  public package(set) var bytes: ArraySlice<UInt8>
  public package(set) var ending: Ending
  /// The offset of the bytes in the step's log, which holds both streams in the order they were read; for a
  /// transient line, the end of the log at that time.
  public package(set) var logOffset: UInt64

  package init(stream: Stream, bytes: ArraySlice<UInt8>, ending: Ending, logOffset: UInt64) {
    self.stream = stream
    self.bytes = bytes
    self.ending = ending
    self.logOffset = logOffset
  }

  /// The bytes as text; invalid UTF-8 is replaced by U+FFFD.
  public var text: String { String(decoding: bytes, as: UTF8.self) }
}

extension StepOutput {
  /// Returns the visible remainder of a line with carriage returns: the text after the last `\r` that has text after
  /// it.
  package static func lastState(of line: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard line.index(of: carriageReturn) != nil else { return line }
    var line = line
    while line.last == carriageReturn { line.removeLast() }
    guard let start = line.lastIndex(of: carriageReturn) else { return line }
    return line[(start + 1)...]
  }

  private static let carriageReturn = UInt8(ascii: "\r")
}

extension StepOutput.Stream: CodedValue {
  package static var blank: StepOutput.Stream { .stdout }
}

extension StepOutput: Payload {
  package static var blank: StepOutput {
    StepOutput(stream: .stdout, bytes: [], ending: .newline, logOffset: 0)
  }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.code("stream", &stream)
    try code(bytesOf: &coder)
    var (isPartial, isOpen) = (ending == .partial, ending == .endOfStream)
    var isTransient = ending == .transient
    try coder.flag("partial", &isPartial)
    try coder.flag("unterminated", &isOpen)
    try coder.flag("transient", &isTransient)
    if Coder.isReading {
      ending =
        isPartial ? .partial : isOpen ? .endOfStream : isTransient ? .transient : .newline
    }
    try coder.amount("offset", &logOffset)
  }

  /// Codes the bytes as text, and also as Base64 if they are not UTF-8.
  private mutating func code<Coder: EventCoder>(bytesOf coder: inout Coder) throws(Coder.Failure) {
    let exact = Coder.isReading ? "" : String(validating: bytes, as: UTF8.self)
    var text = exact ?? self.text
    var raw = exact == nil ? Base64.text(of: bytes) : nil
    try coder.code("text", &text)
    try coder.code("raw", &raw)
    guard Coder.isReading else { return }
    guard let read = raw.map(Base64.bytes) ?? Array(text.utf8) else {
      throw coder.unfit("Base64")
    }
    bytes = read[...]
  }
}
