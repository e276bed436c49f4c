import WeftDefinition
import WeftPlanning

/// What is counted in a scope, and how a group ends.
extension Scopes {
  // MARK: Scopes that stand by themselves

  /// A scope for what cleans up: it absorbs, and what ends the run does not end it.
  mutating func openClosing(of plan: Plan, in scope: Int) -> Int {
    open(in: nil, absorbing: .waiting, of: plan, inFile: scopes[scope].file)
  }

  /// Ends what is in scopes that stand by themselves.
  mutating func cancelDetached(_ reason: CancelReason) -> [Response] {
    scopes.indices.dropFirst().compactMap { index in
      guard scopes[index].parent < 0, scopes[index].absorption != .none else { return nil }
      return cancel(index, reason)
    }
  }

  /// The scope of the group, or of the run, that stands around a scope or is it.
  func groupScope(around scope: Int) -> Int {
    var next = scope
    while scopes[next].address == nil, scopes[next].parent >= 0 { next = scopes[next].parent }
    return next
  }

  // MARK: Files

  /// The first failure that a file does not survive, be it tolerated further out.
  func firstFault(ofFile file: Int) -> Fault? { scopes[file].firstFault ?? closingFaults[file] }

  /// A file that a step runs has failed at its end, if by nothing else.
  mutating func endClosing(ofFile file: Int) -> Response {
    guard let fault = closingFaults.removeValue(forKey: file),
      scopes[file].firstUntolerated == nil
    else { return .nothing }
    return failed(fault, in: file)
  }

  /// Something that cleans up, or is done finally, has failed: the run of its file has, too, and by that if
  /// by nothing else, be it known only later.
  mutating func failedAtTheEnd(_ fault: Fault, inFile file: Int) {
    if closingFaults[file] == nil { closingFaults[file] = fault }
  }

  /// Whether something may still start around a scope, whatever has happened in it.
  func isOpen(around scope: Int) -> Bool {
    let parent = scopes[scope].parent
    return parent < 0 || obstacle(in: parent, sheltered: scopes[scope].shelter) == nil
  }

  // MARK: The end of a group

  /// How a group has ended.
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

    /// The verdict of a group or loop that has ended well in an earlier part of the run; `nil` if it has not.
    init?(_ past: GroupEnd) {
      guard past.conclusion == .success else { return nil }
      self.init(
        outcome: past.outcome, conclusion: past.conclusion, failure: past.failure,
        cause: past.cause, winner: past.winner)
    }
  }

  /// A group has failed by itself, and not by a member.
  mutating func failed(group scope: Int, _ failure: StepFailure) -> (Verdict, Response) {
    guard let address = scopes[scope].address else {
      preconditionFailure("the top level is no group")
    }
    if scopes[scope].isInDoubt, let fault = scopes[scope].firstUntolerated {
      return failed(group: scope, by: fault)
    }
    if scopes[scope].tolerance.tolerates(failure.classes) {
      // A member's failure that is not tolerated is the reason then.
      if let fault = scopes[scope].firstUntolerated { return failed(group: scope, by: fault) }
      return (Verdict(outcome: .failure, conclusion: .success, failure: failure), .nothing)
    }
    let response = failed(Fault(address: address, failure: failure), in: scopes[scope].parent)
    let verdict = Verdict(
      outcome: .failure, conclusion: .failure, failure: failure, blame: address)
    return (verdict, response)
  }

  /// A group fails by a member; outside of it that counts now, unless it has already.
  private mutating func failed(group scope: Int, by fault: Fault) -> (Verdict, Response) {
    // The time limit of another file is that of the step which runs it.
    let isOwn = fault.address == scopes[scope].address
    let verdict = Verdict(
      outcome: .failure, conclusion: .failure, failure: fault.failure,
      cause: isOwn ? nil : fault.address, blame: fault.address)
    let passesOn = scopes[scope].absorption != .none
    return (verdict, passesOn ? failed(fault, in: scopes[scope].parent) : .nothing)
  }

  /// Everything in the group has ended; a group that timed out fails by that, and its failure counts in
  /// the scopes around it as a step's would.
  ///
  /// - Parameter success: What made it a success whatever else is in it: a race's winner, enough members.
  mutating func end(
    ofGroup scope: Int, members: [NodeResult], success: GroupSuccess? = nil
  ) -> (Verdict, Response) {
    // The losers of a race are not missed; members of a join that are in doubt are.
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

/// Why a group has succeeded before all in it has ended.
struct GroupSuccess: Sendable, Hashable {
  /// The member that won; `nil` of a group that waited for several.
  var winner: StepAddress?
}
