import TestSupport
import Testing
import WeftFutures

/// Long pipelines on a thread with 512 KiB of stack: run to their end, cancelled, or only released.
@Suite(.serialized) struct StreamMillionTests {
  typealias Numbers = Publisher<Int, Oops>
  typealias Link = @Sendable (Numbers) -> Numbers

  /// Leaves 104 bytes of the stack to each link, less than any recursion takes.
  static let many = isLong ? 100_000 : 5_000

  enum End: CaseIterable {
    case finished
    case cancelled
    case neverSubscribed
  }

  static let links: [(String, Link)] = [
    ("map", { $0.map { $0 + 1 } }),
    ("tryMap", { $0.tryMap { $0 + 1 } }),
    ("filter", { $0.filter { _ in true }.map { $0 + 1 } }),
    ("scan", { $0.scan(1) { $0 + $1 } }),
    ("mapError", { $0.mapError { $0 }.map { $0 + 1 } }),
    ("handleEvents", { $0.handleEvents(receiveCancel: {}).map { $0 + 1 } }),
    ("prefix", { $0.prefix(1).map { $0 + 1 } }),
    ("append", { $0.append(.empty).map { $0 + 1 } }),
    ("flatMap", { $0.flatMap { .just($0 + 1) } }),
    ("flatMapLatest", { $0.flatMapLatest { .just($0 + 1) } }),
    ("concatMap", { $0.concatMap { .just($0 + 1) } }),
    ("merge", { .merge([$0]).map { $0 + 1 } }),
    ("zip", { $0.zip(.just(1)).map { $0 + $1 } }),
    ("combineLatest", { $0.combineLatest(.just(1)).map { $0 + $1 } }),
    ("catch", { $0.catch { .fail($0) }.map { $0 + 1 } }),
    ("retry", { $0.retry(1).map { $0 + 1 } }),
    ("buffer", { $0.buffer(.bounded(1)).map { $0 + 1 } }),
    ("share", { $0.share().map { $0 + 1 } }),
    ("deferred", { source in .deferred { source }.map { $0 + 1 } }),
  ]

  @Test func aChainOfAHundredThousandOperatorsNeedsNoStack() {
    chain(of: 100_000, ending: .finished) { $0.map { $0 + 1 } }
  }

  @Test(arguments: links, End.allCases)
  func aLongChainNeedsNoStack(_ link: (name: String, of: Link), ending end: End) {
    chain(of: Self.many, ending: end, link.of)
  }

  private func chain(of count: Int, ending end: End, _ link: @escaping Link) {
    let seen = Log<Int>()
    let ends = Log<Completion<Oops>>()
    onSmallStack {
      var tail: Numbers? = end == .finished ? .just(0) : .never
      for _ in 0..<count { tail = tail.map(link) }
      guard end != .neverSubscribed else { return }
      let subscription = tail?.sink {
        ends.write($0)
      } receiveValue: {
        seen.write($0)
      }
      tail = nil
      subscription?.cancel()
    }
    #expect(seen.entries == (end == .finished ? [count] : []))
    #expect(ends.entries == (end == .finished ? [.finished] : []))
  }

  @Test func aMillionValuesPassTwentyOperators() {
    let count = largeCount * 10
    let total = Log<Int>()
    onSmallStack {
      var numbers = Publisher<Int, Never>(0..<count)
      for step in 0..<20 {
        numbers = step.isMultiple(of: 2) ? numbers.map { $0 + 1 } : numbers.filter { $0 >= 0 }
      }
      numbers.reduce(0) { $0 + $1 }.whenSettled { total.write($0.get()) }
    }
    #expect(total.entries == [(0..<count).reduce(0, +) + 10 * count])
  }

  @Test func aMillionValuesPassTwentyJunctions() {
    let count = largeCount
    let total = Log<Int>()
    onSmallStack {
      var numbers = Publisher<Int, Never>(0..<count)
      for _ in 0..<20 { numbers = numbers.buffer(.bounded(4)) }
      numbers.reduce(0) { $0 + $1 }.whenSettled { total.write($0.get()) }
    }
    #expect(total.entries == [(0..<count).reduce(0, +)])
  }

  @Test func tenThousandSubscribersReceiveEveryValue() {
    let received = Tally()
    onSmallStack {
      let subject = PassthroughSubject<Int, Never>()
      var subscriptions = (0..<10_000).map { _ in
        subject.publisher().map { $0 + 1 }.sink { _ in received.add() }
      }
      for value in 0..<3 { subject.send(value) }
      #expect(subscriptions.count == 10_000)
      subscriptions = []
      subject.send(3)
    }
    #expect(received.total == 3 * 10_000)
  }

  @Test func aMergeOfTenThousandPublishesAll() {
    let seen = Log<[Int]>()
    onSmallStack {
      let inputs = (0..<Self.many).map { Publisher<Int, Never>.just($0) }
      Publisher.merge(inputs).collect().whenSettled { seen.write($0.get()) }
    }
    #expect(seen.entries == [Array(0..<Self.many)])
  }

  @Test func subjectsThatSendToOneAnotherNeedNoStack() {
    let seen = Log<Int>()
    onSmallStack {
      let first = PassthroughSubject<Int, Never>()
      var last = first
      var subscriptions: Set<AnyCancellable> = []
      for _ in 0..<Self.many {
        let next = PassthroughSubject<Int, Never>()
        last.publisher().map { $0 + 1 }.bind(to: next).store(in: &subscriptions)
        last = next
      }
      last.publisher().sink { seen.write($0) }.store(in: &subscriptions)
      first.send(0)
      first.send(completion: .finished)
    }
    #expect(seen.entries == [Self.many])
  }

  /// Each value would pass every level, so there is only one, at the end.
  @Test func publishersThatContinueWithOneAnotherNeedNoStack() {
    @Sendable func countDown(_ count: Int) -> Publisher<Int, Never> {
      count == 0 ? .just(7) : .empty.append(.deferred { countDown(count - 1) })
    }
    let seen = Log<[Int]>()
    onSmallStack { countDown(Self.many).collect().whenSettled { seen.write($0.get()) } }
    #expect(seen.entries == [[7]])
  }

  @Test func flatMapsInFlatMapsNeedNoStack() {
    @Sendable func descend(_ count: Int) -> Publisher<Int, Never> {
      count == 0 ? .just(7) : .just(count - 1).flatMap { descend($0) }
    }
    let seen = Log<Int?>()
    onSmallStack { descend(Self.many).first().whenSettled { seen.write($0.get()) } }
    #expect(seen.entries == [7])
  }
}
