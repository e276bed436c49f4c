/// The result of terminating orphans.
package struct OrphansEnd: Hashable, Sendable {
  /// Processes that were alive and have been terminated.
  package var ended: [ProcessRecord] = []
  /// Processes that could not be terminated.
  package var orphans: [ProcessRecord] = []

  package init() {}
}

/// Terminates orphans in the way that a program is stopped: requests termination, and kills after the grace period.
package struct OrphanTermination {
  /// Finds all living orphans.
  let find: () -> [ProcessStatus]
  let policy: StopPolicy
  /// A switch that can speed up the termination.
  let stop: StopSwitch

  package init(policy: StopPolicy, stop: StopSwitch, find: @escaping () -> [ProcessStatus]) {
    self.find = find
    self.policy = policy
    self.stop = stop
  }

  /// Blocks until all of them are dead, or have survived being killed for five seconds.
  package func end() -> OrphansEnd {
    var found = find()
    var all = found
    guard !found.isEmpty, let slot = try? ProgramSlot.ofThisThread() else { return OrphansEnd() }
    _ = stop.attach(slot.signal)
    defer { stop.detach(slot.signal) }
    // Like a program whose leader exits at the moment of the stop, with all output written.
    var ending = Ending(startedAt: MonotonicClock.now, timeout: nil, grace: policy.grace)
    ending.stopRequested(max(.graceful, stop.level))
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .terminate: ask(found)
      case .kill: Sweep.kill(find)
      case .wait(let time):
        if ending.outputIsOpen {
          ending.leaderExited(at: MonotonicClock.now)
          ending.outputEnded()
        } else {
          slot.sleep(until: time)
          ending.stopRequested(stop.level)
        }
      case .look:
        found = look(hasKilled: ending.hasKilled)
        // Compared by identity: parent, group and name may have changed since.
        all += found.filter { new in !all.contains { $0.identity == new.identity } }
        ending.othersSeen(areGone: found.isEmpty, at: MonotonicClock.now)
      case .finish: return result(of: all, orphans: ending.gaveUp ? found : [])
      }
    }
  }

  private func ask(_ processes: [ProcessStatus]) {
    for process in processes {
      process.send(policy.signal, if: process.isStillThere)
      process.send(.continue, if: process.isStillThere)
    }
  }

  private func look(hasKilled: Bool) -> [ProcessStatus] {
    // One search may miss a process that starts during it.
    var found = find()
    if found.isEmpty { found = find() }
    if !found.isEmpty, hasKilled { Sweep.kill(find) }
    return found
  }

  private func result(of all: [ProcessStatus], orphans: [ProcessStatus]) -> OrphansEnd {
    var result = OrphansEnd()
    let alive = Set(orphans.map(\.identity))
    result.ended = all.filter { !alive.contains($0.identity) }.map(\.record)
    result.orphans = orphans.map(\.record)
    return result
  }
}

extension Containment {
  /// Terminates the orphans of ended attempts.
  package func endOrphans(_ policy: StopPolicy, stop: StopSwitch) -> OrphansEnd {
    guard mayHoldStrays else { return OrphansEnd() }
    return OrphanTermination(policy: policy, stop: stop, find: orphans).end()
  }
}
