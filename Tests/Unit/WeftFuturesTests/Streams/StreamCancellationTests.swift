import Synchronization
import Testing
import WeftFutures

/// The third end: by a handle, by its release, and from inside callbacks.
@Suite struct StreamCancellationTests {
  private let subject = PassthroughSubject<Int, Oops>()

  @Test func nothingIsDeliveredAfterACancel() {
    let recording = subject.publisher().record()
    subject.send(1)
    recording.cancel()
    subject.send(2)
    subject.send(completion: .finished)
    #expect(recording.values == [1])
    #expect(recording.completion == nil)
  }

  @Test func releasingTheHandleCancels() {
    let cancelled = Tally()
    var subscription: AnyCancellable? = subject.publisher()
      .handleEvents(receiveCancel: { cancelled.add() }).sink { _ in }
    #expect(subscription != nil)
    subscription = nil
    #expect(cancelled.total == 1)
  }

  @Test func aSetKeepsSubscriptionsAlive() {
    let seen = Log<Int>()
    var subscriptions: Set<AnyCancellable> = []
    for factor in 1...2 {
      subject.publisher().sink { seen.write($0 * factor) }.store(in: &subscriptions)
    }
    subject.send(3)
    #expect(subscriptions.count == 2)
    subscriptions = []
    subject.send(4)
    #expect(seen.entries == [3, 6])
  }

  /// Operators in whose midst a cancellation has to find its way to the source.
  static let operators: [(String, @Sendable (Publisher<Int, Oops>) -> Publisher<Int, Oops>)] = [
    ("map", { $0.map { $0 } }),
    ("many maps", { (0..<100).reduce($0) { source, _ in source.map { $0 } } }),
    ("flatMap", { source in Publisher<Int, Oops>.just(1).flatMap { _ in source } }),
    ("flatMapLatest", { source in Publisher<Int, Oops>.just(1).flatMapLatest { _ in source } }),
    ("outer", { $0.flatMap { .just($0) } }),
    ("merge", { .merge($0, .never) }),
    ("zip", { $0.zip(Publisher<Int, Oops>.never).map { one, _ in one } }),
    ("combineLatest", { $0.combineLatest(Publisher<Int, Oops>.never).map { one, _ in one } }),
    ("withLatestFrom", { $0.withLatestFrom(Publisher<Int, Never>.never).map { one, _ in one } }),
    ("catch", { $0.catch { _ in .empty } }),
    ("caught", { source in Publisher<Int, Oops>.fail(Oops()).catch { _ in source } }),
    ("retry", { $0.retry(1) }),
    ("append", { .empty.append($0) }),
    ("buffer", { $0.buffer(.unbounded) }),
    ("share", { $0.share() }),
    ("deferred", { source in .deferred { source } }),
    ("debounce", { $0.debounce(for: .seconds(1), clock: TestClock()) }),
    ("throttle", { $0.throttle(for: .seconds(1), clock: TestClock()) }),
    ("delay", { $0.delay(for: .seconds(1), clock: TestClock()) }),
    ("timeout", { $0.timeout(.seconds(1), clock: TestClock()) { Oops() } }),
  ]

  @Test(arguments: operators)
  func aCancellationReachesTheSourceOnce(
    _ row: (name: String, apply: @Sendable (Publisher<Int, Oops>) -> Publisher<Int, Oops>)
  ) {
    let cancelled = Tally()
    let kept = Kept()
    let source = subject.publisher().handleEvents(receiveCancel: { cancelled.add() })
    let subscription = row.apply(source).sink { [kept] _ in kept.use() }
    subject.send(1)
    #expect(cancelled.total == 0)
    subscription.cancel()
    subscription.cancel()
    #expect(cancelled.total == 1)
  }

  @Test(arguments: operators)
  func aSubscriberThatWantsNoMoreCancelsTheSource(
    _ row: (name: String, apply: @Sendable (Publisher<Int, Oops>) -> Publisher<Int, Oops>)
  ) {
    let events = Log<String>()
    let source = Publisher<Int, Oops>(1...3).append(.never).handleEvents(
      receiveCompletion: { _ in events.write("end") }, receiveCancel: { events.write("cancel") })
    let other = PassthroughSubject<Int, Never>()
    let recording = row.apply(source).prefix(untilOutputFrom: other.publisher()).record()
    other.send(0)
    #expect(recording.completion == .finished)
    #expect(events.entries == ["cancel"])
  }

  /// An object that a test can miss.
  private final class Kept: Sendable {
    func use() {}
  }

  private static func released(
    _ end: (PassthroughSubject<Int, Oops>, AnyCancellable) -> Void,
    _ apply: (Publisher<Int, Oops>) -> Publisher<Int, Oops>
  ) -> Bool {
    let subject = PassthroughSubject<Int, Oops>()
    var kept: Kept? = Kept()
    weak let watched = kept
    let subscription = apply(subject.publisher()).map { [kept] in
      kept?.use()
      return $0
    }.sink { [kept] _ in kept?.use() }
    kept = nil
    subject.send(1)
    guard watched != nil else { return false }
    end(subject, subscription)
    return watched == nil
  }

  @Test(arguments: operators)
  func aPipelineReleasesWhatItHoldsWhenItIsCancelled(
    _ row: (name: String, apply: @Sendable (Publisher<Int, Oops>) -> Publisher<Int, Oops>)
  ) {
    #expect(Self.released({ _, subscription in subscription.cancel() }, row.apply))
  }

  @Test func aPipelineReleasesWhatItHoldsWhenItEnds() {
    #expect(Self.released({ subject, _ in subject.send(completion: .finished) }, { $0 }))
    #expect(Self.released({ subject, _ in subject.send(completion: .failure(Oops())) }, { $0 }))
    #expect(Self.released({ subject, _ in subject.send(2) }, { $0.prefix(2) }))
  }

  @Test func aCancelInsideTheCallbackEndsASource() {
    let seen = Log<Int>()
    let handle = Handle()
    subject.publisher().sink {
      seen.write($0)
      if $0 == 2 { handle.cancel() }
    }.keep(in: handle)
    for value in 1...4 { subject.send(value) }
    #expect(seen.entries == [1, 2])
  }

  @Test func anInfiniteSequenceCanBeCancelledFromACallback() {
    let stop = PassthroughSubject<Void, Never>()
    let seen = Log<Int>()
    let subscription = Publisher<Int, Never>(sequence(first: 0) { $0 + 1 })
      .prefix(untilOutputFrom: stop.publisher())
      .sink {
        seen.write($0)
        if $0 == 3 { stop.send() }
      }
    #expect(Array(seen.entries.prefix(4)) == [0, 1, 2, 3])
    subscription.cancel()
  }

  @Test func aCompletionIsDeliveredOnce() {
    let ends = Log<Completion<Oops>>()
    let subscription = subject.publisher().sink {
      ends.write($0)
    } receiveValue: { _ in
    }
    #expect(subject.send(completion: .finished))
    #expect(!subject.send(completion: .failure(Oops())))
    #expect(ends.entries == [.finished])
    subscription.cancel()
  }

  @Test func assigningDoesNotKeepTheObjectAlive() {
    final class Model: Sendable {
      private let stored = Mutex(0)
      var number: Int {
        get { stored.withLock { $0 } }
        set { stored.withLock { $0 = newValue } }
      }
    }
    let numbers = PassthroughSubject<Int, Never>()
    var model: Model? = Model()
    weak let watched = model
    let cancelled = Tally()
    let subscription = numbers.publisher().handleEvents(receiveCancel: { cancelled.add() })
      .assign(to: \.number, on: model!)
    numbers.send(5)
    #expect(model?.number == 5)
    model = nil
    #expect(watched == nil)
    numbers.send(6)
    #expect(cancelled.total == 1)
    subscription.cancel()
  }
}

/// A subscription that its own callback can cancel.
final class Handle: Sendable {
  private let kept = Mutex<AnyCancellable?>(nil)

  func keep(_ subscription: AnyCancellable) { kept.withLock { $0 = subscription } }
  func cancel() { kept.withLock { $0.take() }?.cancel() }
}

extension AnyCancellable {
  func keep(in handle: Handle) { handle.keep(self) }
}
