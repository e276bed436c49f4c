import WeftDefinition
import WeftEvents
import WeftPlanning

/// The state that displays need of a run: its folded events, bounded by the number of running and failed steps.
struct RunProgress: Sendable {
  /// A step in progress.
  struct RunningStep: Sendable {
    let address: StepAddress
    /// A number that increases with each start, for listing the oldest first.
    let order: Int
    let since: Duration
    var tail = OutputTail()
    /// Whether output events may have been dropped.
    var hasGaps = false
    /// The end of its delay, if it only waits.
    var waitsUntil: Duration?
    /// The message of a pending approval.
    var question: String?
  }

  /// A loop in progress.
  struct OpenLoop: Sendable {
    let address: StepAddress
    let order: Int
    let since: Duration
  }

  /// A step or group that has failed and waits for its next attempt.
  struct Waiter: Sendable {
    let address: StepAddress
    let order: Int
    /// The number of the next attempt, and the maximum number.
    let attempt: Int
    let attemptLimit: Int?
    let until: Duration
  }

  private(set) var start: RunStart?
  private(set) var end: RunEnd?
  /// The reason why the run is suspended.
  private(set) var pause: RunPause?
  private(set) var cancelling: CancelReason?
  private(set) var tally: RunTally
  private(set) var running: [StepAddress: RunningStep] = [:]
  private(set) var failures = FailureList()
  private(set) var skips = SkipList()
  private(set) var recoveries = Recoveries()
  /// The steps and groups that wait for a retry.
  private(set) var retrying: [StepAddress: Waiter] = [:]
  private(set) var loops: [StepAddress: OpenLoop] = [:]
  private var started = 0

  init(shape: RunShape = RunShape()) {
    tally = RunTally(shape: shape)
  }

  var counts: OutcomeCounts { tally.counts }

  /// - Parameter log: Called for the end of a failed step's output if events are missing.
  mutating func apply(_ event: RunEvent, log: Reporter.ReadLog) {
    switch event.kind {
    case .runStarted(let start):
      self.start = start
      tally.begin(stepCount: start.stepCount)
    case .runWarning: break
    case .stepQueued(let address, _): tally.queued(address)
    case .groupStarted(let address, let start): begin(address, start, at: event.elapsed)
    case .groupRetrying(let address, let retry):
      wait(
        address, after: retry.attempt, of: retry.attemptLimit, until: event.elapsed + retry.delay)
    case .stepRetrying(let address, let retry):
      wait(address, retry, from: event.elapsed)
      running[address] = nil
    case .stepStarted(let address, _): begin(address, at: event.elapsed)
    case .stepAsking(let address, let message): running[address]?.question = message
    case .stepWaiting(let address, let delay):
      running[address]?.waitsUntil = event.elapsed + delay
    case .stepOutput(let address, let output):
      guard let index = running.index(forKey: address) else { break }
      if output.ending == .transient {
        running.values[index].tail.show(output.bytes)
      } else {
        running.values[index].tail.append(output.bytes)
      }
    case .stepFinished(let address, let end): finish(address, end, log: log)
    case .stepRestored(let address, let end), .stepCached(let address, let end):
      restore(address, end)
    case .stepSkipped(let address, let reason): skip(address, reason)
    case .groupFinished(let address, let end): finish(address, end)
    case .runCancelling(let reason): cancelling = cancelling ?? reason
    case .runFinished(let end): self.end = end
    case .runWaiting(let pause): self.pause = pause
    case .outputDropped:
      for address in running.keys { running[address]!.hasGaps = true }
    case .snapshot(let report): join(report, log: log)
    }
  }

  /// Returns the state of a group that the event ends, which is lost when the event is applied.
  func prior(ofGroupEndedBy event: RunEvent) -> GroupSentence.Prior {
    guard case .groupFinished(let address, _) = event.kind else { return .nothing }
    return GroupSentence.Prior(
      elements: tally.open[address]?.elements, nextAttempt: retrying[address]?.attempt)
  }

  /// The number of steps, as far as known; at least those that were reported.
  var stepCount: Int { max(tally.stepCount, counts.done + running.count) }

  private mutating func begin(_ address: StepAddress, at time: Duration) {
    let order = retrying.removeValue(forKey: address)?.order ?? nextOrder()
    running[address] = RunningStep(address: address, order: order, since: time)
  }

  private mutating func nextOrder() -> Int {
    started += 1
    return started
  }

  private mutating func begin(_ group: StepAddress, _ start: GroupStart, at time: Duration) {
    tally.started(group, start)
    retrying[group] = nil
    if start.elements != nil {
      loops[group] = OpenLoop(address: group, order: nextOrder(), since: time)
    }
  }

  private mutating func wait(_ address: StepAddress, _ retry: Retry, from time: Duration) {
    retrying[address] = Waiter(
      address: address, order: running[address]?.order ?? nextOrder(),
      attempt: retry.attempt + 1, attemptLimit: retry.attemptLimit, until: time + retry.delay)
  }

  private mutating func wait(
    _ group: StepAddress, after attempt: Int, of limit: Int? = nil, until: Duration
  ) {
    tally.retrying(group)
    failures.tolerate(
      in: group, because: RunProgress.tolerate(of: group, beforeAttempt: attempt + 1))
    retrying[group] = Waiter(
      address: group, order: nextOrder(), attempt: attempt + 1, attemptLimit: limit, until: until)
  }

  private mutating func finish(_ address: StepAddress, _ end: StepEnd, log: Reporter.ReadLog) {
    let step = running.removeValue(forKey: address)
    retrying[address] = nil
    let scopes = end.outcome == .failure ? tally.scopes(around: address) : []
    tally.finished(address, end)
    recoveries.add(address, end)
    guard end.outcome == .failure else { return }
    let tail = failures.wantsTail(of: end) ? tail(of: step, address, end, log: log) : OutputTail()
    failures.add(step: address, end, tail: tail, in: scopes)
  }

  /// Counts a result of a previous engine without reporting it, except failures that may yet be tolerated.
  private mutating func restore(_ address: StepAddress, _ end: StepEnd) {
    let scopes = end.outcome == .failure ? tally.scopes(around: address) : []
    // The plan's step count does not include cleanup steps.
    tally.queued(address)
    tally.finished(address, end)
    guard end.outcome == .failure else { return }
    failures.add(step: address, end, tail: OutputTail(), in: scopes)
  }

  private mutating func finish(_ group: StepAddress, _ end: GroupEnd) {
    let isLoop = loops.removeValue(forKey: group) != nil
    if let waiter = retrying.removeValue(forKey: group) { retractToleration(of: waiter, end) }
    let scopes = tally.scopes(around: group)
    tally.finished(group, end)
    if end.conclusion == .success {
      let reason = end.winner.map { "\"\($0)\" won the race" } ?? "tolerated by \"\(group)\""
      failures.tolerate(in: group, because: reason)
    }
    failures.add(group: group, end, isLoop: isLoop, in: scopes)
  }

  private static func tolerate(of group: StepAddress, beforeAttempt attempt: Int) -> String {
    "\"\(group)\" was retried after attempt \(attempt - 1)"
  }

  /// Revises the reason of failures in a group that was not retried after all.
  private mutating func retractToleration(of group: Waiter, _ end: GroupEnd) {
    failures.revise(
      RunProgress.tolerate(of: group.address, beforeAttempt: group.attempt), in: group.address,
      to: end.outcome == .cancelled
        ? "\"\(group.address)\" was cancelled before attempt \(group.attempt)" : nil)
  }

  private mutating func skip(_ address: StepAddress, _ reason: SkipReason) {
    tally.skipped(address, reason)
    if reason.isReported { skips.add(address, reason) }
  }

  /// The size of the part of a log that is searched for its last lines.
  private static let tailBytes: UInt64 = 32 << 10

  private func tail(
    of step: RunningStep?, _ address: StepAddress, _ end: StepEnd, log: Reporter.ReadLog
  ) -> OutputTail {
    let seen = step?.tail ?? OutputTail()
    guard step?.hasGaps ?? true, end.logBytes > 0 else { return seen }
    let size = end.logBytes
    let from = size > RunProgress.tailBytes ? size - RunProgress.tailBytes : 0
    let bytes = log(address, from..<size)
    // A log truncated at its limit has nothing there.
    return bytes.isEmpty ? seen : OutputTail(logEnd: bytes, isWhole: from == 0)
  }

  /// Initializes a display that starts late from the events so far.
  private mutating func join(_ report: RunReport, log: Reporter.ReadLog) {
    start = report.start
    end = report.end
    pause = report.pause
    tally.begin(stepCount: report.start.stepCount)
    // Enclosing groups come before their members, and end after them.
    for group in report.groups {
      var since = Duration.zero
      if case .running(let start) = group.state { since = start }
      begin(group.address, group.start, at: since)
    }
    for step in report.steps {
      switch step.state {
      case .pending, .queued: break
      case .running(let since, _):
        begin(step.address, at: since)
        running[step.address]!.hasGaps = true
      case .asking(let since, let message):
        begin(step.address, at: since)
        running[step.address]!.question = message
      case .waiting(let since, let until):
        begin(step.address, at: since)
        running[step.address]!.waitsUntil = until
      case .retrying(let attempt, let until):
        retrying[step.address] = Waiter(
          address: step.address, order: nextOrder(), attempt: attempt + 1, attemptLimit: nil,
          until: until)
      case .skipped(let reason): skip(step.address, reason)
      case .finished(let end): finish(step.address, end, log: log)
      case .restored(let end), .cached(let end): restore(step.address, end)
      }
    }
    for group in report.groups.reversed() {
      switch group.state {
      case .running: break
      case .retrying(let until): wait(group.address, after: group.start.attempt, until: until)
      case .finished(let end): finish(group.address, end)
      }
    }
  }
}
