import WeftDiagnostics
import WeftEvents
import WeftPlanning

/// The output of a step in few lines: the first and the last ones, and the amount between them.
struct OutputExcerpt: Sendable, Hashable {
  enum Omission: Sendable, Hashable {
    case lines(Int)
    /// The size of lines that were not counted, because only the log has them.
    case bytes(Int)

    /// Returns the sentence `… 980 more lines: weft logs RUN build`.
    ///
    /// - Parameter command: The command that prints all lines.
    func sentence(_ ellipsis: String, _ command: String?) -> String {
      let amount =
        switch self {
        case .lines(let count): "\(Count(count, "more line"))"
        case .bytes(let count): "\(ShownSize.text(count)) more"
        }
      return "\(ellipsis) \(amount)" + (command.map { ": \($0)" } ?? "")
    }
  }

  /// The maximum number of lines, including the one for the omission.
  static let lineLimit = 20
  private static let firstLines = 10
  private static let lastLines = lineLimit - firstLines - 1

  let first: [[UInt8]]
  /// `nil` if the excerpt is the whole output.
  let omission: Omission?
  let last: [[UInt8]]

  private init(_ first: [[UInt8]], _ omission: Omission?, _ last: [[UInt8]]) {
    (self.first, self.omission, self.last) = (first, omission, last)
  }

  /// - Parameters:
  ///   - head: The first lines, at most ``lineLimit``.
  ///   - tail: The last ones.
  ///   - count: The number of all lines.
  init(head: [[UInt8]], tail: [[UInt8]], count: Int) {
    guard count > OutputExcerpt.lineLimit else {
      self.init(head, nil, [])
      return
    }
    let first = Array(head.prefix(OutputExcerpt.firstLines))
    let last = Array(tail.suffix(OutputExcerpt.lastLines))
    self.init(first, .lines(count - first.count - last.count), last)
  }

  /// Takes the last lines of a step, where its first ones are not known.
  init(_ tail: OutputTail) {
    let last = tail.lines
    self.init([], tail.lineCount > last.count ? .lines(tail.lineCount - last.count) : nil, last)
  }

  /// The size of the parts of a log that are searched for the first and the last lines.
  private static let partBytes: UInt64 = 32 << 10

  /// Reads an excerpt of a part of a log.
  init(of step: StepAddress, in range: Range<UInt64>, log: Reporter.ReadLog) {
    let part = OutputExcerpt.partBytes
    guard range.upperBound - range.lowerBound > 2 * part else {
      let lines = OutputExcerpt.lines(of: log(step, range), isWhole: true)
      self.init(head: Array(lines.prefix(OutputExcerpt.lineLimit)), tail: lines, count: lines.count)
      return
    }
    let head = log(step, range.lowerBound..<(range.lowerBound + part))
    let tail = log(step, (range.upperBound - part)..<range.upperBound)
    let first = Array(OutputExcerpt.lines(of: head, isWhole: true).prefix(OutputExcerpt.firstLines))
    let last = Array(OutputExcerpt.lines(of: tail, isWhole: false).suffix(OutputExcerpt.lastLines))
    let shown = (first + last).reduce(0) { $0 + $1.count + 1 }
    let omitted = max(0, Int(clamping: range.upperBound - range.lowerBound) - shown)
    self.init(first, .bytes(omitted), last)
  }

  /// - Parameter isWhole: Whether the first line is complete.
  private static func lines(of bytes: [UInt8], isWhole: Bool) -> [[UInt8]] {
    var lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    return lines.dropFirst(isWhole ? 0 : 1).map { OutputTail.kept($0) }
  }

  var isEmpty: Bool { first.isEmpty && last.isEmpty }
}

/// The first lines of a step's output that are not shown yet.
struct OutputHead: Sendable {
  /// The number of the step's lines, and of bytes in its log, before them.
  let (linesBefore, bytesBefore): (Int, UInt64)
  /// The end of the last line in the log.
  private(set) var end: UInt64
  private(set) var lines: [[UInt8]] = []

  init(after lines: Int, bytes: UInt64) {
    (linesBefore, bytesBefore) = (lines, bytes)
    end = bytes
  }

  mutating func append(_ output: StepOutput) {
    end = max(end, output.logEnd)
    guard lines.count < OutputExcerpt.lineLimit else { return }
    lines.append(OutputTail.kept(output.bytes))
  }

  /// Returns the excerpt from these lines on.
  ///
  /// - Parameters:
  ///   - tail: The last lines of the step.
  ///   - end: The end of its log, if only the log has all of its lines.
  func excerpt(
    of step: StepAddress, before tail: OutputTail, readingUpTo end: UInt64?, log: Reporter.ReadLog
  ) -> OutputExcerpt {
    if let end, end > bytesBefore {
      let read = OutputExcerpt(of: step, in: bytesBefore..<end, log: log)
      // The log of an element is not kept for long.
      if !read.isEmpty { return read }
    }
    return OutputExcerpt(
      head: lines, tail: tail.lines, count: max(lines.count, tail.lineCount - linesBefore))
  }
}

/// The end of a step's output, or of that of an attempt.
struct OutputEnd {
  let step: StepAddress
  let moment: OutputPolicy.Moment
  /// The step before its end; `nil` if it is cached.
  let running: RunProgress.RunningStep?
  /// The end of its log, if known.
  let logEnd: UInt64?

  /// - Parameters:
  ///   - event: `nil` is returned for all events that end no output.
  ///   - progress: The run before the event.
  init?(_ event: RunEvent, _ progress: RunProgress) {
    switch event.kind {
    case .stepRetrying(let address, _): (step, moment, logEnd) = (address, .retry, nil)
    case .stepFinished(let address, let end):
      (step, moment, logEnd) = (address, .end(end.outcome), end.logBytes)
    case .stepCached(let address, let end):
      (step, moment, logEnd) = (address, .cached, end.logBytes)
    default: return nil
    }
    running = progress.running[step]
  }

  /// Returns an excerpt of the lines that nothing but the log has from `start` on; the last lines if that is gone.
  func excerpt(from start: UInt64, log: Reporter.ReadLog) -> OutputExcerpt? {
    if let logEnd, logEnd > start {
      let read = OutputExcerpt(of: step, in: start..<logEnd, log: log)
      if !read.isEmpty { return read }
    }
    return running.map { OutputExcerpt($0.tail) }
  }
}
