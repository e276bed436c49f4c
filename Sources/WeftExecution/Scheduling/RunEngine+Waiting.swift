import Synchronization
import WeftDefinition
package import WeftEvents
import WeftPlanning

/// The reasons why steps wait, for events and displays.
extension RunEngine {
  /// The thing that a step lacks which is about to wait; `nil` if it can start at once.
  func waitReason(of task: StepTask) -> WaitReason? {
    // A step without an attempt, such as a wait or an approval, needs no slot.
    guard task.step.kind.makesAttempts else { return nil }
    return slots.lack(of: task.instanceNumber).map(reason)
  }

  /// The steps that wait at this moment for something other than their dependencies.
  ///
  /// - Parameter count: The maximum number of steps to return, in the order in which they began to wait.
  package func waitingSteps(atMost count: Int) -> WaitingSteps {
    let found = slots.lacking(atMost: count)
    let steps = found.first.compactMap { step, lack in
      address(ofWaiting: step).map { WaitingStep($0, reason(lack)) }
    }
    return WaitingSteps(steps, count: found.count)
  }

  private func reason(_ lacking: SlotQueue.Lacking) -> WaitReason {
    switch lacking.lack {
    case .slot: .slot
    case .limit:
      lacking.group.flatMap { plan.groups[$0].address }.map { .group($0) } ?? .slot
    case .pool(let pool):
      .pool(slots.name(ofPool: pool), holders: addresses(ofRunning: lacking.holders))
    case .rate(let pool): .rate(slots.name(ofPool: pool))
    }
  }

  private func addresses(ofRunning steps: [Int]) -> [StepAddress] {
    state.withLock { state in
      steps.compactMap { state.running[$0]?.address ?? state.services[$0]?.address }
    }
  }

  private func address(ofWaiting step: Int) -> StepAddress? {
    if plan.steps.indices.contains(step) { return plan.steps[step].address }
    return state.withLock { $0.waitingElsewhere[step]?.address }
  }
}
