import Testing
import WeftFutures

/// A million futures on a thread with 512 KiB of stack: settled, and released from either end.
@Suite(.serialized) struct MillionTests {
  static let count = 1_000_000

  typealias Link = @Sendable (Future<Int, any Error>) -> Future<Int, any Error>

  static let links: [(String, Link)] = [
    ("map", { $0.map { $0 + 1 } }),
    ("mapResult", { $0.mapResult { $0.map { $0 + 1 } } }),
    ("flatMap", { $0.flatMap { Future(value: $0 + 1) } }),
    (
      "flatMap to its source",
      { source in source.flatMap { value in source.map { _ in value + 1 } } }
    ),
    ("flatMapError", { $0.flatMapError { _ in Future(value: 0) }.map { $0 + 1 } }),
    ("zip", { Future.zip([$0]).map { $0[0] + 1 } }),
    ("zip pack", { Future.zip($0, Future(value: 1)).map { $0 + $1 } }),
    ("race", { Future.race([$0]).map { $0 + 1 } }),
    ("deferred", { source in Future.deferred { source }.map { $0 + 1 } }),
  ]

  enum End: CaseIterable {
    case settledThenReleased
    case promiseDroppedFirst
    case tailReleasedFirst
  }

  @Test(arguments: links, End.allCases)
  func aChain(_ link: (name: String, of: Link), endsWithoutStack end: End) {
    let count = link.name == "map" || link.name == "flatMap" ? Self.count : Self.count / 10
    let seen = Log<Int?>()
    onSmallStack {
      var promise: Promise<Int, any Error>? = Promise(ifDropped: .failure(Oops()))
      var tail: Future<Int, any Error>? = promise!.future
      for _ in 0..<count { tail = link.of(tail!) }
      tail!.whenSettled { seen.write(try? $0.get()) }
      switch end {
      case .settledThenReleased:
        promise!.succeed(0)
        promise = nil
        tail = nil
      case .promiseDroppedFirst:
        promise = nil
        tail = nil
      case .tailReleasedFirst:
        tail = nil
        promise = nil
      }
    }
    let dropped = link.name == "flatMapError" ? count : nil
    #expect(seen.entries == [end == .settledThenReleased ? count : dropped])
  }
}
