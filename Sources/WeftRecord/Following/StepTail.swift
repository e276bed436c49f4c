import WeftExecution
import WeftPlanning
import WeftPlatform

/// What a step has written, read from its log while it goes on.
///
/// A log goes on through attempts, and through the engines of a run that is resumed. What earlier engines have
/// left is known by how their attempts ended; of one that was cut off, what it left comes with the rest.
struct StepTail {
  private let address: StepAddress
  /// Where the log of the engine, or of the element's own turn, begins in the file.
  private(set) var base = 0
  /// How far the file has been taken.
  private(set) var taken = 0
  /// What of that has been told.
  private var told = 0
  private var isRunning = false
  private var hasFinished = false
  /// Whether an earlier engine was cut off while it wrote, so that nobody knows where the log of this one
  /// begins: before its first byte at least.
  private var isBaseUncertain = false
  private var file: Descriptor?
  private var lines = LineSplitter()

  private static let pieceBytes = 256 << 10

  init(_ address: StepAddress) {
    self.address = address
  }

  mutating func start() {
    // Each turn of an element has a log of its own, behind the last.
    if hasFinished, address.hasElement { base = taken }
    hasFinished = false
    isRunning = true
  }

  /// Another engine has taken up the run.
  mutating func beginEngine() {
    isBaseUncertain = isBaseUncertain || isRunning
    isRunning = false
    base = taken
    told = taken
    lines = LineSplitter()
    file = nil
    hasFinished = false
  }

  /// The step has ended, with a log of so many bytes.
  ///
  /// - Returns: Where that ends in the file; `nil` if that is wherever the file ends.
  mutating func finish(logBytes: UInt64) -> Int? {
    hasFinished = true
    isRunning = false
    if isBaseUncertain { return nil }
    return max(taken, base.addingClamped(Int(clamping: logBytes)))
  }

  /// Passes over what has been written up to there.
  mutating func skip(to end: Int) {
    taken = end
    told = end
    file = nil
  }

  /// Takes what has been written, at most up to an end.
  mutating func take(
    upTo end: Int = .max, in logs: LogFolder?, _ tell: (StepOutput) -> Void
  ) {
    while taken < end {
      if file == nil { file = logs?.log(of: address) }
      let wanted = min(StepTail.pieceBytes, end - taken)
      guard let bytes = try? file?.piece(at: taken, atMost: wanted), !bytes.isEmpty else { return }
      taken += bytes.count
      if let block = bytes.withUnsafeBytes({ lines.take($0) }) { self.tell(block, tell) }
    }
  }

  /// Nothing more comes for now: what has no newline is told as it is, and the file is closed.
  mutating func close(_ tell: (StepOutput) -> Void) {
    if let block = lines.finish() { self.tell(block, tell) }
    told = taken
    file = nil
  }

  private mutating func tell(_ block: LineSplitter.Block, _ tell: (StepOutput) -> Void) {
    for line in block.lines {
      tell(
        StepOutput(
          stream: .stdout, bytes: block.bytes[line.range], ending: line.ending,
          logOffset: UInt64(max(0, told - base + line.range.lowerBound))))
    }
    told += block.bytes.count
  }
}

extension Int {
  fileprivate func addingClamped(_ other: Int) -> Int {
    let (sum, isTooLarge) = addingReportingOverflow(other)
    return isTooLarge ? .max : sum
  }
}
