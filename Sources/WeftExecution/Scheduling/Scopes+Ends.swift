import WeftDefinition
import WeftEvents
import WeftPlanning

/// The outcome of groups, and the scopes of cleanups and `finally`.
extension Scopes {
  // MARK: Detached scopes

  /// Opens a scope for cleanups: a failure boundary that cancelling the run does not reach.
  mutating func openClosing(of plan: Plan, in scope: Int) -> Int {
    open(in: nil, boundary: .waiting, of: plan, inFile: scopes[scope].file)
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

  /// The first failure that fails a file, even if it is tolerated further out.
  func firstFault(ofFile file: Int) -> Fault? { scopes[file].firstFault ?? closingFaults[file] }

  /// Fails a nested file because of its cleanups or `finally`, unless another failure already did.
  mutating func endClosing(ofFile file: Int) -> Response {
    guard let fault = closingFaults.removeValue(forKey: file),
      scopes[file].firstUntolerated == nil
    else { return .nothing }
    return failed(fault, in: file)
  }

  /// Records a failure of `finally` or `cleanup`. It fails the run of its file; it is the cause only if there is no
  /// other, even one that becomes known later.
  mutating func failedAtTheEnd(_ fault: Fault, inFile file: Int) {
    if closingFaults[file] == nil { closingFaults[file] = fault }
  }

  /// Whether a step may still start in the enclosing scope, whatever happened in this one.
  func isOpen(around scope: Int) -> Bool {
    let parent = scopes[scope].parent
    return parent < 0 || obstacle(in: parent, immune: scopes[scope].immunity) == nil
  }

  // MARK: The end of a group

  /// The outcome of a group, and its cause.
  struct Verdict: Hashable {
    var outcome: Outcome
    var conclusion: Outcome
    var failure: StepFailure?
    var cause: StepAddress?
    var blame: StepAddress?
    var winner: StepAddress?

    init(
      outcome: Outcome, conclusion: Outcome, failure: StepFailure? = nil,
      cause: StepAddress? = nil, blame: StepAddress? = nil, winner: StepAddress? = nil
    ) {
      (self.outcome, self.conclusion, self.failure) = (outcome, conclusion, failure)
      (self.cause, self.blame, self.winner) = (cause, blame, winner)
    }

    /// The verdict on a group or loop that succeeded under an earlier engine; `nil` if it did not.
    init?(_ past: GroupEnd) {
      guard past.conclusion == .success else { return nil }
      self.init(
        outcome: past.outcome, conclusion: past.conclusion, failure: past.failure,
        cause: past.cause, winner: past.winner)
    }
  }

  /// Fails a group for a reason of its own, not because of a member.
  mutating func failed(group scope: Int, _ failure: StepFailure) -> (Verdict, Response) {
    guard let address = scopes[scope].address else {
      preconditionFailure("the top level is no group")
    }
    if scopes[scope].isInDoubt, let fault = scopes[scope].firstUntolerated {
      return failed(group: scope, by: fault)
    }
    if scopes[scope].tolerance.tolerates(failure.classes) {
      // A member's failure that is not tolerated is the cause then.
      if let fault = scopes[scope].firstUntolerated { return failed(group: scope, by: fault) }
      return (Verdict(outcome: .failure, conclusion: .success, failure: failure), .nothing)
    }
    let response = failed(Fault(address: address, failure: failure), in: scopes[scope].parent)
    let verdict = Verdict(
      outcome: .failure, conclusion: .failure, failure: failure, blame: address)
    return (verdict, response)
  }

  /// Fails a group because of a member. The failure takes effect in the enclosing scope now, unless it already did.
  private mutating func failed(group scope: Int, by fault: Fault) -> (Verdict, Response) {
    // The time limit of a nested file is that of the step that runs it.
    let isOwn = fault.address == scopes[scope].address
    let verdict = Verdict(
      outcome: .failure, conclusion: .failure, failure: fault.failure,
      cause: isOwn ? nil : fault.address, blame: fault.address)
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
      let verdict = Verdict(
        outcome: .failure, conclusion: .success, failure: fault.failure, cause: fault.address)
      return (verdict, .nothing)
    }
    for outcome in [Outcome.cancelled, .skipped] {
      if let member = members.first(where: { $0.conclusion == outcome && $0.holdsBack }) {
        return (Verdict(outcome: outcome, conclusion: outcome, blame: member.blame), .nothing)
      }
    }
    return (Verdict(outcome: .success, conclusion: .success), .nothing)
  }
}

/// The reason why a group succeeded before all its members ended.
struct GroupSuccess: Sendable, Hashable {
  /// The member that won; `nil` for a join.
  var winner: StepAddress?
}
