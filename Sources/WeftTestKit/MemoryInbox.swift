import Synchronization
package import WeftEvents
package import WeftExecution
package import WeftPlanning

/// The control requests of a run in memory, by the rules of the folder in which `weft approve` leaves them.
///
/// One inbox serves all engines of a run, one after the other: ``nextEngine(after:)`` makes it that of the next.
package final class MemoryInbox: ControlInbox {
  private struct State {
    var left: [(name: String, request: ControlRequest)] = []
    var stored = StoredRequests()
    var count = 0
  }

  private let state = Mutex(State())

  package init(_ requests: [ControlRequest] = []) {
    for request in requests { leave(request) }
  }

  /// The requests that no engine has removed, in order.
  package var requests: [ControlRequest] { state.withLock { $0.left.map(\.request) } }

  package func leave(_ request: ControlRequest, at moment: WallTime = WallTime(nanoseconds: 0)) {
    state.withLock { state in
      state.count += 1
      let number = String(state.count)
      let padding = String(repeating: "0", count: max(0, 8 - number.count))
      let name = "\(moment.nanoseconds)-\(padding)\(number)"
      state.left.append((name, request))
      state.stored.add(request, named: name)
    }
  }

  /// The inbox of the engine that resumes the run: it has the requests that are due.
  package func nextEngine(after recorded: RunState) -> MemoryInbox {
    let next = MemoryInbox()
    let left = state.withLock { ($0.left, $0.count) }
    next.state.withLock { state in
      state.left = left.0.filter { $0.request.isDue(after: recorded) }
      for (name, request) in state.left { state.stored.add(request, named: name) }
      state.count = left.1
    }
    return next
  }

  package func take(answersTo steps: Set<StepAddress>) -> [ControlRequest] {
    state.withLock { $0.stored.take(answersTo: steps) }
  }

  package func discard(answersTo step: StepAddress) {
    remove { $1.answeredStep == step }
  }

  package func discard(answersTo step: StepAddress, givenAfter moment: WallTime) {
    remove { $1.answeredStep == step && StoredRequests.wasLeft($0, after: moment) }
  }

  package func close(after outcome: Outcome?) {
    remove { StoredRequests.isNeedless($1, after: outcome) }
  }

  private func remove(where isNeedless: (String, ControlRequest) -> Bool) {
    state.withLock { state in
      let names = Set(state.stored.remove(where: isNeedless))
      state.left.removeAll { names.contains($0.name) }
    }
  }
}
