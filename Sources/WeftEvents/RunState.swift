package import WeftDefinition
package import WeftPlanning
package import WeftPlatform

/// The state of a run, folded from its events or from the records of its journal.
///
/// The only code that interprets events: reports, history, displays and resume are views of this fold. It always keeps
/// the run as a whole. Two parts grow with the steps of the run, so only the views that need them pay for them:
/// * the reports of all steps and groups under one engine, from which ``report`` is made;
/// * the records of all steps and groups under all engines, by which a resumed engine decides what to keep
///   (``ResumePolicy``), and which the history shows.
///
/// A display keeps neither; it follows each ``Change``.
///
/// Records need no plan, so they do not say which steps are inside a group. Numbers show what a later attempt of a group
/// has voided: a step counts if its ``RecordedStep/number`` is larger than the ``RecordedGroup/startedBy`` of each group
/// around it; see ``step(_:since:)``.
package struct RunState: Sendable {
  // MARK: The run as a whole

  /// The payload of the last `runStarted`.
  @StoredOutside package private(set) var start: RunStart? = nil
  /// The reason why the engine's part of the run was being cancelled; the first, if there are several.
  package private(set) var cancellation: CancelReason?
  /// The end of the run; `nil` if it has not ended, or was resumed.
  @StoredOutside package private(set) var end: RunEnd? = nil
  /// The approvals that the run waits for, if its engine suspended it because of them.
  @StoredOutside package private(set) var pause: RunPause? = nil
  /// The first ``RunReport/warningLimit`` warnings.
  package private(set) var warnings: [RunWarning] = []
  /// The time of the last event since the start of the engine.
  private var elapsed = Duration.zero

  // MARK: The journal

  /// The opening of the first engine; `nil` before the first record.
  @StoredOutside package private(set) var opening: RecordOpening? = nil
  /// The opening of the last engine; equal to `opening` if the run was never resumed.
  @StoredOutside package private(set) var lastOpening: RecordOpening? = nil
  /// The numbers of steps without an id in each version of the workflow file that the run was of, by its hash.
  package private(set) var numbers: [String: StepNumbers] = [:]
  /// All engines of the run, in order, each with the processes that `leftovers` allows to outlive it.
  package private(set) var engines: [RecordedEngine] = []
  /// The span of the run under the first engine that traced it; `nil` if none did.
  package private(set) var trace: TraceContext?
  /// The times of the first and the last record.
  package private(set) var startedAt: WallTime?
  package private(set) var lastAt: WallTime?
  /// The parts of the run before that of the last engine.
  private var earlierParts: [RecordedPart] = []
  private var partStartedAt: WallTime?
  /// The resources that all attempts under all engines have used.
  package private(set) var usage = RunUsage()
  /// The number of the last record; 0 before the first.
  package private(set) var number: UInt64 = 0

  // MARK: Steps and groups

  /// `nil` if the state makes no report.
  private(set) var reports: StepReports?
  /// Whether ``steps`` and ``groups`` are kept.
  private let keepsRecords: Bool
  package private(set) var steps = RecordedSteps()
  /// Groups and loops.
  package private(set) var groups: [StepAddress: RecordedGroup] = [:]
  /// The number of the record by which a step was last requested to rerun. Earlier records of it are void. Contains
  /// steps of the plan and steps of single elements.
  package private(set) var rerunSince: [StepAddress: UInt64] = [:]

  /// Creates the state of a run by its journal.
  package init() {
    keepsRecords = true
  }

  /// Creates the state of a run of which only the events matter, under one engine.
  ///
  /// - Parameter plan: The plan of the run if a report is to be made.
  package init(ofEventsOf plan: Plan?) {
    keepsRecords = false
    reports = plan.map { StepReports($0) }
  }

  /// Creates the state by which the report of the last engine is made from the journal.
  ///
  /// Steps that an earlier engine recorded, and that the last one kept as they ended, have no record of their own in its
  /// part of the journal. The report shows them as restored.
  package init(reporting plan: Plan) {
    keepsRecords = true
    reports = StepReports(plan, findsSteps: true)
  }

  /// An effect of an event on the state, from which a display makes its own.
  package enum Change: Sendable {
    case started(RunStart)
    /// - attemptLimit: The maximum number of attempts of a step that is to be tried again, if known.
    case step(StepAddress, StepState, attemptLimit: Int? = nil)
    case groupStarted(StepAddress, GroupStart, since: Duration)
    /// The attempt with this number has failed, and another is due at this time.
    case groupRetrying(StepAddress, attempt: Int, of: Int?, until: Duration)
    case groupFinished(StepAddress, GroupEnd)
    case output(StepAddress, StepOutput)
    case progress(StepAddress, StepProgress)
    /// Output of some running steps is missing.
    case outputDropped
    /// The state of all steps and groups is replaced.
    indirect case replaced(RunReport)
    /// Nothing has changed but the run as a whole.
    case run
  }
}

// MARK: Events

extension RunState {
  /// - Parameters:
  ///   - elapsed: The time since the start of the engine.
  ///   - step: The index in the plan of the step that the event is about, if known.
  ///   - values: The values that were recorded with the end of a step.
  @discardableResult
  package mutating func apply(
    _ event: RunEvent.Kind, at elapsed: Duration, step index: Int? = nil,
    keeping values: RecordedValues = RecordedValues()
  ) -> Change {
    self.elapsed = elapsed
    switch event {
    case .runStarted(let start):
      self.start = start
      if reports != nil { warnings = [] }
      reports?.begin()
      return .started(start)
    case .stepQueued(let step, let pools, let reason):
      recordQueued(step, pools, reason)
      return set(step, .queued, index)
    case .stepStarted(let step, let attempt, let job):
      record(step, .started(attempt: attempt))
      if let job {
        steps.changeKnown(step) { ($0.job, $0.isSubmitted) = (job, job.hasQueue) }
      }
      return set(step, .running(since: elapsed, attempt: attempt), index)
    case .stepBegun(let step, let attempt):
      steps.changeKnown(step) { $0.isSubmitted = false }
      return set(step, .running(since: elapsed, attempt: attempt), index)
    case .stepAsking(let step, let message):
      // The time limit of an earlier question does not count.
      steps.changeKnown(step) {
        ($0.question, $0.isUnanswered, $0.waitsUntil) = (message, true, nil)
      }
      return set(step, .asking(since: elapsed, message: message), index)
    case .stepWaiting(let step, let delay):
      return set(step, .waiting(since: elapsed, until: elapsed + delay), index)
    case .stepOutput(let step, let output): return .output(step, output)
    case .stepProgress(let step, let progress): return .progress(step, progress)
    case .stepReady(let step, let end):
      // A later engine starts it again if a step that has yet to run needs it.
      record(step, .finished(end, values))
      steps.changeKnown(step) {
        ($0.isServing, $0.readyAfter) = (true, $0.readyAfter ?? end.duration)
      }
      return .run
    case .stepRetrying(let step, let retry):
      record(step, .retrying(retry))
      if keepsRecords { usage.add(retry) }
      return set(
        step, .retrying(after: retry.attempt, until: elapsed + retry.delay), index,
        attemptLimit: retry.attemptLimit)
    case .stepFinished(let step, let end):
      record(step, .finished(end, values))
      if keepsRecords { usage.add(end) }
      return set(step, .finished(end), index)
    case .stepRestored(let step, let end):
      // A service that nothing needs any more.
      steps.changeKnown(step) { $0.isServing = false }
      return set(step, .restored(end), index)
    case .stepCached(let step, let end):
      record(step, .finished(end, values))
      steps.changeKnown(step) { $0.isCached = true }
      return set(step, .cached(end), index)
    case .stepSkipped(let step, let reason):
      recordSkipped(step, reason)
      return set(step, .skipped(reason), index)
    case .groupStarted(let group, let start):
      recordStarted(group, start)
      reports?.begin(group, start, at: elapsed)
      return .groupStarted(group, start, since: elapsed)
    case .groupRetrying(let group, let retry):
      record(group: group, .retrying(retry))
      groups[group]?.startedBy = number
      reports?.retry(group, until: elapsed + retry.delay)
      return .groupRetrying(
        group, attempt: retry.attempt, of: retry.attemptLimit, until: elapsed + retry.delay)
    case .groupFinished(let group, let end):
      if groups[group]?.isRestored == true {
        // Its outputs may have been computed again.
        groups[group]?.state = .finished(end)
        groups[group]?.outputsNumber = number
        groups[group]?.isRestored = false
      } else {
        record(group: group, .finished(end))
      }
      reports?.set(group: group, .finished(end))
      return .groupFinished(group, end)
    case .runWarning(let warning):
      if warnings.count < RunReport.warningLimit, !warnings.contains(warning) {
        warnings.append(warning)
      }
    case .runCancelling(let reason): cancellation = cancellation ?? reason
    case .runFinished(let end): self.end = end
    case .runWaiting(let pause):
      self.pause = pause
      // Services are terminated without a record of their own.
      usage.addAttempts(steps.count { $0.step.isServing && $0.step.engine == resumptions })
    case .outputDropped: return .outputDropped
    case .snapshot(let report):
      (start, end, pause, warnings) = (report.start, report.end, report.pause, report.warnings)
      return .replaced(report)
    }
    return .run
  }

  private mutating func set(
    _ step: StepAddress, _ state: StepState, _ index: Int?, attemptLimit: Int? = nil
  ) -> Change {
    reports?.change(index, step) { $0 = state }
    return .step(step, state, attemptLimit: attemptLimit)
  }

  /// Changes the state of a step in the report without an event.
  package mutating func change(
    _ index: Int?, _ step: StepAddress, _ change: (inout StepState) -> Void
  ) {
    reports?.change(index, step, change)
  }

  /// The index in the report for a step whose address is not in the plan; stays valid.
  package mutating func place(of step: StepAddress) -> Int {
    reports?.place(nil, step) ?? 0
  }
}

// MARK: Views

extension RunState {
  /// The report so far; `nil` before the engine started the run, and for a state that makes none.
  package var report: RunReport? {
    guard let start, let reports, reports.hasBegun else { return nil }
    var report = RunReport(start: start, steps: reports.steps(isFinal: end != nil), end: end)
    report.groups = reports.groups(isFinal: end != nil)
    (report.warnings, report.pause, report.elapsed) = (warnings, pause, elapsed)
    return report
  }

  /// The counts of the steps that are done by their latest states: if there is a report, without those that a later
  /// attempt has made void.
  package var counts: OutcomeCounts {
    if let reports { return reports.counts }
    var counts = OutcomeCounts()
    for (_, step) in steps where !step.isOutdated {
      switch step.shown.state {
      case .finished where step.isServing: break
      case .finished(let end, _): counts.add(end)
      case .skipped(let reason): counts.add(reason.outcome)
      case .queued, .started, .retrying: break
      }
    }
    return counts
  }

  /// The steps whose states a later attempt has made void: a part of ``reportedSteps``, without the others.
  package var voidSteps: Set<StepAddress> { reports?.voidSteps ?? [] }

  /// The steps in the report.
  package var reportedSteps: ReportedSteps { reports?.reportedSteps ?? ReportedSteps() }

  /// The time that engines spent on the run, up to the last record, without the time between engines.
  package var duration: Duration {
    if let known = end?.duration ?? pause?.duration { return known }
    return earlierDuration + max(.zero, lastAt?.since(partStartedAt ?? .blank) ?? .zero)
  }

  private var earlierDuration: Duration { earlierParts.reduce(.zero) { $0 + $1.duration } }

  /// The parts of the run under each engine, in order.
  package var parts: [RecordedPart] {
    guard let partStartedAt else { return [] }
    return earlierParts + [
      RecordedPart(startedAt: partStartedAt, duration: duration - earlierDuration)
    ]
  }

  /// The number of times the run was resumed.
  package var resumptions: Int { lastOpening?.resumption ?? 0 }

  /// Steps for which it is unknown whether they took effect: an attempt started, and its end is not recorded. Sorted
  /// by address.
  package var inDoubt: [StepAddress] {
    steps.lazy.map(\.address).filter(isInDoubt).sorted { $0.text < $1.text }
  }

  /// Whether it is unknown if the step took effect, and no rerun of it was requested since.
  package func isInDoubt(_ address: StepAddress) -> Bool {
    steps[address].map { isInDoubt($0, at: address) } ?? false
  }

  private func isInDoubt(_ step: RecordedStep, at address: StepAddress) -> Bool {
    guard step.isInDoubt else { return false }
    if rerunSince.isEmpty { return true }
    let planned = address.planned { known in rerunSince.keys.contains { $0.isInside(known) } }
    return step.number > max(rerunSince[address] ?? 0, rerunSince[planned] ?? 0)
  }

  /// The recorded state of a step; `nil` if there is none, or only one from an earlier attempt of a group around it.
  ///
  /// - Parameter beginning: The largest ``RecordedGroup/startedBy`` of the groups around it; 0 if there are none.
  package func step(_ address: StepAddress, since beginning: UInt64 = 0) -> RecordedStep? {
    steps[address].flatMap { $0.number > beginning ? $0 : nil }
  }

  /// The recorded state of a group or loop; `nil` in the same cases as for a step.
  package func group(_ address: StepAddress, since beginning: UInt64 = 0) -> RecordedGroup? {
    groups[address].flatMap { $0.number > beginning ? $0 : nil }
  }
}

// MARK: Records

extension RunState {
  package mutating func apply(_ record: RunRecord) {
    number = record.number
    if case .opened = record.kind { earlierParts = parts }
    lastAt = record.at
    let elapsed = max(.zero, record.at.since(partStartedAt ?? record.at))
    switch record.kind {
    case .opened(let opening): open(opening, at: record.at)
    case .event(let event, let values):
      if case .runFinished = event { restoreReports(at: elapsed) }
      apply(event, at: elapsed, keeping: values)
    case .spawned(let step, _, let process): steps.changeKnown(step) { $0.process = process }
    case .kept(let step, let attempt):
      guard lastOpening?.cookie != nil, !engines.isEmpty else { break }
      engines[engines.count - 1].kept.insert(AttemptName(step: step.text, number: attempt))
    case .listed(let address, let elements):
      removeSkip(of: address)
      var known = groups[address] ?? RecordedGroup()
      let former = known.allElements
      if !former.isEmpty {
        let keys = Set(elements.elements.map(\.key))
        known.formerElements = former.filter { !keys.contains($0.key) }
      }
      (known.elements, known.listedBy) = (elements, record.number)
      if case .listed = known.state { known.number = record.number }
      groups[address] = known
    case .groupSkipped(let group, let reason): recordSkipped(group: group, reason)
    case .outdated(let addresses):
      for step in addresses { steps.changeKnown(step) { $0.isOutdated = true } }
    case .waiting(let step, let moment):
      steps.changeKnown(step) { $0.waitsUntil = moment }
      apply(.stepWaiting(step, for: max(.zero, moment.since(record.at))), at: elapsed)
    }
  }

  /// Makes all records so far of these steps void: a step, or one of a single element, is to be rerun.
  package mutating func request(rerunOf steps: [StepAddress]) {
    for step in steps { rerunSince[step] = number }
  }

  private mutating func open(_ opening: RecordOpening, at moment: WallTime) {
    if self.opening == nil {
      self.opening = opening
      startedAt = moment
    }
    partStartedAt = moment
    lastOpening = opening
    if let hash = opening.hash { numbers[hash] = opening.numbers }
    trace = trace ?? opening.trace
    if let cookie = opening.cookie {
      engines.append(
        RecordedEngine(cookie: cookie, process: opening.engine, bootID: opening.bootID))
    }
    for group in groups.keys { groups[group]?.isRestored = false }
    steps.changeAll { $0.isOutdated = false }
    request(rerunOf: opening.rerun)
    end = nil
    pause = nil
    cancellation = nil
    reports?.close()
  }

  /// Reports the steps that the engine has kept as an earlier one recorded them.
  private mutating func restoreReports(at elapsed: Duration) {
    guard reports != nil else { return }
    let restored = steps.filter { address, step in
      step.engine < resumptions && !step.isOutdated && !isInDoubt(address)
    }
    for (address, step) in restored.sorted(by: { $0.step.number < $1.step.number }) {
      guard case .finished(let end, _) = step.state else { continue }
      apply(.stepRestored(address, end), at: elapsed)
    }
  }

  private mutating func recordQueued(
    _ step: StepAddress, _ pools: [PoolRequest], _ reason: WaitReason?
  ) {
    guard keepsRecords else { return }
    // A step in doubt stays so until a new attempt of it starts.
    if !isInDoubt(step) { record(step, .queued) }
    steps.changeKnown(step) { known in
      known.excluded = nil
      if !pools.isEmpty || !known.pools.isEmpty { known.pools = pools.map(\.pool) }
      if reason != known.waitReason { known.waitReason = reason }
    }
  }

  private mutating func recordSkipped(_ step: StepAddress, _ reason: SkipReason) {
    guard keepsRecords else { return }
    // A step in doubt stays so: skipping it says nothing about its effects.
    if isInDoubt(step) {
      steps.changeKnown(step) { $0.excluded = reason }
    } else {
      record(step, .skipped(reason))
    }
    recordSkipped(group: step, reason)
  }

  private mutating func record(_ step: StepAddress, _ state: RecordedStep.State) {
    guard keepsRecords else { return }
    var known = RecordedStep(state)
    (known.number, known.engine) = (number, resumptions)
    let moment = lastAt
    steps.change(step) { step in
      if let earlier = step { known.keep(earlier) }
      if case .started = state { known.lastStart = known.number }
      switch state {
      case .started(attempt: 1): known.startedAt = moment
      case .started, .retrying, .finished: known.startedAt = step?.startedAt
      case .queued, .skipped: break
      }
      step = known
    }
  }

  private mutating func recordStarted(_ group: StepAddress, _ start: GroupStart) {
    guard keepsRecords else { return }
    // The group is reusable and reported again; its state has not changed.
    if start.isRestored {
      groups[group]?.isRestored = true
      return
    }
    removeSkip(of: group)
    if start.elements == 0, let known = groups[group], known.elements?.elements.isEmpty == false {
      // Its list could not be evaluated again: nothing that it had is an element of it now.
      groups[group]?.formerElements = known.allElements
      groups[group]?.elements = nil
    }
    record(group: group, .started(start))
    groups[group]?.lastStart = number
  }

  /// Keeps one state for each address, the latest: a group that was skipped as a whole starts now.
  private mutating func removeSkip(of group: StepAddress) {
    if steps[group] != nil { steps.change(group) { $0 = nil } }
  }

  /// Records that a loop or group that an earlier engine started is skipped now. Its elements stay known.
  private mutating func recordSkipped(group: StepAddress, _ reason: SkipReason) {
    guard groups[group] != nil else { return }
    record(group: group, .skipped(reason))
    groups[group]?.isRestored = false
  }

  private mutating func record(group: StepAddress, _ state: RecordedGroup.State) {
    guard keepsRecords else { return }
    groups[group, default: RecordedGroup()].state = state
    groups[group]?.number = number
  }
}
