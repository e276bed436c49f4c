package import WeftPlanning

/// Folds the events of a run into its report.
package struct ReportFold {
  private let plan: Plan
  /// The report without its steps; `nil` before `runStarted`.
  private var base: RunReport?
  /// Apart from the rest, so that they can be changed in place.
  private var steps: [StepReport] = []
  /// The indices of elements' steps in the report, after the plan's steps.
  private var places: [StepAddress: Int] = [:]
  private var groupIndices: [StepAddress: Int] = [:]
  /// Incremented with each further attempt of a group.
  private var era: UInt64 = 0
  /// The era in which a step was last reported, by its index; an era of 0 is not stored.
  private var eras: [Int: UInt64] = [:]
  /// The era in which each group began, in the order of the report.
  private var groupEras: [UInt64] = []
  private var attempts: LaterAttempts
  /// Groups that were to be tried again, whether or not their next attempt began.
  private var retriedGroups: Set<StepAddress> = []

  package init(plan: Plan) {
    self.plan = plan
    attempts = LaterAttempts(plan, exemptingCleanup: true)
  }

  /// `nil` before `runStarted`.
  package var report: RunReport? {
    guard var report = base else { return nil }
    // A loop is reported as a group once it has started. At the end of the run, steps that never started are
    // reported only as part of what contains them.
    report.steps = steps.filter { step in
      step.state != .pending || report.end == nil && groupIndices[step.address] == nil
    }
    guard report.end != nil else { return report }
    report.groups = currentGroups
    let void = reportedSteps.void
    if !void.isEmpty { report.steps.removeAll { void.contains($0.address) } }
    return report
  }

  /// The counts of the steps by their latest states, without those that a later attempt has made void.
  package var counts: OutcomeCounts {
    var attempts = attempts
    var tally = OutcomeTally(plan, groups: currentGroups)
    for (place, step) in steps.enumerated() where step.state != .pending {
      if !attempts.isVoid(step.address, reported: eras[place] ?? 0) { tally.add(step) }
    }
    return tally.counts
  }

  /// The groups without those that a later attempt of a group around them has made void.
  private var currentGroups: [GroupReport] {
    var attempts = attempts
    return zip(base?.groups ?? [], groupEras)
      .filter { group, era in !attempts.isVoid(group.address, reported: era) }.map(\.0)
  }

  /// The steps that were reported.
  package var reportedSteps: ReportedSteps {
    var reported = ReportedSteps()
    var attempts = attempts
    for (place, step) in steps.enumerated() where step.state != .pending {
      // A later attempt of an enclosing group has begun, and has not reached the step.
      if attempts.isVoid(step.address, reported: eras[place] ?? 0) {
        reported.void.insert(step.address)
      } else {
        reported.current.insert(step.address)
      }
    }
    reported.retriedGroups = retriedGroups
    return reported
  }

  /// - Parameter step: The index in the plan of the step that the event is about; `nil` for a step whose
  ///   address is not in the plan.
  package mutating func apply(_ kind: RunEvent.Kind, at elapsed: Duration, step: Int?) {
    base?.elapsed = elapsed
    switch kind {
    case .runStarted(let start):
      base = RunReport(start: start, steps: [])
      steps = plan.steps.map { StepReport(address: $0.address, state: .pending) }
    case .stepQueued(let address, _):
      change(step, address) { $0 = .queued }
    case .stepStarted(let address, let attempt):
      change(step, address) { $0 = .running(since: elapsed, attempt: attempt) }
    case .stepAsking(let address, let message):
      change(step, address) { $0 = .asking(since: elapsed, message: message) }
    case .stepWaiting(let address, let delay):
      change(step, address) { $0 = .waiting(since: elapsed, until: elapsed + delay) }
    case .stepRetrying(let address, let retry):
      change(step, address) { $0 = .retrying(after: retry.attempt, until: elapsed + retry.delay) }
    case .stepFinished(let address, let end):
      change(step, address) { $0 = .finished(end) }
    case .stepRestored(let address, let end):
      change(step, address) { $0 = .restored(end) }
    case .stepCached(let address, let end):
      change(step, address) { $0 = .cached(end) }
    case .stepSkipped(let address, let reason):
      change(step, address) { $0 = .skipped(reason) }
    case .runWarning(let warning): add(warning)
    case .runFinished(let end): base?.end = end
    case .runWaiting(let pause): base?.pause = pause
    case .groupStarted(let address, let start): begin(address, start, at: elapsed)
    case .groupRetrying(let address, let retry):
      retriedGroups.insert(address)
      set(group: address, .retrying(until: elapsed + retry.delay))
    case .groupFinished(let address, let end): set(group: address, .finished(end))
    case .stepOutput, .runCancelling, .outputDropped, .snapshot: break
    }
  }

  private mutating func add(_ warning: RunWarning) {
    guard let count = base?.warnings.count, count < RunReport.warningLimit else { return }
    base?.warnings.append(warning)
  }

  /// Applies an event that changes a step's state. Takes a closure, since the states of ends are large.
  @inline(__always)
  package mutating func change(
    _ step: Int?, _ address: StepAddress, _ change: (inout StepState) -> Void
  ) {
    let place = place(step, address)
    if era > 0 { eras[place] = era }
    change(&steps[place].state)
  }

  /// The index of a step in the report.
  package mutating func place(_ step: Int?, _ address: StepAddress) -> Int {
    if let place = step ?? places[address] { return place }
    places[address] = steps.count
    steps.append(StepReport(address: address, state: .pending))
    return steps.count - 1
  }

  private mutating func begin(_ group: StepAddress, _ start: GroupStart, at time: Duration) {
    if start.attempt > 1, !start.isRestored {
      attempts.begin(group, at: era)
      era += 1
    }
    let known = GroupReport(address: group, start: start, state: .running(since: time))
    if let place = groupIndices[group] {
      base?.groups[place] = known
      groupEras[place] = era
    } else {
      groupIndices[group] = base?.groups.count
      base?.groups.append(known)
      groupEras.append(era)
    }
  }

  private mutating func set(group: StepAddress, _ state: GroupState) {
    guard let place = groupIndices[group] else { return }
    base?.groups[place].state = state
  }
}

/// The steps that one engine of a run has reported.
package struct ReportedSteps: Sendable {
  package var current: Set<StepAddress> = []
  /// Steps of an attempt of a group that was followed by another attempt, which has not reached them.
  package var void: Set<StepAddress> = []
  package var retriedGroups: Set<StepAddress> = []
}
