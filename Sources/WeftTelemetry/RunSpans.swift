import WeftDefinition
package import WeftEvents
package import WeftExecution
package import WeftPlanning

/// Folds the events of a run into spans, each of which it yields as soon as it has ended.
///
/// The run, groups, loops and elements, steps, their attempts, and what steps wait for. A group that is tried again has a
/// span for each attempt. Only what has not ended is kept.
///
/// Attempts last exactly as long as their events say, which may be a little longer than the time between these; a span
/// never ends before one inside it.
package struct RunSpans: Sendable {
  private enum Owner {
    case run
    case group(StepAddress)
  }

  private struct Open {
    var span: Span
    let owner: Owner?
    /// The end of the last span inside it.
    var latest: Duration

    mutating func reach(_ end: Duration) { latest = max(latest, end) }
  }

  private enum Activity {
    case none
    case queued(since: Duration, pools: [PoolRequest], WaitReason?)
    case backoff(since: Duration, until: Duration)
    /// The waits inside the attempt have no end yet.
    case attempt(Span, waits: [(name: String, since: Duration)])
  }

  private struct Step {
    var open: Open
    let kind: ActionKind?
    var activity = Activity.none
  }

  private let trace: RunTrace
  private let plan: Plan
  private let addresses: PlanAddresses
  private var run: RunStart?
  private var root: Open?
  private var groups: [StepAddress: Open] = [:]
  private var steps: [StepAddress: Step] = [:]
  /// Groups between two attempts.
  private var pauses: [StepAddress: Duration] = [:]
  private var ended: [Span] = []

  /// Waits for a slot that are shorter have no span: every step has one.
  package static let shortestWait = Duration.milliseconds(1)
  /// The time by which the event of an attempt's start may be late.
  private static let lateness = Duration.seconds(1)

  package init(_ trace: RunTrace, _ plan: Plan) {
    (self.trace, self.plan) = (trace, plan)
    addresses = PlanAddresses(plan)
  }

  /// The number of spans that have not ended.
  package var openCount: Int { (root == nil ? 0 : 1) + groups.count + steps.count }

  /// Returns the spans that have ended since the last call.
  package mutating func takeEnded() -> [Span] {
    defer { ended.removeAll(keepingCapacity: true) }
    return ended
  }

  package mutating func apply(_ event: RunEvent) {
    let now = event.elapsed
    switch event.kind {
    case .runStarted(let start): begin(start)
    case .stepQueued(let step, let pools, let reason):
      change(step, at: now) { $0.activity = .queued(since: now, pools: pools, reason) }
    case .stepStarted(let step, let attempt, _): started(step, attempt, at: now)
    case .stepBegun(let step, _): begun(step, at: now)
    case .stepAsking(let step, _): wait("approval", step, from: now)
    case .stepWaiting(let step, _): wait("time", step, from: now)
    case .stepRetrying(let step, let retry): retrying(step, retry, at: now)
    case .stepFinished(let step, let end): finished(step, end, at: now)
    case .stepCached(let step, let end): kept(step, end, AttributeKey.isCached, at: now)
    case .stepRestored(let step, let end): kept(step, end, AttributeKey.isRestored, at: now)
    case .stepSkipped(let step, let reason): skipped(step, reason, at: now)
    case .groupStarted(let group, let start): started(group, start, at: now)
    case .groupRetrying(let group, let retry): retrying(group: group, retry, at: now)
    case .groupFinished(let group, let end): finished(group, end, at: now)
    case .runFinished(let end): finish(end, at: now)
    case .runWaiting: suspend(at: now)
    case .stepOutput, .stepProgress, .stepReady, .runWarning, .runCancelling, .outputDropped,
      .snapshot:
      break
    }
  }

  // MARK: The run

  private mutating func begin(_ start: RunStart) {
    run = start
    var span = Span(
      trace.context.span, start.workflow.map { "RUN \($0)" } ?? "RUN", below: trace.parent?.span,
      at: .zero)
    span.hasRemoteParent = trace.parent != nil
    span.links = trace.links
    span.kind = .server
    span.attributes.add(AttributeKey.span, "run")
    span.attributes.add(AttributeKey.pipelineAction, "RUN")
    span.attributes.add(AttributeKey.pipeline, start.workflow)
    span.attributes.add(AttributeKey.pipelineRun, start.run.text)
    span.attributes.add(AttributeKey.file, start.file)
    span.attributes.add(AttributeKey.maxParallel, start.maxParallel)
    if start.resumption > 0 { span.attributes.add(AttributeKey.resumption, start.resumption) }
    root = Open(span: span, owner: nil, latest: .zero)
  }

  private mutating func finish(_ end: RunEnd, at now: Duration) {
    closeRest(at: now)
    guard var open = root else { return }
    root = nil
    open.span.attributes.add(
      AttributeKey.pipelineResult,
      ResultWord.word(of: end.outcome, end.failure, cancelledFor: end.cancellation))
    open.span.attributes.add(AttributeKey.outcome, end.outcome.rawValue)
    if end.outcome == .failure {
      let what = end.firstFailure.map { "step \"\($0)\" failed" } ?? "failed"
      open.span.attributes.add(AttributeKey.errorType, end.failure?.classes.first?.name ?? "_OTHER")
      open.span.status = .error(end.failure.map { "\(what): \($0.message)" } ?? what)
    }
    close(open, at: now)
  }

  private mutating func suspend(at now: Duration) {
    closeRest(at: now)
    guard var open = root else { return }
    root = nil
    open.span.attributes.add(AttributeKey.pipelineResult, ResultWord.suspended)
    close(open, at: now)
  }

  /// Ends whatever a suspended run leaves open.
  private mutating func closeRest(at now: Duration) {
    for address in steps.keys.sorted(by: { $0.text < $1.text }) {
      guard var step = steps.removeValue(forKey: address) else { continue }
      if case .attempt(var attempt, let waits) = step.activity {
        attempt.attributes.add(AttributeKey.taskResult, ResultWord.suspended)
        end(attempt, waits, of: &step, at: now)
      }
      settle(&step, at: now)
      step.open.span.attributes.add(AttributeKey.taskResult, ResultWord.suspended)
      close(step.open, at: now)
    }
    // Groups inside others end first.
    for address in groups.keys.sorted(by: { $0.text.utf8.count > $1.text.utf8.count }) {
      guard var group = groups.removeValue(forKey: address) else { continue }
      group.span.attributes.add(AttributeKey.taskResult, ResultWord.suspended)
      close(group, at: now)
    }
  }

  // MARK: Open spans

  private mutating func close(_ open: Open, at end: Duration) {
    var span = open.span
    span.end = max(span.start, end, open.latest)
    ended.append(span)
    switch open.owner {
    case .run: root?.reach(span.end)
    case .group(let group): groups[group]?.reach(span.end)
    case nil: break
    }
  }

  private func opened(_ address: StepAddress, _ kind: String, at now: Duration) -> Open {
    let planned = addresses.planned(address)
    let owner = owner(of: address)
    let parent: SpanID? =
      switch owner {
      case .run: root?.span.id
      case .group(let group): groups[group]?.span.id
      }
    // Elements share the name of their loop: names must be few.
    var span = Span(trace.makeSpan(), planned.text, below: parent ?? trace.context.span, at: now)
    span.attributes.add(AttributeKey.span, kind)
    span.attributes.add(AttributeKey.task, planned.text)
    span.attributes.add(AttributeKey.taskRun, "\(run?.run.text ?? "")/\(address)")
    span.attributes.add(AttributeKey.address, address.text)
    return Open(span: span, owner: owner, latest: now)
  }

  /// The innermost open group around a step or group.
  private func owner(of address: StepAddress) -> Owner {
    if let loop = address.loop, groups[loop] != nil { return .group(loop) }
    let innermost =
      addresses.step(at: address).map { plan.steps[$0].group }
      ?? addresses.group(at: address).flatMap { plan.groups[$0].parent }
    guard let innermost else { return .run }
    for group in plan.allEnclosingGroups(ofGroup: innermost) {
      guard let planned = plan.groups[group].address else { continue }
      let around = addresses.instances(of: planned, around: address).first {
        groups[$0] != nil && $0 != address
      }
      if let around { return .group(around) }
    }
    return .run
  }

}

// MARK: Steps

extension RunSpans {
  private mutating func step(_ address: StepAddress, at now: Duration) -> Step {
    if let known = steps.removeValue(forKey: address) { return known }
    var open = opened(address, "step", at: now)
    let kind = addresses.step(at: address).map { plan.steps[$0].kind }
    open.span.attributes.add(AttributeKey.action, kind.map { "\($0)" })
    return Step(open: open, kind: kind)
  }

  /// Ends the wait of an attempt's job, and begins the attempt with its program.
  private mutating func begun(_ address: StepAddress, at now: Duration) {
    guard var step = steps[address], case .attempt(var attempt, let waits) = step.activity else {
      return
    }
    add(waiting(for: "cluster", below: attempt.parent, attempt.start, now), to: &step)
    attempt.start = now
    step.activity = .attempt(attempt, waits: waits)
    steps[address] = step
  }

  /// Ends the wait that the step is in, and changes it.
  private mutating func change(
    _ address: StepAddress, at now: Duration, to change: (inout Step) -> Void
  ) {
    var step = step(address, at: now)
    settle(&step, at: now)
    change(&step)
    steps[address] = step
  }

  private mutating func started(_ address: StepAddress, _ number: Int, at now: Duration) {
    let id = trace.takeSpan(ofAttemptOf: address)
    change(address, at: now) { step in
      var attempt = Span(id, "attempt \(number)", below: step.open.span.id, at: now)
      attempt.attributes.add(AttributeKey.span, "attempt")
      attempt.attributes.add(AttributeKey.attempt, number)
      if step.kind == .http { attempt.kind = .client }
      step.activity = .attempt(attempt, waits: [])
    }
  }

  private mutating func wait(_ name: String, _ address: StepAddress, from now: Duration) {
    guard case .attempt(let attempt, let waits)? = steps[address]?.activity else { return }
    steps[address]?.activity = .attempt(attempt, waits: waits + [(name, now)])
  }

  private mutating func retrying(_ address: StepAddress, _ retry: Retry, at now: Duration) {
    change(address, at: now) { _ in }
    guard var step = steps[address] else { return }
    if case .attempt(var attempt, let waits) = step.activity {
      attempt.conclude(.failure, as: .failure, retry.failure)
      attempt.describe(retry.exit, retry.usage)
      end(attempt, waits, of: &step, at: now, after: retry.duration)
    }
    let since = max(now, step.open.latest)
    step.activity = .backoff(since: since, until: since + retry.delay)
    steps[address] = step
  }

  private mutating func finished(_ address: StepAddress, _ end: StepEnd, at now: Duration) {
    var step = step(address, at: now)
    if case .attempt(var attempt, let waits) = step.activity {
      attempt.conclude(
        end.outcome, as: end.conclusion, end.failure, cancelledFor: end.cancellation)
      attempt.describe(end.exit, end.usage)
      attempt.describe(end.http)
      self.end(attempt, waits, of: &step, at: now, after: end.duration)
    }
    settle(&step, at: now)
    conclude(step.open, end, at: now)
  }

  /// Ends a step that did not run: it was restored from the cache, or ended under a previous engine.
  private mutating func kept(
    _ address: StepAddress, _ end: StepEnd, _ key: String, at now: Duration
  ) {
    var step = step(address, at: now)
    settle(&step, at: now)
    step.open.span.attributes.add(key, if: true)
    conclude(step.open, end, at: now)
  }

  private mutating func conclude(_ open: Open, _ end: StepEnd, at now: Duration) {
    var open = open
    open.span.conclude(
      end.outcome, as: end.conclusion, end.failure, cancelledFor: end.cancellation)
    open.span.attributes.add(AttributeKey.attempts, end.attempts)
    open.span.describe(end.exit, nil)
    open.span.attributes.add(AttributeKey.outputBytes, Int(clamping: end.outputBytes))
    open.span.attributes.add(AttributeKey.approver, end.approvedBy)
    close(open, at: now)
  }

  private mutating func skipped(_ address: StepAddress, _ reason: SkipReason, at now: Duration) {
    var step = step(address, at: now)
    settle(&step, at: now)
    var cancellation: CancelReason?
    if case .cancelled(let reason) = reason { cancellation = reason }
    step.open.span.conclude(
      reason.outcome, as: reason.outcome, nil, cancelledFor: cancellation)
    step.open.span.attributes.add(AttributeKey.skipReason, reason.word)
    close(step.open, at: now)
  }

  // MARK: Attempts and waits

  /// - Parameter duration: The exact duration; `nil` if it ends now. That of a wait which a previous engine began is
  ///   longer than this engine's part of it.
  private mutating func end(
    _ attempt: Span, _ waits: [(name: String, since: Duration)], of step: inout Step,
    at now: Duration, after duration: Duration? = nil
  ) {
    var attempt = attempt
    let end = duration.map { min(attempt.start + $0, now + RunSpans.lateness) } ?? now
    attempt.end = max(end, waits.last?.since ?? .zero)
    for wait in waits {
      ended.append(waiting(for: wait.name, below: attempt.id, wait.since, attempt.end))
    }
    ended.append(attempt)
    step.open.reach(attempt.end)
    step.activity = .none
  }

  /// Ends the wait that the step is in; an attempt continues.
  private mutating func settle(_ step: inout Step, at now: Duration) {
    switch step.activity {
    case .none, .attempt: return
    case .queued(let since, let pools, let reason):
      queued(&step, from: since, to: now, pools, reason)
    case .backoff(let since, let until):
      // A run that ends meanwhile cuts the delay short. What comes after it is a wait for a slot.
      let due = min(until, max(since, now))
      add(waiting(for: "backoff", below: step.open.span.id, since, due), to: &step)
      queued(&step, from: due, to: now, [], nil)
    }
    step.activity = .none
  }

  private mutating func queued(
    _ step: inout Step, from since: Duration, to now: Duration, _ pools: [PoolRequest],
    _ reason: WaitReason?
  ) {
    guard now - since >= RunSpans.shortestWait else { return }
    var span = waiting(for: (reason ?? .slot).word, below: step.open.span.id, since, now)
    if !pools.isEmpty {
      span.attributes.append(SpanAttribute(AttributeKey.pools, .texts(pools.map(\.pool))))
    }
    add(span, to: &step)
  }

  private func waiting(
    for name: String, below parent: SpanID?, _ start: Duration, _ end: Duration
  ) -> Span {
    var span = Span(trace.makeSpan(), "wait: \(name)", below: parent, at: start)
    span.end = max(start, end)
    span.attributes.add(AttributeKey.span, "wait")
    return span
  }

  private mutating func add(_ span: Span, to step: inout Step) {
    ended.append(span)
    step.open.reach(span.end)
  }
}

// MARK: Groups

extension RunSpans {
  private mutating func started(_ address: StepAddress, _ start: GroupStart, at now: Duration) {
    var open = opened(address, "group", at: now)
    open.span.attributes.add(AttributeKey.attempt, start.attempt)
    open.span.attributes.add(AttributeKey.elements, start.elements)
    open.span.attributes.add(AttributeKey.isRestored, if: start.isRestored)
    if let since = pauses.removeValue(forKey: address) {
      ended.append(waiting(for: "backoff", below: open.span.parent, since, now))
    }
    groups[address] = open
  }

  private mutating func retrying(group address: StepAddress, _ retry: Retry, at now: Duration) {
    guard var open = groups.removeValue(forKey: address) else { return }
    open.span.conclude(.failure, as: .failure, retry.failure)
    close(open, at: now)
    pauses[address] = now
  }

  private mutating func finished(_ address: StepAddress, _ end: GroupEnd, at now: Duration) {
    pauses[address] = nil
    // Cancelled between two attempts, it has none that is open.
    var open = groups.removeValue(forKey: address) ?? opened(address, "group", at: now)
    open.span.conclude(end.outcome, as: end.conclusion, end.failure)
    open.span.attributes.add(AttributeKey.attempts, end.attempts)
    close(open, at: now)
  }
}
