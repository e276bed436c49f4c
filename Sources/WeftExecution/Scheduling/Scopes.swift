import WeftDefinition
import WeftEvents
import WeftPlanning

/// Decides what a failure, a time limit or a cancellation means for the rest of a run.
///
/// Every group is a scope; the top level is the outermost. So is every loop, every element of one, and every attempt
/// of a retried group. A failure takes effect within the nearest scope that absorbs it, or else within the whole run.
/// There `onFailure` applies to everything that has not started and, with `cancel`, to what is running too. What a
/// scope has absorbed passes outward only if the scope itself fails.
///
/// ``RunEngine`` reports failures, time limits and cancellations to it under its lock, executes the ``Response`` after
/// it, and asks it before each start whether the scope is open.
struct Scopes {
  /// The effects of a decision on the steps of a scope.
  enum Response: Hashable {
    case nothing
    /// Waiting steps in the scope are refused; running ones continue.
    case blockScope(Int)
    /// Waiting steps in the scope are refused, and running ones are stopped.
    case cancel(Int)
    /// Waiting steps of the whole run are refused, and running ones are stopped.
    case cancelRun(CancelReason)
  }

  /// A failure, and the step or group that failed.
  struct Failure: Hashable {
    let address: StepAddress
    let failure: StepFailure

    /// Whether the failure is that of a step in doubt: an engine was killed while the step was running.
    var isDoubt: Bool { failure.classes.contains(.inDoubt) }
  }

  /// The way in which a scope handles failures inside it.
  enum FailureBoundary: Hashable {
    /// Not a failure boundary: a failure takes effect in the enclosing scope at once.
    case none
    /// A failure blocks the steps of the scope that have not started, as `onFailure` says; the rest is decided when
    /// the scope ends.
    case holding
    /// A failure blocks nothing: other members may still succeed.
    case waiting
  }

  enum State {
    case open
    /// Nothing new starts; with `stopping`, running steps are terminated too.
    case held(by: StepAddress, stopping: Bool)
    case cancelling(CancelReason)
    /// The group was skipped, and so is everything in it.
    case notStarted(SkipReason)
  }

  struct Scope {
    /// The enclosing scope; -1 for detached scopes.
    var parent: Int
    /// The address of the group, in its instance; `nil` for the top level, and for the scopes that stand for a loop, an
    /// element or an attempt.
    var address: StepAddress?
    var tolerance = FailureTolerance.none
    var boundary = FailureBoundary.none
    var state = State.open
    /// The immunity of everything in the scope to what happens further out.
    var immunity = Immunity.none
    /// The first failure inside, tolerated by this scope or not.
    var firstFault: Failure?
    /// The first failure that this scope does not tolerate.
    var firstUntolerated: Failure?
    /// The steps and groups whose failures this scope tolerates; the group itself for one of its own.
    var tolerated: Set<StepAddress> = []
    /// Whether something that the group depends on, at any distance, had failed when it started.
    var failedBefore = false
    var timedOut: StepFailure?
    /// Whether the time limit of the nested file that the group runs has passed.
    var isFileOverdue = false
    /// The response to a failure for the other steps of the scope.
    var response = FailureResponse.stop
    /// The scope of the file that contains it: that of the step that runs the file, or 0.
    var file = 0
    /// The scope at whose end the steps of a detached scope run; -1 for others.
    var closed = -1

    /// Keeps the first failure that is not tolerated here. A step in doubt takes precedence over any other, since no
    /// scope further out may tolerate it either.
    fileprivate mutating func record(untolerated fault: Failure) {
      if firstUntolerated == nil || fault.isDoubt && !isInDoubt { firstUntolerated = fault }
    }

    /// Whether a step in it is in doubt. The scope then fails by that, whatever else succeeded in it.
    var isInDoubt: Bool { firstUntolerated?.isDoubt == true }
  }

  /// The response to failures that overrides those of all files.
  let onFailure: FailureResponse?
  /// Whether the cancellation of the run affected something that does not count as cancelled: a step that runs in
  /// spite of it, or is not retried because of it.
  private(set) var cancellationHasActed = false
  private var scopes: [Scope]
  /// Whether every scope is open and without immunity, as in most runs until their end. Then no scope around a step
  /// needs a look.
  private(set) var isQuiet = true
  /// The first failure of a cleanup or `finally` step, by file.
  private var closingFaults: [Int: Failure] = [:]
  /// Scopes that are no longer in use.
  private var unused = FreeList()

  init(plan: Plan, onFailure: FailureResponse?) {
    self.onFailure = onFailure
    scopes = []
    scopes.reserveCapacity(plan.groups.count)
    for index in plan.groups.indices {
      scopes.append(Scope(of: index, in: plan, parent: nil))
      scopes[index].response = response(inGroup: index, of: plan)
    }
    // The run is the last failure boundary.
    scopes[0].boundary = .holding
  }

  /// Whether a scope is another one, or encloses it.
  func scope(_ outer: Int, isAround inner: Int) -> Bool {
    outwards(from: inner).contains(outer)
  }

  /// A scope and those around it, from the innermost outwards.
  private func outwards(from scope: Int) -> some Sequence<Int> {
    sequence(state: scope) { next in
      if next < 0 { return nil }
      defer { next = scopes[next].parent }
      return next
    }
  }

  // MARK: Queries

  /// The reason why nothing in this scope may start, whatever its condition: a scope around it never started.
  func absence(of scope: Int) -> SkipReason? {
    if isQuiet { return nil }
    for scope in outwards(from: scope) {
      if case .notStarted(let reason) = scopes[scope].state { return reason }
    }
    return nil
  }

  /// The reason why a node in this scope must not start, given the results of its dependencies and the scopes around
  /// it; `nil` if it may. The first in this order is reported: a cancellation, a dependency that did not succeed, a
  /// failure elsewhere that blocks everything.
  func obstacle(in scope: Int, after results: NodeResults) -> SkipReason? {
    if let reason = absence(of: scope) { return reason }
    if let reason = cancellation(of: scope) { return .cancelled(reason) }
    return obstacle(after: results) ?? holder(of: scope).map { .heldBack(by: $0) }
  }

  private func obstacle(after results: NodeResults) -> SkipReason? {
    guard let failed = results.first(where: \.blocksDependents) else { return nil }
    // Without a cause, the run is being cancelled, though its `finally` is not.
    guard let causingStep = failed.causingStep else {
      return .cancelled(runCancellation ?? .requested)
    }
    return .dependencyFailed(causingStep)
  }

  /// The reason why a group that an earlier engine started does not go on. Neither a cancellation nor a failure elsewhere
  /// undoes its start: they end its members, and its `finally` runs.
  func obstacle(toGoOnIn scope: Int, after results: NodeResults) -> SkipReason? {
    absence(of: scope) ?? obstacle(after: results)
  }

  /// The reason why a step that was admitted with this immunity may not proceed after all.
  func obstacle(in scope: Int, immune immunity: Immunity) -> SkipReason? {
    switch immunity {
    case .none: obstacle(in: scope, after: [])
    case .fromFailures: cancellation(of: scope).map { .cancelled($0) }
    case .fromCancellation: nil
    }
  }

  /// The result of something in a group as it counts outside of the group: a failure that the group tolerates does not.
  func result(_ result: NodeResult, outside scope: Int) -> NodeResult {
    let scope = scopes[scope]
    guard scope.tolerance != .none else { return result }
    let failedBefore = scope.failedBefore || scope.firstUntolerated != nil
    guard result.blocksDependents else {
      return NodeResult(
        conclusion: result.conclusion, causingStep: nil, blocksDependents: false,
        failedBefore: result.hasFailed && failedBefore)
    }
    guard let cause = result.causingStep, scope.tolerated.contains(cause) else { return result }
    return NodeResult(conclusion: .success, causingStep: nil, failedBefore: failedBefore)
  }

  private func holder(of scope: Int) -> StepAddress? {
    if isQuiet { return nil }
    for scope in outwards(from: scope) {
      if case .held(let address, _) = scopes[scope].state { return address }
      if isImmune(scope) { return nil }
    }
    return nil
  }

  /// The reason why the scope is being cancelled, or one around it to which it is not immune; `nil` if neither is.
  func cancellation(of scope: Int) -> CancelReason? {
    if isQuiet { return nil }
    var isImmune = false
    for scope in outwards(from: scope) {
      if case .cancelling(let reason) = scopes[scope].state, scope != 0 || !isImmune {
        return reason
      }
      isImmune = isImmune || scopes[scope].immunity == .fromCancellation
    }
    return nil
  }

  /// Whether the scope itself is being cancelled.
  func isCancelling(_ scope: Int) -> Bool {
    if case .cancelling = scopes[scope].state { true } else { false }
  }

  /// Whether the scope or any around it is being cancelled, regardless of immunity.
  func isBeingCancelled(_ scope: Int) -> Bool {
    !isQuiet && outwards(from: scope).contains(where: isCancelling)
  }

  /// Whether the scope that the cleanup or `finally` step in this scope closes was ended early, or one around it is.
  ///
  /// - Parameter hasFailed: Whether something failed in it. Under `cancel`, it is then not a failure elsewhere that ended
  ///   it.
  func isClosedEarly(_ scope: Int, hasFailed: Bool) -> Bool {
    if isQuiet { return false }
    var (next, closed, isSpared) = (scope, -1, hasFailed)
    while next >= 0 {
      switch scopes[next].state {
      // The end of a race or join is not that of the members which have won it.
      case .cancelling(let reason) where next != closed || !reason.isDecision: return true
      case .held(_, stopping: true) where !isSpared: return true
      case .open, .held, .cancelling, .notStarted: break
      }
      isSpared = isSpared || isImmune(next)
      if scopes[next].parent < 0 {
        closed = scopes[next].closed
        // To its `finally`, the time limit of a nested file is that of a run.
        if closed >= 0, scopes[closed].isFileOverdue { return true }
      }
      next = scopes[next].parent < 0 ? closed : scopes[next].parent
    }
    return false
  }

  /// Starts a group with immunity to what happened around it, which extends to its members. It becomes a failure
  /// boundary, so that its own failures block the rest of it; further out they could not.
  mutating func grantImmunity(_ scope: Int, by immunity: Immunity) {
    scopes[scope].immunity = immunity
    guard immunity != .none else { return }
    isQuiet = false
    if scopes[scope].boundary == .none { scopes[scope].boundary = .holding }
  }

  /// The immunity that a group has of its own.
  func immunity(of scope: Int) -> Immunity { scopes[scope].immunity }

  /// Whether a group has immunity of its own.
  func isImmune(_ scope: Int) -> Bool { scopes[scope].immunity != .none }

  /// The immunity that the groups around a step give it.
  func grantImmunity(in scope: Int) -> Immunity {
    if isQuiet { return .none }
    return outwards(from: scope).reduce(.none) { max($0, scopes[$1].immunity) }
  }

  /// The reason why a running step in this scope is being stopped; `nil` if it is not.
  func cancelReason(in scope: Int) -> CancelReason? {
    if isQuiet { return nil }
    if let reason = cancellation(of: scope) { return reason }
    for scope in outwards(from: scope) {
      if case .held(let address, stopping: true) = scopes[scope].state {
        return .failure(of: address)
      }
      if isImmune(scope) { return nil }
    }
    return nil
  }

  // MARK: Changes

  /// Handles a failure in the scope that the failed step itself does not tolerate.
  mutating func failed(_ fault: Failure, in innermost: Int) -> Response {
    var next = innermost
    while next >= 0 {
      if scopes[next].firstFault == nil { scopes[next].firstFault = fault }
      let isTolerated = scopes[next].tolerance.tolerates(fault.failure.classes)
      if isTolerated {
        scopes[next].tolerated.insert(fault.address)
      } else {
        scopes[next].record(untolerated: fault)
      }
      switch scopes[next].boundary {
      case .none where !isTolerated: next = scopes[next].parent
      case .none, .holding: return hold(next, because: fault.address)
      case .waiting: return .nothing
      }
    }
    return .nothing
  }

  /// Keeps a failure of an element, which takes effect only when the loop no longer tolerates the failures.
  mutating func record(_ fault: Failure, in scope: Int) {
    scopes[scope].record(untolerated: fault)
  }

  /// Makes a group tolerate whatever fails in it.
  mutating func tolerateAll(in scope: Int) { scopes[scope].tolerance = .all }

  /// Records that a group starts, or fails at its start, and whether something that it depends on had failed.
  mutating func begin(_ scope: Int, failedBefore: Bool) {
    scopes[scope].failedBefore = failedBefore
  }

  /// Records that a group is skipped.
  mutating func skip(_ scope: Int, _ reason: SkipReason) {
    enter(.notStarted(reason), scope)
  }

  /// Handles the end of a group's time limit.
  mutating func timeLimitPassed(of scope: Int, after limit: Duration) -> Response {
    guard let address = scopes[scope].address else { return .nothing }
    // In a group that is being cancelled anyway, the limit only ends what is immune to that.
    if cancellation(of: scope) == nil {
      let failure = StepFailure.timedOut(after: limit)
      scopes[scope].timedOut = failure
      if scopes[scope].tolerance.tolerates(failure.classes) {
        scopes[scope].tolerated.insert(address)
      }
    }
    let (parent, file) = (scopes[scope].parent, scopes[scope].file)
    if parent > 0, parent == file { scopes[file].isFileOverdue = true }
    return cancel(scope, .groupTimeout(address, limit))
  }

  /// Cancels everything in the scope.
  mutating func cancel(_ scope: Int, _ reason: CancelReason) -> Response {
    guard !isCancelling(scope) else { return .nothing }
    enter(.cancelling(reason), scope)
    return .cancel(scope)
  }

  /// Cancels the run as a whole.
  ///
  /// - Returns: `nil` if it is being cancelled already, or stopped because of a failure.
  mutating func runCancelled(_ reason: CancelReason) -> Response? {
    switch scopes[0].state {
    case .cancelling, .held(_, stopping: true): return nil
    case .open, .held(_, stopping: false), .notStarted: break
    }
    enter(.cancelling(reason), 0)
    return .cancelRun(reason)
  }

  /// Records that the cancellation of the run, if there is one, affected a step: it starts, continues, or is not
  /// retried.
  mutating func recordCancellationEffect() {
    if runCancellation != nil { cancellationHasActed = true }
  }

  /// The reason why the run as a whole is being cancelled.
  var runCancellation: CancelReason? {
    if case .cancelling(let reason) = scopes[0].state { reason } else { nil }
  }

  /// The first failure that fails the run.
  var firstFault: Failure? { scopes[0].firstUntolerated ?? closingFaults[0] }

  /// The first failure that a scope has absorbed and does not tolerate.
  func boundaryFault(of scope: Int) -> Failure? { scopes[scope].firstUntolerated }

  private mutating func enter(_ state: State, _ scope: Int) {
    scopes[scope].state = state
    isQuiet = false
  }

  mutating func hold(_ index: Int, because address: StepAddress) -> Response {
    guard case .open = scopes[index].state else { return .nothing }
    switch scopes[index].response {
    case .continue: return .nothing
    case .stop:
      enter(.held(by: address, stopping: false), index)
      return .blockScope(index)
    case .cancel:
      // Steps that have not started are blocked, not cancelled: no one requested their end.
      enter(.held(by: address, stopping: true), index)
      return index == 0 ? .cancelRun(.failure(of: address)) : .cancel(index)
    }
  }
}

extension StepFailure {
  static func timedOut(after limit: Duration) -> StepFailure {
    StepFailure(classes: [.timeout], message: "timed out after \(DurationText.text(of: limit))")
  }
}

/// Scopes of instances, which exist while an element, an attempt or a file is run.
extension Scopes {
  /// Opens a scope, and after it those of groups.
  ///
  /// - Parameters:
  ///   - parent: The enclosing scope; `nil` for a detached scope.
  ///   - file: The scope of the file that contains it; `nil` for the file of the enclosing scope.
  ///   - addresses: Maps the plan's addresses of the groups to those in the instance.
  mutating func open(
    in parent: Int?, boundary: FailureBoundary, groups: Range<Int> = 0..<0,
    of plan: Plan,
    inFile file: Int? = nil, addresses: (StepAddress) -> StepAddress = { $0 }
  ) -> Int {
    let first: Int
    if let reused = unused.take(1 + groups.count) {
      first = reused
    } else {
      first = scopes.count
      for _ in 0...groups.count { scopes.append(Scope(parent: -1)) }
    }
    scopes[first] = Scope(parent: parent ?? -1)
    scopes[first].boundary = boundary
    scopes[first].file = file ?? scopes[max(parent ?? 0, 0)].file
    scopes[first].response =
      groups.first.map { response(inGroup: $0, of: plan) } ?? scopes[parent ?? 0].response
    for group in groups {
      let number = first + 1 + group - groups.lowerBound
      let around = plan.groups[group].parent ?? 0
      let parent = groups.contains(around) ? first + 1 + around - groups.lowerBound : first
      scopes[number] = Scope(of: group, in: plan, parent: parent)
      scopes[number].file = plan.groups[group].isTopLevel ? parent : scopes[parent].file
      scopes[number].address = plan.groups[group].address.map(addresses)
      scopes[number].response = response(inGroup: group, of: plan)
    }
    return first
  }

  /// The response to failures that the file of a group's members declares. A failure ends no other step of `finally`.
  func response(inGroup group: Int, of plan: Plan) -> FailureResponse {
    let nested = plan.file(runByGroup: group)
    let response =
      onFailure ?? plan.files[nested ?? plan.groups[group].file].workflow.onFailure
    return response == .cancel && nested == nil && plan.isFinal(group) ? .stop : response
  }

  /// Releases scopes, whose numbers may then be reused.
  mutating func close(_ first: Int, groups: Range<Int> = 0..<0) {
    unused.put(first, length: 1 + groups.count)
  }
}

extension Scopes.Scope {
  init(of index: Int, in plan: Plan, parent: Int?) {
    let group = plan.groups[index]
    self.init(
      parent: parent ?? group.parent ?? -1, address: group.address,
      tolerance: group.step?.allowFailure ?? .none,
      boundary: group.endsEarly ? .waiting : .none)
  }
}

/// The outcome of groups, and the scopes of cleanups and `finally`.
extension Scopes {
  // MARK: Detached scopes

  /// Opens a scope for cleanups: a failure boundary that cancelling the run does not reach.
  mutating func openClosing(of plan: Plan, in scope: Int) -> Int {
    let closing = open(in: nil, boundary: .waiting, of: plan, inFile: scopes[scope].file)
    scopes[closing].closed = scope
    return closing
  }

  /// Opens a scope for `finally` of a file, and those of the groups in it.
  ///
  /// - Parameter closed: The scope whose end it follows.
  mutating func openFinally(
    _ groups: Range<Int>, of plan: Plan, inFile file: Int, closing closed: Int,
    addresses: (StepAddress) -> StepAddress
  ) -> Int {
    let finally = open(
      in: nil, boundary: .holding, groups: groups, of: plan, inFile: file, addresses: addresses)
    scopes[finally].closed = closed
    return finally
  }

  /// Cancels all detached scopes.
  mutating func cancelDetached(_ reason: CancelReason) -> [Response] {
    scopes.indices.dropFirst().compactMap { index in
      guard scopes[index].parent < 0, scopes[index].boundary != .none else { return nil }
      return cancel(index, reason)
    }
  }

  /// The scope of the innermost group around a scope, or of the run; the scope itself if it is one.
  func groupScope(around scope: Int) -> Int {
    var next = scope
    while scopes[next].address == nil, scopes[next].parent >= 0 { next = scopes[next].parent }
    return next
  }

  // MARK: Files

  /// The scope of the step that runs the file around a scope; 0 for the workflow.
  func file(of scope: Int) -> Int { scopes[scope].file }

  /// The first failure that fails a file, even if it is tolerated further out.
  func firstFault(ofFile file: Int) -> Failure? { scopes[file].firstFault ?? closingFaults[file] }

  /// Fails a nested file because of its cleanups or `finally`, unless another failure already did.
  mutating func endClosing(ofFile file: Int) -> Response {
    guard let fault = closingFaults.removeValue(forKey: file),
      scopes[file].firstUntolerated == nil
    else { return .nothing }
    return failed(fault, in: file)
  }

  /// Records a failure in a scope for cleanups, if there is one. It fails the run of its file, and is the cause only if
  /// there is no other.
  mutating func endCleanup(in scope: Int) {
    if let fault = boundaryFault(of: scope) { failedAtTheEnd(fault, inFile: scopes[scope].file) }
  }

  /// Records a failure of `finally` or `cleanup`. It fails the run of its file; it is the cause only if there is no
  /// other, even one that becomes known later.
  mutating func failedAtTheEnd(_ fault: Failure, inFile file: Int) {
    if closingFaults[file] == nil { closingFaults[file] = fault }
  }

  /// Whether a step may still start in the enclosing scope, whatever happened in this one.
  func isOpen(around scope: Int) -> Bool {
    let parent = scopes[scope].parent
    return parent < 0 || obstacle(in: parent, immune: scopes[scope].immunity) == nil
  }

  // MARK: The end of a group

  /// Fails a group for a reason of its own, not because of a member.
  mutating func failed(group scope: Int, _ failure: StepFailure) -> (Verdict, Response) {
    guard let address = scopes[scope].address else {
      preconditionFailure("the top level is no group")
    }
    if scopes[scope].isInDoubt, let fault = scopes[scope].firstUntolerated {
      return failed(group: scope, by: fault)
    }
    if scopes[scope].tolerance.tolerates(failure.classes) {
      scopes[scope].tolerated.insert(address)
      // A member's failure that is not tolerated is the cause then.
      if let fault = scopes[scope].firstUntolerated { return failed(group: scope, by: fault) }
      return (Verdict(outcome: .failure, conclusion: .success, failure: failure), .nothing)
    }
    let fault = Failure(address: address, failure: failure)
    return (Verdict(failing: address, by: fault), failed(fault, in: scopes[scope].parent))
  }

  /// Fails a group because of a member. The failure takes effect in the enclosing scope now, unless it already did.
  private mutating func failed(group scope: Int, by fault: Failure) -> (Verdict, Response) {
    // The time limit of a nested file is that of the step that runs it.
    let verdict = Verdict(failing: scopes[scope].address, by: fault)
    let passesOn = scopes[scope].boundary != .none
    return (verdict, passesOn ? failed(fault, in: scopes[scope].parent) : .nothing)
  }

  /// Determines the verdict on a group whose members have all ended. A group that timed out fails by that, and its
  /// failure takes effect in the scopes around it like a step's.
  ///
  /// - Parameter success: The reason why it succeeded whatever its other members did: a race's winner, enough
  ///   members.
  mutating func end(
    ofGroup scope: Int, members: [NodeResult], success: GroupSuccess? = nil
  ) -> (Verdict, Response) {
    // Losers of a race do not matter; members of a join that are in doubt do.
    if let success, success.winner != nil || !scopes[scope].isInDoubt {
      return (
        Verdict(outcome: .success, conclusion: .success, winner: success.winner), .nothing
      )
    }
    if let failure = scopes[scope].timedOut { return failed(group: scope, failure) }
    if let fault = scopes[scope].firstUntolerated { return failed(group: scope, by: fault) }
    if let fault = scopes[scope].firstFault {
      var verdict = Verdict(failing: scopes[scope].address, by: fault)
      (verdict.conclusion, verdict.causingStep) = (.success, nil)
      return (verdict, .nothing)
    }
    for outcome in [Outcome.cancelled, .skipped] {
      if let member = members.first(where: { $0.conclusion == outcome && $0.blocksDependents }) {
        return (Verdict(outcome, by: member.causingStep), .nothing)
      }
    }
    return (Verdict(.success), .nothing)
  }
}
