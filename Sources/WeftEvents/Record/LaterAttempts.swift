import WeftDefinition
package import WeftPlanning

/// Decides whether a recorded state of a step is void because a group around the step was tried again later.
///
/// It compares the number under which the state was recorded with the one under which the group's latest attempt
/// began. ``RunEngine/settleSteps()`` asks it with the numbers of records when a run ends, ``ReportFold`` with its own
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
