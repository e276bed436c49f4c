import Testing
import WeftFutures

/// Work that begins inside callbacks is queued, and runs after they have returned.
@Suite struct ReentrancyTests {
  @Test func aValueSentInsideACallbackComesAfterIt() {
    let subject = PassthroughSubject<Int, Never>()
    let log = Log<String>()
    let subscription = subject.publisher().sink {
      log.write("begin \($0)")
      if $0 < 3 { subject.send($0 + 1) }
      log.write("end \($0)")
    }
    subject.send(1)
    #expect(log.entries == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"])
    subscription.cancel()
  }

  @Test func allSubscribersSeeReentrantValuesInOneOrder() {
    let subject = PassthroughSubject<Int, Never>()
    let first = subject.publisher().handleEvents(receiveOutput: { if $0 == 1 { subject.send(2) } })
      .record()
    let second = subject.publisher().record()
    subject.send(1)
    subject.send(3)
    #expect(first.values == [1, 2, 3])
    #expect(second.values == [1, 2, 3])
  }

  @Test func anEndSentInsideACallbackComesAfterIt() {
    let subject = PassthroughSubject<Int, Oops>()
    let recording = subject.publisher().handleEvents(receiveOutput: { _ in
      subject.send(completion: .finished)
      #expect(!subject.send(7))
    }).record()
    subject.send(1)
    #expect(recording.values == [1])
    #expect(recording.completion == .finished)
  }

  @Test func aSubscriptionMadeInsideACallbackStartsAfterIt() {
    let log = Log<String>()
    let handle = Handle()
    let subscription = Publisher<Int, Never>.just(1).sink { _ in
      Publisher<Int, Never>(2...3).sink { log.write("\($0)") }.keep(in: handle)
      log.write("subscribed")
    }
    #expect(log.entries == ["subscribed", "2", "3"])
    subscription.cancel()
  }

  @Test func aSubscriberThatJoinsDuringASendMissesThatValue() {
    let subject = PassthroughSubject<Int, Never>()
    let late = Log<Int>()
    let handle = Handle()
    let subscription = subject.publisher().sink { value in
      if value == 1 { subject.publisher().sink { late.write($0) }.keep(in: handle) }
    }
    subject.send(1)
    subject.send(2)
    #expect(late.entries == [2])
    subscription.cancel()
  }

  @Test func callbacksOfFuturesAndStreamsShareOneQueue() {
    let log = Log<String>()
    let promise = Source()
    let subject = PassthroughSubject<Int, Never>()
    promise.future.whenSettled { _ in
      subject.send(1)
      log.write("settled")
    }
    let subscription = subject.publisher().sink { log.write("value \($0)") }
    promise.succeed(0)
    #expect(log.entries == ["settled", "value 1"])
    subscription.cancel()
  }

  @Test func aChangeOfTheCurrentValueInsideACallbackIsSeenByAll() {
    let subject = CurrentValueSubject<Int, Never>(0)
    let values = subject.publisher(.unbounded).handleEvents(receiveOutput: { value in
      if value == 1 { subject.update { $0 += 1 } }
    }).record()
    subject.send(1)
    #expect(subject.value == 2)
    #expect(values.values == [0, 1, 2])
  }

  @Test func aCycleThroughASubjectEndsWhenNothingComesBack() {
    let subject = PassthroughSubject<Int, Never>()
    let recording = subject.publisher().record()
    let feedback = subject.publisher().map { $0 - 1 }.filter { $0 > 0 }.bind(to: subject)
    subject.send(3)
    #expect(recording.values == [3, 2, 1])
    feedback.cancel()
  }

  @Test func anEndlessCycleCanBeCancelledFromACallback() {
    let subject = PassthroughSubject<Int, Never>()
    let handle = Handle()
    let seen = Tally()
    subject.publisher().map { $0 + 1 }.bind(to: subject).keep(in: handle)
    let subscription = subject.publisher().sink {
      seen.add()
      if $0 == 100 { handle.cancel() }
    }
    subject.send(0)
    #expect((100...103).contains(seen.total))
    subscription.cancel()
  }
}
