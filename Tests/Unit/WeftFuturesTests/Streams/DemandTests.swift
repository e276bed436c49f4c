import Synchronization
import Testing
import WeftFutures

/// Values that come while a subscriber is busy.
@Suite struct DemandTests {
  /// A subscriber that takes values when the test asks it to: its operator waits for a gate at each value.
  private final class Gated: Sendable {
    private let gates = PassthroughSubject<Void, Never>()
    private let source: Publisher<Int, Never>

    init(_ source: Publisher<Int, Never>) { self.source = source }

    /// The values, each held up until the next ``open()``.
    var publisher: Publisher<Int, Never> {
      source.concatMap { [gates] value in gates.publisher().prefix(1).map { value } }
    }

    func open() { gates.send() }
  }

  @Test(arguments: [
    (BufferPolicy.unbounded, [0, 1, 2, 3, 4, 5]),
    (.bufferingOldest(2), [0, 1, 2, 3]),
    (.bufferingLatest(2), [0, 1, 4, 5]),
    (.bufferingLatest(1), [0, 1, 5]),
  ])
  func aSubjectKeepsValuesByThePolicyOfItsSubscriber(_ policy: BufferPolicy, _ expected: [Int]) {
    let subject = PassthroughSubject<Int, Never>()
    let gated = Gated(subject.publisher(policy))
    let recording = gated.publisher.record()
    // The first is in flight, the second waits in the input of the operator.
    for value in 0...5 { subject.send(value) }
    subject.send(completion: .finished)
    for _ in 0...5 { gated.open() }
    #expect(recording.values == expected)
    #expect(recording.completion == .finished)
  }

  @Test(arguments: [
    (BufferPolicy.unbounded, [0, 1, 2, 3, 4, 5]),
    (.bounded(2), [0, 1, 2, 3, 4, 5]),
    (.bufferingOldest(2), [0, 1, 2, 3]),
    (.bufferingLatest(2), [0, 1, 4, 5]),
  ])
  func bufferKeepsValuesByItsPolicy(_ policy: BufferPolicy, _ expected: [Int]) {
    let gated = Gated(Publisher(0...5).buffer(policy))
    let recording = gated.publisher.record()
    for _ in 0...5 { gated.open() }
    #expect(recording.values == expected)
    #expect(recording.completion == .finished)
  }

  /// Operators that pass values one at a time, with the number that the source has made before the subscriber takes one.
  static let operators:
    [(String, @Sendable (Publisher<Int, Never>) -> Publisher<Int, Never>, Int)] =
      [
        ("none", { $0 }, 2),
        ("map", { $0.map { $0 } }, 2),
        ("a hundred maps", { (0..<100).reduce($0) { source, _ in source.map { $0 } } }, 5),
        ("filter", { $0.filter { !$0.isMultiple(of: 2) } }, 4),
        ("scan", { $0.scan(0) { $1 } }, 2),
        ("append", { $0.append(7) }, 3),
        ("concatMap", { $0.concatMap { .just($0) } }, 4),
        ("zip", { $0.zip($0).map { one, _ in one } }, 6),
        ("buffer", { $0.buffer(.bounded(3)) }, 6),
      ]

  @Test(arguments: operators)
  func aSourceIsAskedForNoMoreThanTheBuffersHold(
    _ row: (
      name: String, apply: @Sendable (Publisher<Int, Never>) -> Publisher<Int, Never>, made: Int
    )
  ) {
    let made = Tally()
    let source = Publisher<Int, Never>(0..<1000).handleEvents(receiveOutput: { _ in made.add() })
    let gated = Gated(row.apply(source))
    let recording = gated.publisher.record()
    #expect(made.total == row.made)
    for _ in 0..<5 { gated.open() }
    #expect(recording.values.count == 5)
    #expect(made.total < 1000)
  }

  @Test func anAsynchronousSenderIsSuspendedWhileTheBufferIsFull() async {
    let sent = Log<Int>()
    let numbers = Publisher<Int, Never>(.bounded(2)) { send in
      for value in 0..<10 {
        await send(value)
        sent.write(value)
      }
    }
    var iterator = numbers.values(.bounded(1)).makeAsyncIterator()
    for value in 0..<10 {
      #expect(await iterator.next() == value)
      // One at the iterator, two in the buffer of the sender.
      #expect(sent.entries.count <= value + 1 + 3)
    }
    #expect(await iterator.next() == nil)
  }

  @Test func anAsyncSequenceIsAwaitedWhenItsValuesAreWanted() async {
    let made = Tally()
    let stream = AsyncStream<Int>(unfolding: {
      made.add()
      return made.total
    })
    var iterator = Publisher<Int, Never>(stream).values().makeAsyncIterator()
    for value in 1...100 {
      #expect(await iterator.next() == value)
      #expect(made.total <= value + 3)
    }
  }

  @Test(arguments: [
    (BufferPolicy.unbounded, [1, 2, 3, 4]), (.bufferingOldest(2), [1, 2]),
    (.bufferingLatest(2), [3, 4]),
  ])
  func anIteratorKeepsValuesByItsPolicy(_ policy: BufferPolicy, _ expected: [Int]) async {
    let subject = ReplaySubject<Int, Never>(9)
    subject.send(0)
    var iterator = subject.publisher().values(policy).makeAsyncIterator()
    #expect(await iterator.next() == 0)
    for value in 1...4 { subject.send(value) }
    subject.send(completion: .finished)
    var seen: [Int] = []
    while let value = await iterator.next() { seen.append(value) }
    #expect(seen == expected)
  }
}
