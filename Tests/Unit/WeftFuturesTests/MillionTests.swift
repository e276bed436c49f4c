import TestSupport
import Testing
import WeftFutures

/// Long graphs on a thread with 512 KiB of stack: settled, or never settled, and released from either end.
///
/// Ten thousand links leave 52 bytes of that stack to each, less than any recursion takes.
@Suite(.serialized) struct MillionTests {
  init() { DropReports.divert() }

  typealias Whole = Future<Int, Oops>
  typealias Link = @Sendable (Whole) -> Whole

  static let million = 1_000_000
  static let many = 10_000

  enum End: CaseIterable {
    case settledThenReleased
    case promiseDroppedFirst
    case tailReleasedFirst
  }

  static let links: [(String, Link)] = [
    ("map", { $0.map { $0 + 1 } }),
    ("mapError", { $0.mapError { $0 }.map { $0 + 1 } }),
    ("mapResult", { $0.mapResult { $0.map { $0 + 1 } } }),
    ("flatMap", { $0.flatMap { Whole(value: $0 + 1) } }),
    ("flatMap to its source", { source in source.flatMap { _ in source.map { $0 + 1 } } }),
    ("flatMapError", { $0.flatMapError { Whole(failure: $0) }.map { $0 + 1 } }),
    ("zip", { Future.zip([$0]).map { $0[0] + 1 } }),
    ("zip of types", { Future.zip($0, Whole(value: 1)).map { $0 + $1 } }),
    (
      "settleAll",
      {
        Future.settleAll([$0]).failing(with: Oops.self).mapResult {
          $0.flatMap { $0[0].map { $0 + 1 } }
        }
      }
    ),
    ("race", { Future.race([$0]).map { $0 + 1 } }),
    ("firstSuccess", { Future.firstSuccess([$0]).mapError { $0.failures[0] }.map { $0 + 1 } }),
    ("deferred", { source in Future.deferred { source }.map { $0 + 1 } }),
  ]

  @Test(.large) func aChainOfAMillionNeedsNoStack() {
    chain(of: Self.million, ending: .settledThenReleased) { $0.map { $0 + 1 } }
  }

  @Test(arguments: links, End.allCases)
  func aLongChainNeedsNoStack(_ link: (name: String, of: Link), ending end: End) {
    chain(of: Self.many, ending: end, link.of)
  }

  private func chain(of count: Int, ending end: End, _ link: @escaping Link) {
    let seen = Log<Result<Int, Oops>>()
    onSmallStack {
      var promise: Source? = Source()
      var tail: Whole? = promise?.future
      for _ in 0..<count { tail = tail.map(link) }
      tail?.whenSettled { seen.write($0) }
      if end == .tailReleasedFirst { tail = nil }
      if end == .settledThenReleased { promise?.succeed(0) }
      promise = nil
      tail = nil
    }
    let expected: Result<Int, Oops> =
      end == .settledThenReleased ? .success(count) : .failure(Oops(number: -1))
    #expect(seen.entries == [expected])
  }

  @Test(.large) func aZipOfAMillionNeedsNoStack() {
    zip(of: Self.million, ending: .settledThenReleased)
  }

  @Test(arguments: End.allCases)
  func aWideZipNeedsNoStack(_ end: End) { zip(of: Self.many, ending: end) }

  private func zip(of count: Int, ending end: End) {
    let seen = Log<Result<Int, Oops>>()
    onSmallStack {
      var promises = (0..<count).map { _ in Source() }
      var all: Future<[Int], Oops>? = Future.zip(promises.map(\.future))
      all?.map(\.count).whenSettled { seen.write($0) }
      if end == .tailReleasedFirst { all = nil }
      if end == .settledThenReleased { for promise in promises { promise.succeed(1) } }
      promises = []
      all = nil
    }
    let expected: Result<Int, Oops> =
      end == .settledThenReleased ? .success(count) : .failure(Oops(number: -1))
    #expect(seen.entries == [expected])
  }

  @Test func cancellingTheEndOfALongChainNeedsNoStack() {
    let asked = Tally()
    onSmallStack {
      let promise = Source()
      promise.onCancel {
        asked.add()
        $0.succeed(0)
      }
      var tail = promise.future
      for link in 0..<Self.many {
        tail = link.isMultiple(of: 2) ? tail.map { $0 } : Future.zip([tail]).map { $0[0] }
      }
      tail.cancel()
      #expect(tail.outcome == .success(0))
    }
    #expect(asked.total == 1)
  }

  @Test func promisesThatSettleOneAnotherNeedNoStack() {
    onSmallStack {
      let first = Source()
      var last = first.future
      for _ in 0..<Self.many {
        let next = Source()
        last.whenSettled { next.settle($0) }
        last = next.future
      }
      first.succeed(1)
      #expect(last.outcome == .success(1))
    }
  }

  @Test func handlersThatCancelOneAnotherNeedNoStack() {
    onSmallStack {
      let first = Source()
      first.onCancel { $0.succeed(1) }
      var last = first.future
      for _ in 0..<Self.many {
        let next = Source()
        next.onCancel { [last] in last.cancel() }
        last.whenSettled { next.settle($0) }
        last = next.future
      }
      last.cancel()
      #expect(last.outcome == .success(1))
    }
  }

  @Test func aRecursionThroughFlatMapNeedsNoStack() {
    @Sendable func countDown(_ count: Int) -> Whole {
      guard count > 0 else { return Whole(value: 0) }
      return Whole(value: count - 1).flatMap { countDown($0) }
    }
    onSmallStack { #expect(countDown(Self.many).outcome == .success(0)) }
  }

  @Test func deferredWorkThatHoldsDeferredWorkIsReleasedWithoutStack() {
    onSmallStack {
      var last = Whole(value: 0)
      for _ in 0..<Self.many { last = .deferred { [last] in last.map { $0 } } }
      #expect(last.outcome == nil)
    }
  }

  /// A value and the future of the rest, as streams built on futures have it.
  private indirect enum List: Sendable {
    case end
    case link(Int, Future<List, Oops>)
  }

  private final class Chained: Sendable {
    let next: Future<Chained, Oops>?
    init(_ next: Future<Chained, Oops>?) { self.next = next }
  }

  @Test(
    "E08: a list of a million futures, each holding the next, is released without stack", .large)
  func aListOfFuturesIsReleasedWithoutStack() {
    onSmallStack {
      var list = Future<List, Oops>(value: .end)
      for number in 0..<Self.million { list = Future(value: .link(number, list)) }
      guard case .success(.link(Self.million - 1, _)) = list.outcome else {
        Issue.record("the list is not whole")
        return
      }
    }
  }

  @Test("E08: so is one that was settled by promises, released in a callback, or held by objects")
  func listsOfFuturesAreReleasedWithoutRecursion() {
    onSmallStack {
      let promises = (0..<Self.many).map { _ in Promise<List, Oops>(ifDropped: .success(.end)) }
      for (number, (promise, next)) in Swift.zip(promises, promises.dropFirst()).enumerated() {
        promise.succeed(.link(number, next.future))
      }
      promises.last?.succeed(.end)
    }
    onSmallStack {
      var list = Future<List, Oops>(value: .end)
      for number in 0..<Self.many { list = Future(value: .link(number, list)) }
      let last = Log<Future<List, Oops>>()
      last.write(list)
      list = Future(value: .end)
      list.whenSettled { _ in last.clear() }
    }
    onSmallStack {
      var next = Future<Chained, Oops>(value: Chained(nil))
      for _ in 0..<Self.many { next = Future(value: Chained(next)) }
    }
  }

  @Test func aPromiseDroppedInAHandlerOfAnotherNeedsNoStack() {
    onSmallStack {
      var last: Source? = Source()
      for _ in 0..<Self.many {
        let next = Source()
        next.onCancel { [last] in withExtendedLifetime(last) {} }
        last = next
      }
      let future = last?.future
      last = nil
      #expect(future?.isSettled == true)
    }
  }
}
