import WeftDefinition
package import WeftEvents
import WeftPlanning
import WeftRecord

/// Folds the records of a journal into what each step did when.
package struct TimelineBuilder: Sendable {
  private(set) var steps: [RunTimeline.Step] = []
  private(set) var parts: [RunTimeline.Part] = []
  private var places: [StepAddress: Int] = [:]
  /// The wait or attempt that each step is in; `nil` if it is in none.
  private var current: [TimelineSpan?] = []
  /// The end of a backoff, by step.
  private var due: [Int: Int] = [:]
  /// The time of the last record.
  private var now = 0
  /// The end of the last span of this engine; at least its start.
  private var latest = 0

  /// The time by which the record of an attempt's start may be late on a busy machine.
  static let lateness = 1_000_000

  package init() {}

  package mutating func apply(_ record: RunRecord) {
    if case .opened(let opening) = record.kind {
      endPart()
      latest = now
      parts.append(
        RunTimeline.Part(resumption: opening.resumption, startedAt: record.at, offset: now))
      return
    }
    guard let part = parts.last else { return }
    let time = part.offset + record.at.since(part.startedAt).measuredMicroseconds
    now = max(now, time)
    parts[parts.count - 1].length = now - part.offset
    switch record.kind {
    case .event(let event, _): apply(event)
    case .waiting(let step, _): change(step, to: .sleeping)
    case .opened, .spawned, .kept, .listed, .groupSkipped, .outdated: break
    }
  }

  private mutating func apply(_ event: RunEvent.Kind) {
    switch event {
    case .runStarted(let start): parts[parts.count - 1].maxParallel = start.maxParallel
    case .stepQueued(let address, let pools, let reason):
      let step = place(of: address)
      steps[step].pools = pools
      settle(step)
      current[step] = TimelineSpan(TimelineSpan.Kind(reason), from: next(step))
    case .stepStarted(let address, let attempt, _):
      let step = place(of: address)
      settle(step)
      current[step] = TimelineSpan(.running, from: next(step), attempt: attempt)
    case .stepBegun(let address, let attempt):
      let step = place(of: address)
      current[step]?.kind = .cluster
      settle(step)
      current[step] = TimelineSpan(.running, from: next(step), attempt: attempt)
    case .stepAsking(let address, _): change(address, to: .asking)
    case .stepRetrying(let address, let retry): retried(place(of: address), retry)
    case .stepReady(let address, let end): becameReady(place(of: address), after: end.duration)
    case .stepFinished(let address, let end): finished(place(of: address), end)
    case .stepCached(let address, _):
      let step = place(of: address)
      settle(step)
      var moment = TimelineSpan(.cached, from: now)
      moment.verdict = .cached
      steps[step].spans.append(moment)
    case .stepSkipped(let address, _): settle(place(of: address))
    case .runFinished(let end): endPart(after: end.duration)
    case .runWaiting(let pause): endPart(after: pause.duration, terminated: true)
    case .stepWaiting, .stepOutput, .stepProgress, .stepRestored, .groupStarted, .groupRetrying,
      .groupFinished, .runWarning, .runCancelling, .outputDropped, .snapshot:
      break
    }
  }

  private mutating func place(of address: StepAddress) -> Int {
    if let known = places[address] { return known }
    places[address] = steps.count
    steps.append(RunTimeline.Step(address: address))
    current.append(nil)
    return steps.count - 1
  }

  private mutating func change(_ address: StepAddress, to kind: TimelineSpan.Kind) {
    current[place(of: address)]?.kind = kind
  }

  /// The time from which the step does something else.
  private func next(_ step: Int) -> Int { max(now, steps[step].spans.last?.end ?? 0) }

  // MARK: Ends

  private mutating func retried(_ step: Int, _ retry: Retry) {
    end(step, .failed, after: retry.duration, retry.failure)
    // The delay counts from the end of the attempt, and the record of that may be late.
    let start = steps[step].spans.last?.end ?? now
    current[step] = TimelineSpan(.backoff, from: start, attempt: retry.attempt + 1)
    due[step] = start + retry.delay.measuredMicroseconds
  }

  /// Ends the part of a service's attempt that held a slot.
  private mutating func becameReady(_ step: Int, after duration: Duration) {
    guard let attempt = current[step]?.attempt else { return }
    end(step, .succeeded, after: duration)
    current[step] = TimelineSpan(
      .serving, from: steps[step].spans.last?.end ?? now, attempt: attempt)
  }

  private mutating func finished(_ step: Int, _ end: StepEnd) {
    // An engine fails a step in doubt instead of starting it.
    if end.failure?.classes.contains(.inDoubt) == true { current[step] = nil }
    guard current[step]?.kind.isAttempt == true else { return settle(step) }
    self.end(step, Verdict(end), after: end.duration, end.failure)
  }

  private mutating func end(
    _ step: Int, _ verdict: Verdict, after duration: Duration, _ failure: StepFailure? = nil
  ) {
    guard var span = current[step], span.kind.isAttempt else { return settle(step) }
    current[step] = nil
    // The duration is exact, and the records of start and end may be a little late. A wait that an earlier engine began
    // has lasted longer than this one knows.
    let start = span.beginsAttempt ? span.start : steps[step].spans.last?.start ?? span.start
    span.end = max(
      span.start, min(start + duration.measuredMicroseconds, now + TimelineBuilder.lateness))
    (span.verdict, span.failure) = (verdict, failure)
    steps[step].spans.append(span)
    latest = max(latest, span.end)
  }

  /// Ends whatever the step does, at the time of the record.
  private mutating func settle(_ step: Int, _ verdict: Verdict = .interrupted) {
    guard var span = current[step] else { return }
    current[step] = nil
    span.end = max(now, span.start)
    guard let moment = due.removeValue(forKey: step), span.kind == .backoff, moment < span.end
    else {
      if span.kind.isAttempt { span.verdict = verdict }
      if span.kind.isAttempt || span.duration > 0 { steps[step].spans.append(span) }
      return
    }
    // The next attempt was due, and waited for a slot.
    var wait = TimelineSpan(.slot, from: moment, attempt: span.attempt)
    (wait.end, span.end) = (span.end, moment)
    steps[step].spans += [span, wait].filter { $0.duration > 0 }
  }

  /// - Parameters:
  ///   - duration: That of the run so far, which the engine knows best.
  ///   - terminated: Whether the engine has terminated its services, because it suspends the run.
  private mutating func endPart(after duration: Duration? = nil, terminated: Bool = false) {
    guard !parts.isEmpty else { return }
    if let duration { now = max(duration.measuredMicroseconds, latest) }
    for step in current.indices {
      settle(step, terminated && current[step]?.kind == .serving ? .terminated : .interrupted)
    }
    parts[parts.count - 1].length = now - parts[parts.count - 1].offset
  }

  /// Ends what was going on at the last record.
  ///
  /// - Parameters:
  ///   - isLive: Whether an engine holds the run.
  ///   - moment: The time up to which a live run has come; `nil` for that of its last record.
  mutating func close(isLive: Bool, at moment: WallTime? = nil) {
    if isLive, let moment, let part = parts.last {
      now = max(now, part.offset + moment.since(part.startedAt).measuredMicroseconds)
      parts[parts.count - 1].length = now - part.offset
    }
    for step in current.indices { settle(step, isLive ? .running : .interrupted) }
  }
}
