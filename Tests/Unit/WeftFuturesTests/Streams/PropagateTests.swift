import Testing
import WeftFutures

/// Behaviour that users of Propagate rely on, through the shim.
@Suite struct PropagateTests {
  typealias Numbers = StatePublisher<Int, Oops>

  private let publisher = Numbers()
  private let log = Log<StreamState<Int, Oops>>()

  @Test func statesArriveInOrderAndErrorsDoNotEnd() {
    let subscriber = publisher.subscriber().subscribe { log.write($0) }
    publisher.publish(1)
    publisher.publish(Oops(number: 2))
    publisher.publish(.success(3))
    publisher.cancelAll()
    publisher.publish(4)
    #expect(log.entries == [.data(1), .error(Oops(number: 2)), .data(3), .cancelled])
    subscriber.cancel()
  }

  @Test func releasingASubscriberCancelsItsCallbacks() {
    var subscriber: StateSubscriber? = publisher.subscriber().subscribe { log.write($0) }
    #expect(subscriber != nil)
    publisher.publish(1)
    subscriber = nil
    publisher.publish(2)
    #expect(log.entries == [.data(1)])
  }

  @Test func callbacksAreChainedByKind() {
    let events = Log<String>()
    let subscriber = publisher.subscriber()
      .onNewData { events.write("data \($0)") }
      .onError { events.write("error \($0.number)") }
      .onCancelled { events.write("cancelled") }
    publisher.publish(1)
    publisher.publish(Oops(number: 2))
    publisher.cancelAll()
    #expect(events.entries == ["data 1", "error 2", "cancelled"])
    subscriber.cancel()
  }

  @Test func valuesAreMappedFilteredDistinctAndScanned() {
    let subscriber = publisher.subscriber().mapValues { $0 / 2 }.distinctValues()
      .filterValues { $0 != 3 }.scanValues(0) { $0 + $1 }.subscribe { log.write($0) }
    for value in [2, 3, 6, 8, 9] { publisher.publish(value) }
    publisher.publish(Oops())
    publisher.publish(2)
    #expect(log.entries == [.data(1), .data(5), .error(Oops()), .data(6)])
    subscriber.cancel()
  }

  @Test func aStatefulPublisherRepeatsItsLastState() {
    let stateful = Numbers(isStateful: true)
    stateful.publish(1)
    stateful.publish(2)
    let subscriber = stateful.subscriber().subscribe { log.write($0) }
    stateful.publish(3)
    #expect(log.entries == [.data(2), .data(3)])
    subscriber.cancel()
  }

  @Test func mergeCombineAndStartWith() {
    let other = Numbers()
    let merged = StateSubscriber.merge(publisher.subscriber(), other.subscriber()).startWith(0)
      .subscribe { log.write($0) }
    let sums = Log<Int>()
    let combined = publisher.subscriber().combine(with: other.subscriber())
      .onNewData { sums.write($0 + $1) }
    publisher.publish(1)
    other.publish(10)
    publisher.publish(2)
    #expect(log.entries == [.data(0), .data(1), .data(10), .data(2)])
    #expect(sums.entries == [11, 12])
    merged.cancel()
    combined.cancel()
  }

  @Test func flatMapFollowsTheLatestValue() {
    let inner = [Numbers(), Numbers()]
    let subscriber = publisher.subscriber().flatMapValues { inner[$0].subscriber() }
      .subscribe { log.write($0) }
    publisher.publish(0)
    inner[0].publish(5)
    publisher.publish(1)
    inner[0].publish(6)
    inner[1].publish(7)
    #expect(log.entries == [.data(5), .data(7)])
    subscriber.cancel()
  }

  @Test func bindToForwardsEveryState() {
    let target = Numbers()
    let seen = target.subscriber().subscribe { log.write($0) }
    let binding = publisher.subscriber().bindTo(target)
    publisher.publish(1)
    publisher.cancelAll()
    #expect(log.entries == [.data(1), .cancelled])
    seen.cancel()
    binding.cancel()
  }
}
