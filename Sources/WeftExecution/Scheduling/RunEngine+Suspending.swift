import Synchronization
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Suspends a run in which nothing can proceed without an approval that cannot be given here. The run stays in its
/// journal, to be resumed.
///
/// ``IdleDetector`` decides whether the run has been idle long enough.
extension RunEngine {
  /// Records that a step waits for an answer that cannot be given here, and starts to watch whether the run is idle.
  func approverIsAbsent(for instanceNumber: Int) {
    let begins = state.withLock { state in
      state.approvals[instanceNumber]?.isUnattended = true
      guard state.idleDetector == nil else { return false }
      state.idleDetector = IdleDetector()
      return true
    }
    if begins { look() }
  }

  private func look() {
    // The waiting steps are read before the running ones: a step goes from the former to the latter.
    let (nobodyWaits, happened) = (slots.waiting().isEmpty, events.lastSequence)
    let verdict = state.withLock { state -> IdleDetector.Verdict? in
      guard state.approvals.values.contains(where: \.isUnattended), state.canBeSuspended else {
        // The next unanswered approval starts the watch again.
        state.idleDetector = nil
        return nil
      }
      let isIdle = nobodyWaits && state.isIdle
      let verdict = state.idleDetector?.look(isIdle: isIdle, happened: happened)
      guard case .atRest? = verdict else { return verdict }
      state.left = SuspendedRun(
        requests: state.approvals.sorted { $0.key < $1.key }.map(\.value.request),
        counts: events.counts)
      // No `finally` and no cleanup: the run has not ended.
      state.killsAtOnce = true
      // Within the lock: an answer that arrives from now on is for the engine that resumes the run.
      events.mute()
      return .atRest
    }
    switch verdict {
    case .again(let delay)?:
      let timer = time.schedule(after: delay) { [weak self] in self?.look() }
      state.withLock { $0.restTimer = timer }
    // The events are muted by now, so this is not reported.
    case .atRest?: killNow()
    case nil: giveUpAnswers()
    }
  }
}

extension RunEngine {
  /// Fails the approvals that cannot be answered here, if the run is being cancelled: such a run is not suspended.
  private func giveUpAnswers() {
    let given = state.withLock { state -> [PendingApproval] in
      guard state.scopes.runCancellation != nil, state.left == nil else { return [] }
      return state.approvals.sorted { $0.key < $1.key }.map(\.value).filter(\.isUnattended)
    }
    for pending in given {
      pending.promise.succeed(.unanswered("the run is being ended, and nobody is here"))
    }
  }
}

/// The approvals that a run waited for when its engine suspended it.
struct SuspendedRun: Sendable {
  let requests: [ApprovalRequest]
  let counts: OutcomeCounts
}

extension RunEngine.State {
  fileprivate var canBeSuspended: Bool {
    !killsAtOnce && scopes.runCancellation == nil && left == nil
  }

  /// Whether nothing proceeds except waiting for answers that cannot be given here.
  fileprivate var isIdle: Bool {
    running.isEmpty && approvals.values.allSatisfy(\.isUnattended)
      && pauses.keys.allSatisfy { approvals[$0] != nil }
  }
}
