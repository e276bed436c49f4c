import TestSupport
import Testing

@testable import WeftFutures

@Suite struct MaybeReadyTests {
  @Test func readyValueSettlesImmediately() {
    let outer = Source()
    let derived = outer.future.flatMap(with: 10) { .now($0 + $1) }
    #expect(!derived.isSettled)
    outer.succeed(1)
    #expect(derived.outcome == .success(11))
  }

  @Test func pendingValueIsAwaited() {
    let (outer, inner) = (Source(), Source())
    let derived = outer.future.flatMap(with: inner.future) { future, _ in .later(future) }
    outer.succeed(1)
    #expect(!derived.isSettled)
    inner.fail(Oops(number: 2))
    #expect(derived.outcome == .failure(Oops(number: 2)))
  }

  @Test(arguments: [true, false])
  func derivedPendingValueIsAwaited(isSettledBefore: Bool) {
    let (outer, inner) = (Source(), Source())
    if isSettledBefore { inner.succeed(5) }
    let derived = outer.future.flatMap(with: inner.future) { future, first in
      .of(future, with: first) { first, second in .now("\(first), \(second)") }
    }
    outer.succeed(1)
    #expect(derived.isSettled == isSettledBefore)
    inner.succeed(5)
    #expect(derived.outcome == .success("1, 5"))
  }

  @Test func failuresPassThrough() {
    let inner = Future<Int, Oops>(failure: Oops(number: 3))
    let first = inner.flatMap(with: ()) { _, value in .now(value) }
    #expect(first.outcome == .failure(Oops(number: 3)))
    let second = Future<Int, Oops>(value: 1).flatMap(with: inner) { inner, _ in
      .of(inner, with: ()) { _, value in .now(value) }
    }
    #expect(second.outcome == .failure(Oops(number: 3)))
  }

  @Test func aCancellationReachesWhatItIsMadeOf() {
    let (outer, inner) = (Source(), Source())
    let derived = outer.future.flatMap(with: inner.future) { future, _ in
      .of(future, with: ()) { _, value in .now(value) }
    }
    outer.succeed(1)
    #expect(!inner.isCancelled)
    derived.cancel()
    #expect(inner.isCancelled)
    inner.succeed(2)
    #expect(derived.outcome == .success(2))
  }

  @Test func everyMaybeReadyConvertsToAFuture() {
    let later = Source()
    let future = Future<Int, Oops>(.now(1))
    #expect(future.outcome == .success(1))
    let pending = Future<Int, Oops>(.later(later.future))
    let made = Future<Int, Oops>(.of(later.future, with: 2) { .now($0 * $1) })
    #expect(!pending.isSettled && !made.isSettled)
    later.succeed(21)
    #expect(pending.outcome == .success(21) && made.outcome == .success(42))
  }

  /// Many links, each made when the previous one is known: they use no stack.
  @Test func aLongChainNeedsNoStack() {
    struct Countdown {
      static func from(_ left: Int, _ step: Future<Int, Never>) -> MaybeReady<Int, Never> {
        left == 0 ? .now(7) : .of(step, with: left) { left, _ in from(left - 1, Future(value: 1)) }
      }
    }
    let start = Promise<Int, Never>(ifDropped: .success(0))
    let end = Future<Int, Never>(Countdown.from(largeCount, start.future))
    #expect(!end.isSettled)
    start.succeed(1)
    #expect(end.outcome == .success(7))
  }

  @Test func unsettledFutureIsSettledOnce() {
    let future = Future<Int, Never>.unsettled()
    let doubled = future.map { 2 * $0 }
    #expect(!doubled.isSettled)
    future.supply(4)
    future.supply(5)
    #expect(doubled.outcome == .success(8))
  }
}
