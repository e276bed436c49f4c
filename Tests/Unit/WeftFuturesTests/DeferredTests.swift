import Testing
import WeftFutures

@Suite struct DeferredTests {
  static let looks: [(name: String, look: @Sendable (Future<Int, Oops>) -> Void)] = [
    ("map", { _ = $0.map { $0 } }),
    ("whenSettled", { $0.whenSettled { _ in } }),
    ("zip", { _ = Future.zip([$0]) }),
    ("zip of types", { _ = Future.zip($0, $0) }),
    ("race", { _ = Future.race([$0, $0]) }),
    ("flatMap", { lazy in _ = Future<Int, Oops>(value: 0).flatMap { _ in lazy } }),
  ]

  @Test(arguments: looks)
  func startsAtTheFirstLookAndOnlyOnce(
    _ entry: (name: String, look: @Sendable (Future<Int, Oops>) -> Void)
  ) {
    let starts = Tally()
    let lazy = Future<Int, Oops>.deferred {
      starts.add()
      return Future(value: 1)
    }
    #expect(lazy.outcome == nil)
    #expect(starts.total == 0)
    entry.look(lazy)
    entry.look(lazy)
    #expect(starts.total == 1)
    #expect(lazy.outcome == .success(1))
  }

  @Test func isStartedByAnAwaitingTask() async throws {
    let lazy = Future<Int, Oops>.deferred { Future(value: 1) }
    #expect(try await lazy.value == 1)
  }

  @Test func cancellingDoesNotStartButIsRemembered() {
    let starts = Tally()
    let promise = Source()
    let lazy = Future<Int, Oops>.deferred { [future = promise.future] in
      starts.add()
      return future
    }
    lazy.cancel()
    #expect(starts.total == 0)
    lazy.whenSettled { _ in }
    #expect(starts.total == 1)
    #expect(promise.isCancelled)
    promise.succeed(1)
    #expect(lazy.outcome == .success(1))
  }

  @Test func workThatIsNeverStartedIsReleased() {
    final class Captured: Sendable {}
    weak var captured: Captured?
    do {
      let kept = Captured()
      captured = kept
      _ = Future<Int, Oops>.deferred { withExtendedLifetime(kept) { Future(value: 1) } }
    }
    #expect(captured == nil)
  }
}
