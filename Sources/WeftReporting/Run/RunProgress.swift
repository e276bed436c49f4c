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
    /// The last progress that it reported, and how fast it grows.
    var progress: StepProgress?
    var pace = RateEstimate()
  }

  /// A loop in progress.
  struct OpenLoop: Sendable {
    let address: StepAddress
    let order: Int
    let since: Duration
    var pace = RateEstimate()
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

  /// The run as a whole.
  private(set) var run = RunState(ofEventsOf: nil)
  private(set) var tally: RunTally
  private(set) var running: [StepAddress: RunningStep] = [:]
  private(set) var failures = FailureList()
  /// The skipped steps by the innermost open group or loop around them, whose next attempt makes them void; `nil` for
  /// those outside of any.
  private var skipsInScopes: [StepAddress?: SkipList] = [:]
  private(set) var recoveries = Recoveries()
  /// The steps and groups that wait for a retry.
  private(set) var retrying: [StepAddress: Waiter] = [:]
  private(set) var loops: [StepAddress: OpenLoop] = [:]
  private var started = 0

  init(shape: RunShape = RunShape()) {
    tally = RunTally(shape: shape)
  }

  var counts: OutcomeCounts { tally.counts }

  var skips: SkipList {
    var skips = skipsInScopes[nil] ?? SkipList()
    for (scope, others) in skipsInScopes where scope != nil { skips.add(others) }
    return skips
  }

  /// - Parameter log: Called for the end of a failed step's output if events are missing.
  mutating func apply(_ event: RunEvent, log: Reporter.ReadLog) {
    switch run.apply(event.kind, at: event.elapsed) {
    case .started(let start): tally.begin(stepCount: start.stepCount)
    case .step(let address, let state, let attemptLimit):
      set(address, state, attemptLimit: attemptLimit, log: log)
    case .groupStarted(let address, let start, let since): begin(address, start, at: since)
    case .groupRetrying(let address, let attempt, let attemptLimit, let until):
      wait(address, after: attempt, of: attemptLimit, until: until)
    case .groupFinished(let address, let end): finish(address, end)
    case .output(let address, let output):
      guard let index = running.index(forKey: address) else { break }
      if output.ending == .transient {
        running.values[index].tail.show(output.bytes)
      } else {
        running.values[index].tail.append(output.bytes)
      }
    case .progress(let address, let progress):
      running[address]?.pace.observe(progress.done, at: event.elapsed)
      running[address]?.progress = progress
    case .outputDropped:
      for address in running.keys { running[address]!.hasGaps = true }
    case .replaced(let report): join(report, log: log)
    case .run: break
    }
  }

  /// Notes how far the loops have come, for their rates.
  mutating func observeLoops(at now: Duration) {
    for loop in loops.keys {
      guard let elements = tally.open[loop]?.elements else { continue }
      loops[loop]?.pace.observe(elements.done, at: now)
    }
  }

  /// The number of elements of each loop in which a step is running.
  var runningElements: [StepAddress: Int] {
    guard !loops.isEmpty else { return [:] }
    var elements: Set<StepAddress> = []
    for step in running.keys {
      var next = step.innermostElement
      while let element = next, elements.insert(element).inserted {
        next = element.loop?.innermostElement
      }
    }
    var counts: [StepAddress: Int] = [:]
    for element in elements { if let loop = element.loop { counts[loop, default: 0] += 1 } }
    return counts
  }

  /// Returns the state of a group that the event ends, which is lost when the event is applied.
  func prior(ofGroupEndedBy event: RunEvent) -> GroupSentence.Prior {
    guard case .groupFinished(let address, _) = event.kind else { return .nothing }
    return GroupSentence.Prior(
      elements: tally.open[address]?.elements, nextAttempt: retrying[address]?.attempt)
  }

  /// The number of steps, as far as known; at least those that were reported.
  var stepCount: Int { max(tally.stepCount, counts.done + running.count) }

  private mutating func set(
    _ address: StepAddress, _ state: StepState, attemptLimit: Int? = nil, log: Reporter.ReadLog
  ) {
    switch state {
    case .pending: break
    case .queued: tally.queued(address)
    case .running(let since, _): begin(address, at: since)
    case .asking(_, let message): running[address]?.question = message
    case .waiting(_, let until): running[address]?.waitsUntil = until
    case .retrying(let attempt, let until):
      let order = running.removeValue(forKey: address)?.order ?? nextOrder()
      retrying[address] = Waiter(
        address: address, order: order, attempt: attempt + 1, attemptLimit: attemptLimit,
        until: until)
    case .finished(let end): finish(address, end, log: log)
    case .restored(let end), .cached(let end): restore(address, end)
    case .skipped(let reason):
      if reason.isReported {
        skipsInScopes[tally.scope(around: address), default: SkipList()].add(address, reason)
      }
      tally.skipped(address, reason)
    }
  }

  private mutating func begin(_ address: StepAddress, at time: Duration) {
    let former = running[address]?.order ?? retrying.removeValue(forKey: address)?.order
    let order = former ?? nextOrder()
    running[address] = RunningStep(address: address, order: order, since: time)
  }

  private mutating func nextOrder() -> Int {
    started += 1
    return started
  }

  private mutating func begin(_ group: StepAddress, _ start: GroupStart, at time: Duration) {
    tally.started(group, start)
    retrying[group] = nil
    skipsInScopes[group] = nil
    if start.elements != nil {
      loops[group] = OpenLoop(address: group, order: nextOrder(), since: time)
    }
  }

  private mutating func wait(
    _ group: StepAddress, after attempt: Int, of limit: Int?, until: Duration
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
    if let skips = skipsInScopes.removeValue(forKey: group) {
      skipsInScopes[scopes.first, default: SkipList()].add(skips)
    }
    tally.finished(group, end)
    if end.conclusion == .success {
      failures.tolerate(in: group, because: end.toleration(by: group))
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
    tally.begin(stepCount: report.start.stepCount)
    // Enclosing groups come before their members, and end after them.
    for group in report.groups {
      var since = Duration.zero
      if case .running(let start) = group.state { since = start }
      begin(group.address, group.start, at: since)
    }
    for step in report.steps where step.state != .queued {
      switch step.state {
      case .asking(let since, _), .waiting(let since, _): begin(step.address, at: since)
      default: break
      }
      set(step.address, step.state, log: log)
      running[step.address]?.hasGaps = true
    }
    for group in report.groups.reversed() {
      switch group.state {
      case .running: break
      case .retrying(let until):
        wait(group.address, after: group.start.attempt, of: nil, until: until)
      case .finished(let end): finish(group.address, end)
      }
    }
  }
}
