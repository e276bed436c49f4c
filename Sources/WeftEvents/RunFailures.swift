import WeftDefinition
package import WeftPlanning

/// A failure of a run that nothing tolerates.
package struct RunFailure: Sendable, Hashable {
  package let address: StepAddress
  package let failure: StepFailure
}

extension RunState {
  /// The failures so far that no group or loop around them tolerates: those of steps, in the order of the report, then
  /// those of groups that failed by themselves.
  package var failures: [RunFailure] { reports?.failures ?? [] }
}

extension StepReports {
  fileprivate var failures: [RunFailure] {
    var ends: [StepAddress: GroupEnd] = [:]
    var found: [RunFailure] = []
    let groups = groups(isFinal: true)
    for group in groups {
      if case .finished(let end) = group.state { ends[group.address] = end }
    }
    var tolerance = EnclosingTolerance(plan, ends)
    func add(_ address: StepAddress, _ conclusion: Outcome, _ failure: StepFailure?) {
      guard conclusion == .failure, let failure, !tolerance.absorbs(address) else { return }
      found.append(RunFailure(address: address, failure: failure))
    }
    for step in steps(isFinal: true) {
      switch step.state {
      case .finished(let end), .restored(let end): add(step.address, end.conclusion, end.failure)
      default: break
      }
    }
    for group in groups {
      guard let end = ends[group.address], end.cause == nil else { continue }
      add(group.address, end.conclusion, end.failure)
    }
    return found
  }
}
