import Testing
import WeftFutures

@Suite struct CancellationTests {
  typealias Whole = Future<Int, Oops>

  /// Ways to derive one future from two.
  static let derivations: [(name: String, of: @Sendable (Whole, Whole) -> Whole)] = [
    ("map", { first, _ in first.map { $0 } }),
    ("mapResult", { first, _ in first.mapResult { $0 } }),
    ("flatMap", { first, second in first.flatMap { _ in second } }),
    ("flatMapError", { first, second in first.flatMapError { _ in second } }),
    ("zip", { Future.zip([$0, $1]).map { $0[0] } }),
    ("zip of types", { Future.zip($0, $1).map { $0.0 } }),
    ("race", { Future.race([$0, $1]) }),
    ("firstSuccess", { Future.firstSuccess([$0, $1]).mapError { $0.failures[0] } }),
    (
      "settleAll",
      { Future.settleAll([$0, $1]).map { _ in 0 }.failing(with: Oops.self) }
    ),
    ("deferred", { first, _ in Future.deferred { first }.map { $0 } }),
  ]

  static let cancelsBoth: Set = ["zip", "zip of types", "race", "firstSuccess", "settleAll"]

  @Test(arguments: derivations)
  func goesToWhatTheFutureStandsOn(
    _ derivation: (name: String, of: @Sendable (Whole, Whole) -> Whole)
  ) {
    let first = Source()
    let second = Source()
    let asked = Log<Int>()
    first.onCancel { asked.write(1) }
    second.onCancel { asked.write(2) }
    let derived = derivation.of(first.future, second.future)
    derived.cancel()
    derived.cancel()
    #expect(asked.entries == (Self.cancelsBoth.contains(derivation.name) ? [1, 2] : [1]))
    #expect(!derived.isSettled)
    first.succeed(1)
    second.succeed(1)
    #expect(derived.isSettled)
  }

  @Test(arguments: derivations)
  func leavesASharedSourceToOthers(
    _ derivation: (name: String, of: @Sendable (Whole, Whole) -> Whole)
  ) {
    let first = Source()
    let second = Source()
    let derived = derivation.of(first.future, second.future)
    let other = derivation.of(first.future, second.future)
    derived.cancel()
    #expect(!first.isCancelled && !second.isCancelled)
    other.cancel()
    #expect(first.isCancelled)
    #expect(second.isCancelled == Self.cancelsBoth.contains(derivation.name))
    first.succeed(1)
    second.succeed(2)
    #expect(derived.isSettled && other.isSettled)
  }

  @Test(arguments: derivations)
  func aFutureThatWasCancelledAndThenSettledWithdrawsOnce(
    _ derivation: (name: String, of: @Sendable (Whole, Whole) -> Whole)
  ) {
    let first = Source()
    let second = Source()
    let other = second.future.map { $0 }
    let derived = derivation.of(first.future, second.future)
    derived.cancel()
    first.fail(Oops())
    second.future.map { $0 }.cancel()
    #expect(!second.isCancelled)
    other.cancel()
    #expect(second.isCancelled)
    second.succeed(0)
    #expect(derived.isSettled)
  }

  @Test func aCallbackIsAnInterestThatStays() {
    let promise = Source()
    promise.future.whenSettled { _ in }
    promise.future.map { $0 }.cancel()
    #expect(!promise.isCancelled)
    promise.future.cancel()
    #expect(promise.isCancelled)
    promise.succeed(1)
  }

  @Test func calledOnTheSharedSourceItIsForAll() {
    let promise = Source()
    let derived = promise.future.map { $0 }
    promise.future.cancel()
    #expect(promise.isCancelled)
    derived.cancel()
    promise.succeed(1)
    #expect(derived.outcome == .success(1))
  }

  @Test func handlersRunOnceAndInOrderAlsoWhenTheyAreLate() {
    let promise = Source()
    let asked = Log<Int>()
    promise.onCancel { asked.write(1) }
    promise.onCancel { _ in asked.write(2) }
    promise.future.cancel()
    promise.future.cancel()
    promise.onCancel { asked.write(3) }
    #expect(asked.entries == [1, 2, 3])
    promise.fail(Oops())
    promise.onCancel { asked.write(4) }
    #expect(asked.entries == [1, 2, 3])
  }

  @Test func cancellingASettledFutureDoesNothing() {
    let promise = Source()
    let asked = Tally()
    promise.onCancel { asked.add() }
    promise.succeed(1)
    promise.future.cancel()
    #expect(asked.total == 0)
    #expect(!promise.isCancelled)
  }

  @Test func theProducerSettlesInItsHandler() {
    let promise = Source()
    let derived = promise.future.map { $0 + 1 }
    promise.onCancel { $0.fail(Oops(number: 5)) }
    derived.cancel()
    #expect(derived.outcome == .failure(Oops(number: 5)))
  }

  @Test func flatMapPassesItOnToTheInnerOneOnceTheOuterHasSettled() {
    let outer = Source()
    let inner = Source()
    let derived = outer.future.flatMap { [future = inner.future] _ in future }
    outer.succeed(1)
    #expect(!inner.isCancelled)
    derived.cancel()
    #expect(inner.isCancelled)
    inner.succeed(2)
    #expect(derived.outcome == .success(2))
  }

  @Test func anInnerFutureThatComesAfterTheRequestIsCancelledImmediately() {
    let outer = Source()
    let inner = Source()
    let derived = outer.future.flatMap { [future = inner.future] _ in future }
    derived.cancel()
    #expect(outer.isCancelled && !inner.isCancelled)
    outer.succeed(1)
    #expect(inner.isCancelled)
    inner.succeed(2)
    #expect(derived.outcome == .success(2))
  }

  @Test func releasingAFutureIsNotARequest() {
    let promise = Source()
    _ = promise.future.map { $0 }
    #expect(!promise.isCancelled)
    promise.succeed(1)
  }

  @Test func anEarlyDecisionLeavesInputsToOthers() {
    let slow = Source()
    let other = slow.future.map { $0 }
    let first = Future.race([slow.future, Future(value: 1)])
    #expect(first.outcome == .success(1))
    #expect(!slow.isCancelled)
    other.cancel()
    #expect(slow.isCancelled)
    slow.succeed(1)
  }
}
