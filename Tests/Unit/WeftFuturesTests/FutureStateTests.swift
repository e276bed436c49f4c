import Testing

@testable import WeftFutures

@Suite struct FutureStateTests {
  private func names(_ queue: WaiterQueue) -> [String] {
    var queue = queue
    var names: [String] = []
    while let waiter = queue.popFirst() as? Named { names.append(waiter.name) }
    return names
  }

  @Test func settlingGivesBackThoseWhoWaitedInOrderAndOnlyOnce() {
    var state = FutureState(.pending)
    let arrivals = ["a", "b", "c"].map { state.attach(Named($0)) }
    let settled = [state.settle(), state.settle()].map { $0.map(names) }
    let late = state.attach(Named("d"))
    #expect(arrivals == [.waits, .waits, .waits])
    #expect(settled == [["a", "b", "c"], nil])
    #expect(late == .isReady)
  }

  @Test func theFirstInterestStartsDeferredWork() {
    var state = FutureState(.unstarted)
    let arrivals = ["a", "b"].map { state.attach(Named($0)) }
    let settled = state.settle().map(names)
    #expect(arrivals == [.starts, .waits])
    #expect(settled == ["a", "b"])
  }

  @Test func theLastWithdrawalCancels() {
    var state = FutureState(.pending)
    let arrivals = [state.addInterest(), state.addInterest()]
    let cancels = [state.withdraw(), state.withdraw()]
    #expect(arrivals == [.waits, .waits])
    #expect(cancels == [false, true])
    #expect(state.isCancelled)
  }

  @Test func onlyTheFirstCancellationCounts() {
    var state = FutureState(.pending)
    _ = state.addInterest()
    let cancels = [state.cancel(), state.cancel(), state.withdraw()]
    #expect(cancels == [true, false, false])
  }

  @Test func aSettledFutureCannotBeCancelled() {
    var state = FutureState(.pending)
    _ = state.addInterest()
    let settled = state.settle().map(names)
    let cancels = [state.cancel(), state.withdraw()]
    #expect(settled == [])
    #expect(cancels == [false, false])
    #expect(!state.isCancelled)
  }

  @Test(arguments: 0..<4, 0..<4)
  func aMovedQueueComesBehindWhatWasThere(_ before: Int, _ moved: Int) {
    var queue = WaiterQueue()
    var other = WaiterQueue()
    for name in 0..<before { queue.append(Named("\(name)")) }
    for name in before..<(before + moved) { other.append(Named("\(name)")) }
    queue.append(movingFrom: other)
    queue.append(Named("last"))
    #expect(names(queue) == (0..<(before + moved)).map { "\($0)" } + ["last"])
  }
}

private final class Named: Continuation, @unchecked Sendable {
  let name: String
  init(_ name: String) { self.name = name }
}
