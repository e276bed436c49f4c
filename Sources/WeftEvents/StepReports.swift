import WeftDefinition
package import WeftPlanning

/// The states of all steps and groups of a plan under one engine, for its report and its counts.
struct StepReports: Sendable {
  let plan: Plan
  /// Whether steps are found by their addresses alone.
  private let findsSteps: Bool
  private(set) var hasBegun = false
  /// The plan's steps, then those of elements.
  private var steps: [StepReport] = []
  /// The indices in `steps` of elements' steps, and of the plan's if `findsSteps`.
  private var places: [StepAddress: Int] = [:]
  private var groups: [GroupReport] = []
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

  init(_ plan: Plan, findsSteps: Bool = false) {
    (self.plan, self.findsSteps) = (plan, findsSteps)
    attempts = LaterAttempts(plan, exemptingCleanup: true)
  }

  mutating func begin() {
    close()
    hasBegun = true
    steps = plan.steps.map { StepReport(address: $0.address, state: .pending) }
    guard findsSteps else { return }
    for (index, step) in plan.steps.enumerated().reversed() { places[step.address] = index }
  }

  /// Forgets everything: another engine has resumed the run.
  mutating func close() {
    self = StepReports(plan, findsSteps: findsSteps)
  }

  /// Changes the state of a step. Takes a closure, since the states of ends are large.
  ///
  /// - Parameter step: The index in the plan of the step; `nil` for a step whose address is not in the plan.
  @inline(__always)
  mutating func change(
    _ step: Int?, _ address: StepAddress, _ change: (inout StepState) -> Void
  ) {
    // A journal can contain records of steps from before `runStarted`; an engine emits no such events.
    guard hasBegun else { return }
    let place = place(step, address)
    if era > 0 { eras[place] = era }
    change(&steps[place].state)
  }

  /// The index of a step in the report.
  mutating func place(_ step: Int?, _ address: StepAddress) -> Int {
    if let place = step ?? places[address] { return place }
    places[address] = steps.count
    steps.append(StepReport(address: address, state: .pending))
    return steps.count - 1
  }

  mutating func begin(_ group: StepAddress, _ start: GroupStart, at time: Duration) {
    guard hasBegun else { return }
    if start.attempt > 1, !start.isRestored {
      attempts.begin(group, at: era)
      era += 1
    }
    let known = GroupReport(address: group, start: start, state: .running(since: time))
    if let place = groupIndices[group] {
      groups[place] = known
      groupEras[place] = era
    } else {
      groupIndices[group] = groups.count
      groups.append(known)
      groupEras.append(era)
    }
  }

  mutating func retry(_ group: StepAddress, until time: Duration) {
    guard hasBegun else { return }
    retriedGroups.insert(group)
    set(group: group, .retrying(until: time))
  }

  mutating func set(group: StepAddress, _ state: GroupState) {
    if let place = groupIndices[group] { groups[place].state = state }
  }
}

// MARK: Views

extension StepReports {
  /// The steps for a report.
  ///
  /// A loop is reported as a group once it has started. At the end of the run, steps that never started are reported only
  /// as part of what contains them, and those that a later attempt has made void not at all.
  ///
  /// - Parameter isFinal: Whether the run has ended.
  func steps(isFinal: Bool) -> [StepReport] {
    guard isFinal else {
      return steps.filter { $0.state != .pending || groupIndices[$0.address] == nil }
    }
    var reported: [StepReport] = []
    // At the end of nearly every run, that is all of them.
    reported.reserveCapacity(steps.count)
    visitReported { step, isVoid in
      if !isVoid { reported.append(step) }
    }
    return reported
  }

  /// The groups for a report; for a final one, without those that a later attempt of a group around them has made void.
  func groups(isFinal: Bool) -> [GroupReport] {
    guard isFinal else { return groups }
    var attempts = attempts
    return zip(groups, groupEras)
      .filter { group, era in !attempts.isVoid(group.address, reported: era) }.map(\.0)
  }

  /// The steps whose reported states a later attempt has made void.
  var voidSteps: Set<StepAddress> {
    if attempts.since.isEmpty { return [] }
    var void: Set<StepAddress> = []
    visitReported { step, isVoid in
      if isVoid { void.insert(step.address) }
    }
    return void
  }

  /// The steps that were reported.
  var reportedSteps: ReportedSteps {
    var reported = ReportedSteps()
    visitReported { step, isVoid in
      // A later attempt of an enclosing group has begun, and has not reached the step.
      if isVoid {
        reported.void.insert(step.address)
      } else {
        reported.current.insert(step.address)
      }
    }
    reported.retriedGroups = retriedGroups
    return reported
  }

  /// The counts of the steps by their latest states, without those that a later attempt has made void.
  var counts: OutcomeCounts {
    var tally = OutcomeTally(plan, groups: groups(isFinal: true))
    visitReported { step, isVoid in
      if !isVoid { tally.add(step) }
    }
    return tally.counts
  }

  /// - Parameter visit: Called with each step that has a state, and whether a later attempt has made that void.
  private func visitReported(_ visit: (StepReport, Bool) -> Void) {
    var attempts = attempts
    for (place, step) in steps.enumerated() where step.state != .pending {
      visit(step, attempts.isVoid(step.address, reported: eras[place] ?? 0))
    }
  }
}

/// The steps that one engine of a run has reported.
package struct ReportedSteps: Sendable {
  package var current: Set<StepAddress> = []
  /// Steps of an attempt of a group that was followed by another attempt, which has not reached them.
  package var void: Set<StepAddress> = []
  package var retriedGroups: Set<StepAddress> = []
}

/// Counts how the steps of a run have ended: each step once, by its latest state.
struct OutcomeTally {
  private var tolerance: EnclosingTolerance
  private(set) var counts = OutcomeCounts()

  init(_ plan: Plan, groups: [GroupReport]) {
    var ends: [StepAddress: GroupEnd] = [:]
    for group in groups {
      guard case .finished(let end) = group.state else { continue }
      ends[group.address] = end
      if let notStarted = end.notStarted { counts.add(notStarted.outcome, steps: notStarted.steps) }
    }
    tolerance = EnclosingTolerance(plan, ends)
  }

  mutating func add(_ step: StepReport) {
    switch step.state {
    case .finished(let end): add(end, of: step.address)
    case .restored(let end):
      counts.restored += 1
      add(end, of: step.address)
    case .cached(let end):
      counts.cached += 1
      add(end, of: step.address)
    case .skipped(let reason): counts.add(reason.outcome)
    case .pending, .queued, .running, .asking, .waiting, .retrying: break
    }
  }

  private mutating func add(_ end: StepEnd, of step: StepAddress) {
    counts.add(end)
    if end.outcome == .failure, end.conclusion != .success, tolerance.absorbs(step) {
      counts.tolerate(1)
    }
  }
}

/// Decides whether a failure is tolerated by what encloses it: a group or loop that has ended otherwise than by failure.
package struct EnclosingTolerance {
  private let plan: Plan
  private let ends: [StepAddress: GroupEnd]
  private lazy var addresses = PlanAddresses(plan)

  /// - Parameter ends: The groups and loops that have ended.
  package init(_ plan: Plan, _ ends: [StepAddress: GroupEnd]) {
    (self.plan, self.ends) = (plan, ends)
  }

  /// Whether the failure of a step, group or loop is tolerated around it. A failed cleanup step fails its whole file.
  package mutating func absorbs(_ address: StepAddress) -> Bool {
    if ends.isEmpty { return false }
    let addresses = addresses
    let step = addresses.step(at: address)
    guard let group = step.map({ plan.steps[$0].group }) ?? parent(of: address, addresses) else {
      return false
    }
    let isCleanup = step.map(plan.bodies.cleanupSteps.contains) ?? false
    if !isCleanup, let loop = address.loop, isTolerant(loop) { return true }
    return plan.allEnclosingGroups(ofGroup: group).contains { around in
      if isCleanup, plan.groups[around].file == plan.groups[group].file { return false }
      guard let planned = plan.groups[around].address else { return false }
      return addresses.instances(of: planned, around: address).contains {
        $0 != address && isTolerant($0)
      }
    }
  }

  private func parent(of group: StepAddress, _ addresses: PlanAddresses) -> Int? {
    addresses.group(at: group).flatMap { plan.groups[$0].parent }
  }

  private func isTolerant(_ group: StepAddress) -> Bool {
    ends[group].map { $0.conclusion != .failure } ?? false
  }
}

/// Decides whether a recorded state of a step is void because a group around the step was tried again later.
///
/// It compares the number under which the state was recorded with the one under which the group's latest attempt
/// began. ``RunEngine/settleSteps()`` asks it with the numbers of records when a run ends, ``StepReports`` with its own
/// eras.
package struct LaterAttempts {
  private let plan: Plan
  package private(set) var since: [StepAddress: UInt64]
  private lazy var addresses = PlanAddresses(plan)
  private let exemptsCleanup: Bool

  /// - Parameter exemptsCleanup: Whether states of cleanup steps stay valid when the group is tried again.
  package init(
    _ plan: Plan, since: [StepAddress: UInt64] = [:], exemptingCleanup exemptsCleanup: Bool
  ) {
    (self.plan, self.since, self.exemptsCleanup) = (plan, since, exemptsCleanup)
  }

  package mutating func begin(_ group: StepAddress, at number: UInt64) { since[group] = number }

  /// Whether a later attempt of a group around the step voids what was recorded about the step under this number.
  package mutating func isVoid(_ step: StepAddress, reported number: UInt64) -> Bool {
    guard !since.isEmpty, let group = group(around: step) else { return false }
    let addresses = addresses
    return plan.allEnclosingGroups(ofGroup: group).contains { group in
      guard let planned = plan.groups[group].address else { return false }
      return addresses.instances(of: planned, around: step).contains { known in
        since[known].map { number <= $0 } ?? false
      }
    }
  }

  private mutating func group(around address: StepAddress) -> Int? {
    if let step = addresses.step(at: address) {
      return exemptsCleanup && plan.bodies.cleanupSteps.contains(step)
        ? nil : plan.steps[step].group
    }
    return addresses.group(at: address).flatMap { plan.groups[$0].parent }
  }
}
