import WeftDefinition
import WeftPlanning

/// Decides what a failure, a time limit or a cancellation means for the rest of a run.
///
/// Every group is a scope, the top level the outermost; so is every element of a `forEach`, all of them
/// together, and every attempt of a group. A failure acts within the nearest scope that absorbs it, or else
/// within the whole run: there `onFailure` holds for everything that has not started, and under `cancel` for
/// what is running, too. What a scope has absorbed passes outward only if the scope itself fails.
struct Scopes {
  /// What is to be done about steps, now that something has been decided.
  enum Response: Hashable {
    case nothing
    /// Those in the scope that wait for a slot are turned away; those that run go on.
    case holdBack(Int)
    /// Those that wait are turned away, those that run are stopped.
    case cancel(Int)
    /// The same for everything there is.
    case cancelRun(CancelReason)
  }

  /// Who failed, and of what.
  struct Fault: Hashable {
    let address: StepAddress
    let failure: StepFailure

    /// Whether nobody knows how far the step came, in an engine that was killed.
    var isDoubt: Bool { failure.classes.contains(.inDoubt) }
  }

  /// How a scope takes a failure of something in it.
  enum Absorption: Hashable {
    /// Not at all: it acts further out at once.
    case none
    /// What is to start in it is held back, as `onFailure` says; the rest is decided when it ends.
    case holding
    /// Nothing is held back: others in it may still succeed.
    case waiting
  }

  enum State {
    case open
    /// Nothing new starts; with `stopping`, what runs is being ended too.
    case held(by: StepAddress, stopping: Bool)
    case cancelling(CancelReason)
    /// It never started, and nothing in it does.
    case notStarted(SkipReason)
  }

  struct Scope {
    /// The scope around it; -1 of those that stand by themselves.
    var parent: Int
    /// Of a group, or of what is made of one.
    var address: StepAddress?
    var tolerance = FailureTolerance.none
    var absorption = Absorption.none
    var state = State.open
    /// What has happened further out, and does not hold back what is in it.
    var shelter = Shelter.none
    /// The first failure inside, tolerated by this scope or not.
    var firstFault: Fault?
    /// The first that this scope does not tolerate.
    var firstUntolerated: Fault?
    var timedOut: StepFailure?
    /// What a failure means for the rest of what is in it.
    var response = FailureResponse.stop
    /// The scope that stands for the run of the file it is in: of the step that runs the file, or 0.
    var file = 0

    /// Keeps the first failure that is not tolerated here; a step in doubt goes before any other, since nothing
    /// further out may tolerate it either.
    fileprivate mutating func note(untolerated fault: Fault) {
      if firstUntolerated == nil || fault.isDoubt && !isInDoubt { firstUntolerated = fault }
    }

    /// Whether a step in it is in doubt: whatever else has succeeded in it, it fails by that.
    var isInDoubt: Bool { firstUntolerated?.isDoubt == true }
  }

  /// What holds for all files, whatever they say themselves.
  let onFailure: FailureResponse?
  /// Whether the end of the run has made a difference to something that is not counted as cancelled: what runs in
  /// spite of it, or is not tried again because of it.
  private(set) var cancellationHasActed = false
  // What follows is internal for Scopes+Frames.swift and for Scopes+Ends.swift.
  var scopes: [Scope]
  /// Whether every scope is open and none is sheltered, as in most runs until their end. Then there is
  /// nothing to look for around a step.
  private(set) var isQuiet = true
  /// By file, the first failure of what cleans up in it or is done finally.
  var closingFaults: [Int: Fault] = [:]
  /// Scopes that are not used any more.
  var unused = RowStock()

  init(plan: Plan, onFailure: FailureResponse?) {
    self.onFailure = onFailure
    scopes = []
    scopes.reserveCapacity(plan.groups.count)
    for index in plan.groups.indices {
      scopes.append(Scope(of: index, in: plan, parent: nil))
      scopes[index].response = response(inGroup: index, of: plan)
    }
    // The run absorbs what nobody else does.
    scopes[0].absorption = .holding
  }

  /// Whether one scope is another or stands around it.
  func scope(_ outer: Int, isAround inner: Int) -> Bool {
    var next = inner
    while next >= 0 {
      if next == outer { return true }
      next = scopes[next].parent
    }
    return false
  }

  // MARK: May it start?

  /// Why nothing in this scope may start whatever its condition: something around it never started.
  func absence(of scope: Int) -> SkipReason? {
    if isQuiet { return nil }
    var next = scope
    while next >= 0 {
      if case .notStarted(let reason) = scopes[next].state { return reason }
      next = scopes[next].parent
    }
    return nil
  }

  /// Why a node in this scope must not start, as `results` of what it waits for and the scopes around
  /// it stand; `nil` if it may. What comes first in this order is told: a cancellation, a dependency
  /// that did not succeed, a failure elsewhere that holds everything back.
  func obstacle(in scope: Int, after results: NodeResults) -> SkipReason? {
    if let reason = absence(of: scope) { return reason }
    if let reason = cancellation(of: scope) { return .cancelled(reason) }
    if let failed = results.first(where: \.holdsBack) {
      // Without a culprit the run is being ended, though not what is done finally in it.
      guard let blame = failed.blame else { return .cancelled(runCancellation ?? .requested) }
      return .dependencyFailed(blame)
    }
    return holder(of: scope).map { .heldBack(by: $0) }
  }

  /// Why a step that has been admitted may not go on after all.
  func obstacle(in scope: Int, sheltered shelter: Shelter) -> SkipReason? {
    switch shelter {
    case .none: obstacle(in: scope, after: [])
    case .fromFailures: cancellation(of: scope).map { .cancelled($0) }
    case .fromCancellation: nil
    }
  }

  private func holder(of scope: Int) -> StepAddress? {
    if isQuiet { return nil }
    var next = scope
    while next >= 0 {
      if case .held(let address, _) = scopes[next].state { return address }
      if scopes[next].shelter != .none { return nil }
      next = scopes[next].parent
    }
    return nil
  }

  /// Why what is in the scope is to end: the scope, or one around it that it is not sheltered from, is being
  /// cancelled.
  func cancellation(of scope: Int) -> CancelReason? {
    if isQuiet { return nil }
    var (next, isSheltered) = (scope, false)
    while next >= 0 {
      if case .cancelling(let reason) = scopes[next].state, next != 0 || !isSheltered {
        return reason
      }
      isSheltered = isSheltered || scopes[next].shelter == .fromCancellation
      next = scopes[next].parent
    }
    return nil
  }

  /// Whether the scope itself is being cancelled.
  func isCancelling(_ scope: Int) -> Bool {
    if case .cancelling = scopes[scope].state { true } else { false }
  }

  /// Whether the scope, or any around it, is being cancelled, be it sheltered from that or not.
  func isBeingCancelled(_ scope: Int) -> Bool {
    if isQuiet { return false }
    var next = scope
    while next >= 0 {
      if isCancelling(next) { return true }
      next = scopes[next].parent
    }
    return false
  }

  /// A group starts in spite of what has happened around it, and so does what is in it. Its own failures hold
  /// back the rest of it, as they could not if they acted further out only.
  mutating func shelter(_ scope: Int, by shelter: Shelter) {
    scopes[scope].shelter = shelter
    guard shelter != .none else { return }
    isQuiet = false
    if scopes[scope].absorption == .none { scopes[scope].absorption = .holding }
  }

  /// Whether a group has started in spite of what has happened around it.
  func isSheltered(_ scope: Int) -> Bool { scopes[scope].shelter != .none }

  /// What something in the scope is sheltered from by the groups around it.
  func shelter(in scope: Int) -> Shelter {
    if isQuiet { return .none }
    var (next, shelter) = (scope, Shelter.none)
    while next >= 0 {
      shelter = max(shelter, scopes[next].shelter)
      next = scopes[next].parent
    }
    return shelter
  }

  /// Why something that runs in this scope is being stopped; `nil` if it is not.
  func reasonToStop(in scope: Int) -> CancelReason? {
    if isQuiet { return nil }
    if let reason = cancellation(of: scope) { return reason }
    var next = scope
    while next >= 0 {
      if case .held(let address, stopping: true) = scopes[next].state {
        return .failure(of: address)
      }
      if scopes[next].shelter != .none { return nil }
      next = scopes[next].parent
    }
    return nil
  }

  // MARK: What has happened

  /// Something in the scope has failed, and is not tolerated by itself.
  mutating func failed(_ fault: Fault, in innermost: Int) -> Response {
    var next = innermost
    while next >= 0 {
      if scopes[next].firstFault == nil { scopes[next].firstFault = fault }
      let isTolerated = scopes[next].tolerance.tolerates(fault.failure.classes)
      if !isTolerated { scopes[next].note(untolerated: fault) }
      switch scopes[next].absorption {
      case .none where !isTolerated: next = scopes[next].parent
      case .none, .holding: return hold(next, because: fault.address)
      case .waiting: return .nothing
      }
    }
    return .nothing
  }

  /// Keeps a failure of an element, which does not act before there are too many.
  mutating func note(_ fault: Fault, in scope: Int) {
    scopes[scope].note(untolerated: fault)
  }

  /// The scope never starts.
  mutating func skip(_ scope: Int, _ reason: SkipReason) {
    enter(.notStarted(reason), scope)
  }

  /// The time limit of a group has passed.
  mutating func timeLimitPassed(of scope: Int, after limit: Duration) -> Response {
    guard let address = scopes[scope].address else { return .nothing }
    // Of what is being ended anyway, it ends what goes on in spite of that.
    if cancellation(of: scope) == nil { scopes[scope].timedOut = .timedOut(after: limit) }
    return cancel(scope, .groupTimeout(address, limit))
  }

  /// What is in the scope is to end.
  mutating func cancel(_ scope: Int, _ reason: CancelReason) -> Response {
    guard !isCancelling(scope) else { return .nothing }
    enter(.cancelling(reason), scope)
    return .cancel(scope)
  }

  /// The run as a whole is to end.
  ///
  /// - Returns: `nil` if it is being ended already, be it for a failure.
  mutating func runCancelled(_ reason: CancelReason) -> Response? {
    switch scopes[0].state {
    case .cancelling, .held(_, stopping: true): return nil
    case .open, .held(_, stopping: false), .notStarted: break
    }
    enter(.cancelling(reason), 0)
    return .cancelRun(reason)
  }

  /// Something is about to start, goes on, or is left as it is while the run may be being cancelled.
  mutating func noteIfCancelled() {
    if runCancellation != nil { cancellationHasActed = true }
  }

  /// Why the run as a whole is being cancelled.
  var runCancellation: CancelReason? {
    if case .cancelling(let reason) = scopes[0].state { reason } else { nil }
  }

  /// The first failure that the run does not survive.
  var firstFault: Fault? { scopes[0].firstUntolerated ?? closingFaults[0] }

  /// The first failure that a scope has absorbed and did not tolerate.
  func absorbedFault(of scope: Int) -> Fault? { scopes[scope].firstUntolerated }

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
      return .holdBack(index)
    case .cancel:
      // What has not started is held back and not cancelled: nobody asked for it to end.
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
