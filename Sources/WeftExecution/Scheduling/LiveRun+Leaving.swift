import Synchronization
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A run of which nothing can go on before somebody has answered who cannot be asked here: it is left as it
/// stands, for whoever goes on with its record.
extension LiveRun {
  /// A step waits for an answer that nobody here can give.
  func nobodyIsHere(for instance: Int) {
    let begins = state.withLock { state in
      state.approvals[instance]?.isUnattended = true
      guard state.restWatch == nil else { return false }
      state.restWatch = RestWatch()
      return true
    }
    if begins { look() }
  }

  private func look() {
    // What asks for a slot comes before the look at what runs.
    let (nobodyWaits, happened) = (slots.waiting().isEmpty, events.lastSequence)
    let verdict = state.withLock { state -> RestWatch.Verdict? in
      guard state.approvals.values.contains(where: \.isUnattended), state.canBeLeft else {
        // Who is asked from now on begins to look anew.
        state.restWatch = nil
        return nil
      }
      let isStill = nobodyWaits && state.isStill
      let verdict = state.restWatch?.look(isStill: isStill, happened: happened)
      guard case .atRest? = verdict else { return verdict }
      state.left = Leaving(
        requests: state.approvals.sorted { $0.key < $1.key }.map(\.value.request),
        counts: events.counts)
      // Nothing is done at the end: the run has not ended.
      state.killsAtOnce = true
      // Within the lock: an answer that comes now is for whoever goes on.
      events.mute()
      return .atRest
    }
    switch verdict {
    case .again(let delay)?:
      let timer = time.schedule(after: delay) { [weak self] in self?.look() }
      state.withLock { $0.restTimer = timer }
    // Nobody hears of it.
    case .atRest?: killNow()
    case nil: giveUpAnswers()
    }
  }
}

extension LiveRun {
  /// A run that is being ended is not left: what still asks somebody then, and has nobody, fails.
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

/// What a run waited for when its engine left it.
struct Leaving: Sendable {
  let requests: [ApprovalRequest]
  let counts: OutcomeCounts
}

extension LiveRun.State {
  fileprivate var canBeLeft: Bool { !killsAtOnce && scopes.runCancellation == nil && left == nil }

  /// Whether nothing goes on but waiting for answers that nobody here can give.
  fileprivate var isStill: Bool {
    running.isEmpty && approvals.values.allSatisfy(\.isUnattended)
      && pauses.keys.allSatisfy { approvals[$0] != nil }
  }
}
