import Synchronization
import WeftEvents
import WeftPlanning

/// Makes the events of this engine agree with the journal when the run ends: each recorded step either counts as it
/// ended, or its record is marked as outdated.
extension RunEngine {
  /// Reports the steps that succeeded under an earlier engine and have no event under this one: cleanups that were
  /// not repeated, and members of loops and groups that were skipped as a whole. Every other step without an event is
  /// recorded as outdated.
  func settleSteps() {
    let reported = events.toldSteps
    guard let resumePolicy else {
      return recordOutdated(reported.void)
    }
    let past = resumePolicy.past
    var missed: [(address: StepAddress, number: UInt64, end: StepEnd)] = []
    var outdated = reported.void
    let planned = Set(plan.steps.map(\.address) + plan.groups.compactMap(\.address))
    var retried = past.groups.mapValues(\.begunBy).filter { $0.value > 0 }
    for group in reported.retriedGroups { retried[group] = .max }
    var attempts = LaterAttempts(plan, since: retried, sparingCleanup: false)
    let former = state.withLock { $0.formerElements }
    let isVoid = { (step: RecordedStep, address: StepAddress) in
      resumePolicy.isVoid(address, step.number) || former.contains(where: address.isInside)
    }
    for (address, step) in past.steps where !reported.resumePolicy.contains(address) {
      if case .finished(let end, _) = step.state, step.hasSucceeded,
        !reported.void.contains(address), planned.contains(address.outermostLoop ?? address),
        !isVoid(step, address), !attempts.makeVoid(address, reported: step.number)
      {
        missed.append((address, step.number, end))
      } else if !past.isInDoubt(address) || isVoid(step, address) {
        outdated.insert(address)
      }
    }
    for step in missed.sorted(by: { $0.number < $1.number }) {
      events.publish(.stepRestored(step.address, step.end), step: planIndex(of: step.address))
    }
    recordOutdated(outdated)
  }

  private func recordOutdated(_ steps: Set<StepAddress>) {
    let sorted = steps.sorted { $0.text < $1.text }
    for start in stride(from: 0, to: sorted.count, by: 256) {
      events.note(.outdated(Array(sorted[start..<min(start + 256, sorted.count)])))
    }
  }
}
