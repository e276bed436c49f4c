import WeftExecution
import WeftPlanning

/// What the displays know of a run: its events folded, bounded by what runs and what went wrong.
struct RunProgress: Sendable {
  /// A step that is under way.
  struct RunningStep: Sendable {
    let address: StepAddress
    /// Counts the starts; those that run longest come first.
    let order: Int
    let since: Duration
    var tail = OutputTail()
    /// Whether output events of it may have been left out.
    var hasGaps = false
  }

  private(set) var start: RunStart?
  private(set) var end: RunEnd?
  private(set) var cancelling: CancelReason?
  private(set) var counts = StepCounts()
  private(set) var running: [StepAddress: RunningStep] = [:]
  private(set) var failures = FailureList()
  private(set) var skips = SkipList()
  /// Steps that have failed and are tried again, and when.
  private(set) var retrying: [StepAddress: Duration] = [:]
  private var started = 0

  /// - Parameter log: Asked for the end of a failed step's output if events of it are missing.
  mutating func apply(_ event: RunEvent, log: Reporter.ReadLog) {
    switch event.kind {
    case .runStarted(let start): self.start = start
    case .stepQueued, .groupStarted, .groupRetrying, .runWarning: break
    case .stepRetrying(let address, let retry):
      running[address] = nil
      retrying[address] = event.elapsed + retry.delay
    case .stepStarted(let address, _): begin(address, at: event.elapsed)
    case .stepOutput(let address, let output):
      guard let index = running.index(forKey: address) else { break }
      if output.ending == .transient {
        running.values[index].tail.show(output.bytes)
      } else {
        running.values[index].tail.append(output.bytes)
      }
    case .stepFinished(let address, let end): finish(address, end, log: log)
    case .stepSkipped(let address, let reason): skip(address, reason)
    case .groupFinished(let address, let end): failures.add(group: address, end)
    case .runCancelling(let reason): cancelling = cancelling ?? reason
    case .runFinished(let end): self.end = end
    case .outputDropped:
      for address in running.keys { running[address]!.hasGaps = true }
    case .snapshot(let report): join(report, log: log)
    }
  }

  /// How many steps will be told of.
  var stepCount: Int { start?.stepCount ?? 0 }

  private mutating func begin(_ address: StepAddress, at time: Duration) {
    started += 1
    retrying[address] = nil
    running[address] = RunningStep(address: address, order: started, since: time)
  }

  private mutating func finish(_ address: StepAddress, _ end: StepEnd, log: Reporter.ReadLog) {
    let step = running.removeValue(forKey: address)
    retrying[address] = nil
    counts.add(end)
    guard end.outcome == .failure else { return }
    let tail = failures.wantsTail(of: end) ? tail(of: step, address, end, log: log) : OutputTail()
    failures.add(step: address, end, tail: tail)
  }

  private mutating func skip(_ address: StepAddress, _ reason: SkipReason) {
    counts.add(reason)
    skips.add(address, reason)
  }

  /// How much of a log is read to find its last lines.
  private static let tailBytes: UInt64 = 32 << 10

  private func tail(
    of step: RunningStep?, _ address: StepAddress, _ end: StepEnd, log: Reporter.ReadLog
  ) -> OutputTail {
    let seen = step?.tail ?? OutputTail()
    guard step?.hasGaps ?? true, end.logBytes > 0 else { return seen }
    let size = end.logBytes
    let from = size > RunProgress.tailBytes ? size - RunProgress.tailBytes : 0
    let bytes = log(address, from..<size)
    // A log that was cut at its limit has nothing there.
    return bytes.isEmpty ? seen : OutputTail(logEnd: bytes, isWhole: from == 0)
  }

  /// A display that came late starts from what has happened so far.
  private mutating func join(_ report: RunReport, log: Reporter.ReadLog) {
    start = report.start
    end = report.end
    for step in report.steps {
      switch step.state {
      case .pending, .queued: break
      case .running(let since, _):
        begin(step.address, at: since)
        running[step.address]!.hasGaps = true
      case .retrying(_, let until): retrying[step.address] = until
      case .skipped(let reason): skip(step.address, reason)
      case .finished(let end): finish(step.address, end, log: log)
      }
    }
  }
}
