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

/// The last lines of a step's output, each truncated to a limit.
package struct OutputTail: Sendable {
  /// The number of lines kept.
  package static let lineLimit = 20
  /// The maximum length of a line.
  package static let lineLimitBytes = 1024

  /// A ring buffer: once full, the oldest line is at `next`, and its memory is used again.
  private var ring: [[UInt8]] = []
  private var next = 0
  /// The total number of lines.
  package private(set) var lineCount = 0
  /// The content for now of the line that follows, if it is not blank.
  private var state: [UInt8] = []

  package mutating func append(_ line: ArraySlice<UInt8>) {
    lineCount += 1
    state.removeAll(keepingCapacity: true)
    if ring.count < OutputTail.lineLimit {
      ring.append(OutputTail.kept(line))
    } else {
      ring[next].removeAll(keepingCapacity: true)
      OutputTail.append(line, to: &ring[next])
      next = (next + 1) % OutputTail.lineLimit
    }
  }

  /// Shows a line that may still change, without keeping it.
  package mutating func show(_ line: ArraySlice<UInt8>) {
    let shown = OutputTail.kept(line)
    if !OutputTail.isBlank(shown) { state = shown }
  }

  /// The last of the lines that is not blank, for a live display.
  package var latest: [UInt8] {
    if !state.isEmpty { return state }
    return ring[..<next].last { !OutputTail.isBlank($0) }
      ?? ring[next...].last { !OutputTail.isBlank($0) } ?? []
  }

  private static func isBlank(_ line: [UInt8]) -> Bool { line.allSatisfy { $0 <= 0x20 } }

  /// The lines, the oldest first.
  package var lines: [[UInt8]] { Array(ring[next...] + ring[..<next]) }

  /// Returns the final content of a line, with a mark if it is truncated.
  package static func kept(_ line: ArraySlice<UInt8>) -> [UInt8] {
    var kept: [UInt8] = []
    append(line, to: &kept)
    return kept
  }

  private static func append(_ line: ArraySlice<UInt8>, to kept: inout [UInt8]) {
    let state = StepOutput.lastState(of: line)
    guard state.count > lineLimitBytes else {
      kept += state
      return
    }
    var end = state.startIndex + lineLimitBytes
    // Not within a character (RFC 3629: at most three continuation bytes).
    for _ in 0..<3 where state[end] & 0xC0 == 0x80 { end -= 1 }
    kept += state[..<end]
    kept += "…".utf8
  }

  /// Takes the lines at the end of a log. If `logEnd` does not start at the log's start, the first line is assumed to
  /// be incomplete and skipped.
  package init(logEnd: [UInt8], isWhole: Bool) {
    var pieces = logEnd.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if pieces.last?.isEmpty == true { pieces.removeLast() }
    for line in pieces.dropFirst(isWhole ? 0 : 1) { append(line) }
  }

  package init() {}
}

/// The progress that a running step reports: by lines `n/m text` in the file `$WEFT_PROGRESS`, by
/// `ActionContext.report(_:)`, or by the bytes of a download.
public struct StepProgress: Sendable, Hashable {
  /// The things that are counted.
  public enum Unit: String, Sendable, Hashable, CaseIterable {
    /// Whatever the step counts.
    case items
    case bytes
  }

  /// The amount that is done; may exceed ``total`` if the step's estimate was too low.
  public package(set) var done: Int
  /// The whole amount, at least 1; `nil` if it is not known.
  public package(set) var total: Int?
  public package(set) var unit: Unit
  /// The present activity, in the step's words; at most ``textLimit`` characters.
  public package(set) var text: String?

  /// Creates a report.
  ///
  /// - Parameters:
  ///   - done: Clamped to 0 and the largest amount that events can hold, 2⁶⁰.
  ///   - total: Clamped likewise; unknown if it is less than 1.
  ///   - text: Truncated to ``textLimit`` characters; `nil` if it is empty.
  public init(_ done: Int, of total: Int? = nil, unit: Unit = .items, text: String? = nil) {
    let limit = RecordLimits.amounts.upperBound
    self.done = min(max(0, done), limit)
    self.total = total.flatMap { $0 < 1 ? nil : min($0, limit) }
    self.unit = unit
    self.text = text.flatMap { $0.isEmpty ? nil : String($0.prefix(StepProgress.textLimit)) }
  }

  /// The maximum number of characters of ``text``.
  public static let textLimit = 200

  /// The part that is done, from 0 to 1; `nil` if the whole is not known.
  public var fraction: Double? {
    total.map { min(1, Double(done) / Double($0)) }
  }
}

extension StepProgress: Payload {
  package static var blank: StepProgress { StepProgress(0) }

  package mutating func code<Coder: EventCoder>(_ coder: inout Coder) throws(Coder.Failure) {
    try coder.amount("done", &done)
    try coder.number(
      "total", &total, in: 1...RecordLimits.amounts.upperBound, "an amount of at least 1")
    var isBytes = unit == .bytes
    try coder.flag("bytes", &isBytes)
    if Coder.isReading { unit = isBytes ? .bytes : .items }
    try coder.code("text", &text)
  }
}
