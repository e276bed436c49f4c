import WeftDefinition
import WeftPlanning

/// Decides what a failure, a time limit or a cancellation means for the rest of a run.
///
/// Every group is a scope, the top level the outermost. A failure acts within the nearest scope that
/// tolerates it, or else within the whole run: there `onFailure` holds for everything that has not
/// started, and under `cancel` for what is running, too.
struct Scopes {
  /// What is to be done about steps, now that something has been decided.
  enum Response: Hashable {
    case nothing
    /// Those of the range that wait for a slot are turned away; those that run go on.
    case holdBack(Range<Int>)
    /// Those that wait are turned away, those that run are stopped.
    case cancel(Range<Int>)
    /// The same for everything there is.
    case cancelRun(CancelReason)
  }

  /// Who failed, and of what.
  struct Fault: Hashable {
    let address: StepAddress
    let failure: StepFailure
  }

  private enum State {
    case open
    /// Nothing new starts; with `stopping`, what runs is being ended too.
    case held(by: StepAddress, stopping: Bool)
    case cancelling(CancelReason)
  }

  private struct Scope {
    var state = State.open
    /// The first failure inside, tolerated by this scope or not.
    var firstFault: Fault?
    /// The first that this scope does not tolerate.
    var firstUntolerated: Fault?
    var timedOut: StepFailure?
  }

  private let plan: Plan
  private let onFailure: FailureResponse
  private let stepRanges: [Range<Int>]
  private var scopes: [Scope]

  init(plan: Plan, onFailure: FailureResponse) {
    self.plan = plan
    self.onFailure = onFailure
    stepRanges = plan.stepRanges()
    scopes = Array(repeating: Scope(), count: plan.groups.count)
  }

  // MARK: May it start?

  /// Why a node in this group must not start, as `results` of what it waits for and the scopes around
  /// it stand; `nil` if it may. What comes first in this order is told: a cancellation, a dependency
  /// that did not succeed, a failure elsewhere that holds everything back.
  func obstacle(inGroup group: Int, after results: [NodeResult]) -> SkipReason? {
    if let reason = cancellation(ofGroup: group) { return .cancelled(reason) }
    if let failed = results.first(where: { $0.conclusion != .success }) {
      guard let blame = failed.blame else {
        preconditionFailure("only a run that is being cancelled has failures without a culprit")
      }
      return .dependencyFailed(blame)
    }
    for scope in plan.enclosingGroups(ofGroup: group) {
      if case .held(let address, _) = scopes[scope].state { return .heldBack(by: address) }
    }
    return nil
  }

  /// Why the group, or one around it, is being cancelled.
  func cancellation(ofGroup group: Int) -> CancelReason? {
    for scope in plan.enclosingGroups(ofGroup: group) {
      if case .cancelling(let reason) = scopes[scope].state { return reason }
    }
    return nil
  }

  /// Why something that runs in this group is being stopped; `nil` if it is not.
  func reasonToStop(inGroup group: Int) -> CancelReason? {
    for scope in plan.enclosingGroups(ofGroup: group) {
      switch scopes[scope].state {
      case .cancelling(let reason): return reason
      case .held(let address, stopping: true): return .failure(of: address)
      case .held(_, stopping: false), .open: break
      }
    }
    return nil
  }

  // MARK: What has happened

  /// A step has failed, and its own `allowFailure` does not tolerate it.
  mutating func stepFailed(_ step: PlannedStep, _ failure: StepFailure) -> Response {
    failed(Fault(address: step.address, failure: failure), inside: step.group)
  }

  /// The time limit of a group has passed.
  mutating func timeLimitPassed(ofGroup index: Int, after limit: Duration) -> Response {
    guard let address = plan.groups[index].address, cancellation(ofGroup: index) == nil else {
      return .nothing
    }
    scopes[index].timedOut = .timedOut(after: limit)
    scopes[index].state = .cancelling(.groupTimeout(address, limit))
    return .cancel(stepRanges[index])
  }

  /// The run as a whole is to end.
  ///
  /// - Returns: `nil` if it is being ended already, be it for a failure.
  mutating func runCancelled(_ reason: CancelReason) -> Response? {
    switch scopes[0].state {
    case .cancelling, .held(_, stopping: true): return nil
    case .open, .held(_, stopping: false): break
    }
    scopes[0].state = .cancelling(reason)
    return .cancelRun(reason)
  }

  /// Why the run as a whole is being cancelled.
  var runCancellation: CancelReason? {
    if case .cancelling(let reason) = scopes[0].state { reason } else { nil }
  }

  /// The first failure that the run does not survive.
  var firstFault: Fault? { scopes[0].firstUntolerated }

  private mutating func failed(_ fault: Fault, inside innermost: Int) -> Response {
    for index in Array(plan.enclosingGroups(ofGroup: innermost)) {
      if scopes[index].firstFault == nil { scopes[index].firstFault = fault }
      let tolerance = plan.groups[index].step?.allowFailure ?? .none
      if tolerance.tolerates(fault.failure.classes) { return close(index, because: fault.address) }
      if scopes[index].firstUntolerated == nil { scopes[index].firstUntolerated = fault }
    }
    return close(0, because: fault.address)
  }

  private mutating func close(_ index: Int, because address: StepAddress) -> Response {
    guard case .open = scopes[index].state else { return .nothing }
    switch onFailure {
    case .continue: return .nothing
    case .stop:
      scopes[index].state = .held(by: address, stopping: false)
      return .holdBack(stepRanges[index])
    case .cancel:
      // What has not started is held back and not cancelled: nobody asked for it to end.
      scopes[index].state = .held(by: address, stopping: true)
      return index == 0 ? .cancelRun(.failure(of: address)) : .cancel(stepRanges[index])
    }
  }

  /// A group has failed by itself, and not by a member.
  mutating func failed(group index: Int, _ failure: StepFailure) -> (Verdict, Response) {
    let group = plan.groups[index]
    guard let address = group.address else { preconditionFailure("the top level is no group") }
    let tolerance = group.step?.allowFailure ?? .none
    if tolerance.tolerates(failure.classes), scopes[index].firstUntolerated == nil {
      return (Verdict(outcome: .failure, conclusion: .success, failure: failure), .nothing)
    }
    let response = failed(Fault(address: address, failure: failure), inside: group.parent ?? 0)
    let verdict = Verdict(
      outcome: .failure, conclusion: .failure, failure: failure, blame: address)
    return (verdict, response)
  }

  // MARK: The end of a group

  /// How a group has ended.
  struct Verdict: Hashable {
    var outcome: Outcome
    var conclusion: Outcome
    var failure: StepFailure?
    var cause: StepAddress?
    var blame: StepAddress?
  }

  /// Everything in the group has ended; a group that timed out fails by that, and its failure counts in
  /// the scopes around it as a step's would.
  mutating func end(ofGroup index: Int, members: [NodeResult]) -> (Verdict, Response) {
    let scope = scopes[index]
    if let failure = scope.timedOut { return failed(group: index, failure) }
    if let fault = scope.firstUntolerated ?? scope.firstFault {
      let isTolerated = scope.firstUntolerated == nil
      let verdict = Verdict(
        outcome: .failure, conclusion: isTolerated ? .success : .failure, failure: fault.failure,
        cause: fault.address, blame: isTolerated ? nil : fault.address)
      return (verdict, .nothing)
    }
    for outcome in [Outcome.cancelled, .skipped] {
      if let member = members.first(where: { $0.conclusion == outcome }) {
        return (Verdict(outcome: outcome, conclusion: outcome, blame: member.blame), .nothing)
      }
    }
    return (Verdict(outcome: .success, conclusion: .success), .nothing)
  }
}

extension Plan {
  /// For each group the steps inside it, at any depth, as a range of indices into ``steps``.
  func stepRanges() -> [Range<Int>] {
    // How many steps stand before each node.
    var before = [0]
    before.reserveCapacity(nodes.count + 1)
    for node in nodes {
      if case .step = node { before.append(before.last! + 1) } else { before.append(before.last!) }
    }
    return groups.map { group in
      before[max(0, group.startNode + 1)]..<before[min(nodes.count, group.endNode)]
    }
  }
}

extension StepFailure {
  static func timedOut(after limit: Duration) -> StepFailure {
    StepFailure(classes: [.timeout], message: "timed out after \(DurationText.text(of: limit))")
  }
}
