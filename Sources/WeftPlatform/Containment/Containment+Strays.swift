/// What a run had to end when all its programs had ended.
package struct StraysEnd: Hashable, Sendable {
  /// What was alive, and has been ended.
  package var ended: [ProcessRecord] = []
  /// What could not be.
  package var survivors: [ProcessRecord] = []

  package init() {}
}

extension Containment {
  /// Ends what outlived its step: asks, and after the grace kills, like a step that is stopped.
  ///
  /// Blocks until all of it is dead, or has survived being killed for five seconds.
  package func endStrays(_ policy: StopPolicy, stop: StopSwitch) -> StraysEnd {
    var result = StraysEnd()
    guard mayHoldStrays else { return result }
    var found = strays()
    guard !found.isEmpty, let slot = try? ProgramSlot.ofThisThread() else { return result }
    result.ended = found.map(\.record)
    _ = stop.attach(slot.signal)
    defer { stop.detach(slot.signal) }
    // A program of which all is over but these: its leader ends in the moment of the stop.
    var ending = Ending(startedAt: MonotonicClock.now, timeout: nil, grace: policy.grace)
    ending.stopRequested(max(.graceful, stop.level))
    while true {
      switch ending.next(at: MonotonicClock.now) {
      case .wait(let time):
        if ending.outputIsOpen {
          ending.leaderExited(at: MonotonicClock.now)
          ending.outputEnded()
          continue
        }
        slot.sleep(until: time)
        ending.stopRequested(stop.level)
      case .terminate:
        for process in found {
          process.send(policy.signal) { process.isStillThere }
          process.send(.continue) { process.isStillThere }
        }
      case .kill: Sweep.kill { strays() }
      case .look:
        found = strays()
        if found.isEmpty { found = strays() }  // one walk may miss who forks during it
        if !found.isEmpty, ending.hasKilled { Sweep.kill { strays() } }
        ending.othersSeen(areGone: found.isEmpty, at: MonotonicClock.now)
      case .finish:
        result.survivors = ending.gaveUp ? found.map(\.record) : []
        let alive = Set(result.survivors.map(\.id))
        result.ended.removeAll { alive.contains($0.id) }
        return result
      }
    }
  }
}
