import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// The output of a step, read from its log while the step runs.
///
/// A log continues across attempts, and across the engines of a resumed run. The extent of earlier engines' output is
/// known from the ends of their attempts; output of an interrupted attempt is reported with the rest.
struct StepTail {
  private let address: StepAddress
  /// The offset where the log of the current engine, or of the element's current execution, starts.
  private(set) var base = 0
  /// The offset up to which the file was read.
  private(set) var taken = 0
  /// The offset up to which output was reported.
  private var reported = 0
  private var isRunning = false
  private var hasFinished = false
  /// Whether an earlier engine was interrupted while writing. The start of this engine's log is then unknown, at
  /// least before its first byte.
  private var isBaseUncertain = false
  private var file: Descriptor?
  private var lines = LineSplitter()

  private static let pieceBytes = 256 << 10

  init(_ address: StepAddress) {
    self.address = address
  }

  mutating func start() {
    // Each execution of an element has its own log, after the previous one.
    if hasFinished, address.hasElement { base = taken }
    hasFinished = false
    isRunning = true
  }

  /// Notes that another engine has resumed the run.
  mutating func beginEngine() {
    isBaseUncertain = isBaseUncertain || isRunning
    isRunning = false
    base = taken
    reported = taken
    lines = LineSplitter()
    file = nil
    hasFinished = false
  }

  /// Notes the end of the step, with the size of its log.
  ///
  /// - Returns: The end offset in the file; `nil` if that is the end of the file.
  mutating func finish(logBytes: UInt64) -> Int? {
    hasFinished = true
    isRunning = false
    if isBaseUncertain { return nil }
    return max(taken, base.addingClamped(Int(clamping: logBytes)))
  }

  /// Skips output up to the offset.
  mutating func skip(to end: Int) {
    taken = end
    reported = end
    file = nil
  }

  /// Reads new output, at most up to `end`.
  mutating func take(
    upTo end: Int = .max, in logs: LogFolder?, _ report: (StepOutput) -> Void
  ) {
    while taken < end {
      if file == nil { file = logs?.log(of: address) }
      let wanted = min(StepTail.pieceBytes, end - taken)
      guard let bytes = try? file?.piece(at: taken, atMost: wanted), !bytes.isEmpty else { return }
      taken += bytes.count
      if let block = bytes.withUnsafeBytes({ lines.take($0) }) { self.report(block, report) }
    }
  }

  /// Reports an unterminated line as it is, and closes the file. Nothing more comes for now.
  mutating func close(_ report: (StepOutput) -> Void) {
    if let block = lines.finish() { self.report(block, report) }
    reported = taken
    file = nil
  }

  private mutating func report(_ block: LineSplitter.Block, _ report: (StepOutput) -> Void) {
    for line in block.lines {
      report(
        StepOutput(
          stream: .stdout, bytes: block.bytes[line.range], ending: line.ending,
          logOffset: UInt64(max(0, reported - base + line.range.lowerBound))))
    }
    reported += block.bytes.count
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
