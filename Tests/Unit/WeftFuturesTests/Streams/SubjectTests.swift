import Testing
import WeftFutures

@Suite struct SubjectTests {
  @Test func aPassthroughSubjectHasNoMemory() {
    let subject = PassthroughSubject<Int, Oops>()
    #expect(subject.send(1))
    let recording = subject.publisher().record()
    subject.send(2)
    subject.send(completion: .failure(Oops()))
    #expect(recording.values == [2])
    #expect(recording.completion == .failure(Oops()))
    let late = subject.publisher().record()
    #expect(late.values.isEmpty)
    #expect(late.completion == .failure(Oops()))
  }

  @Test func aCurrentValueSubjectBeginsWithItsValue() {
    let subject = CurrentValueSubject<Int, Oops>(1)
    let recording = subject.publisher().record()
    subject.send(2)
    #expect(subject.update { $0 *= 10 })
    #expect(recording.values == [1, 2, 20])
    subject.send(completion: .finished)
    #expect(subject.value == 20)
    let late = subject.publisher().record()
    #expect(late.values.isEmpty)
    #expect(late.completion == .finished)
  }

  @Test(arguments: [(0, []), (1, [3]), (2, [2, 3]), (9, [1, 2, 3])])
  func aReplaySubjectRepeatsItsLastValues(_ count: Int, _ expected: [Int]) {
    let subject = ReplaySubject<Int, Oops>(count)
    for value in 1...3 { subject.send(value) }
    let recording = subject.publisher().record()
    subject.send(completion: .finished)
    let late = subject.publisher().record()
    for seen in [recording, late] {
      #expect(seen.values == expected)
      #expect(seen.completion == .finished)
    }
  }

  @Test func sendingAfterTheEndIsReportedAndDropped() {
    let passthrough = PassthroughSubject<Int, Oops>()
    let current = CurrentValueSubject<Int, Oops>(0)
    let replay = ReplaySubject<Int, Oops>(1)
    passthrough.send(completion: .finished)
    current.send(completion: .finished)
    replay.send(completion: .finished)
    #expect(!passthrough.send(1))
    #expect(!current.send(1))
    #expect(!current.update { $0 += 1 })
    #expect(!replay.send(1))
    #expect(!passthrough.send(completion: .finished))
    #expect(current.value == 0)
    #expect(replay.publisher().record().values.isEmpty)
  }

  @Test func shareSubscribesOnceAndCancelsWithTheLast() {
    let events = Log<String>()
    let subject = PassthroughSubject<Int, Oops>()
    let shared = Publisher.deferred {
      events.write("begin")
      return subject.publisher().handleEvents(receiveCancel: { events.write("cancel") })
    }.share(replay: 1)
    let first = shared.record()
    subject.send(1)
    let second = shared.record()
    subject.send(2)
    #expect(first.values == [1, 2])
    #expect(second.values == [1, 2])
    first.cancel()
    #expect(events.entries == ["begin"])
    second.cancel()
    #expect(events.entries == ["begin", "cancel"])
    let third = shared.record()
    subject.send(3)
    #expect(third.values == [3])
    #expect(events.entries == ["begin", "cancel", "begin"])
  }

  @Test func sharePassesTheEndToAll() {
    let subject = PassthroughSubject<Int, Oops>()
    let shared = subject.publisher().share()
    let recordings = (0..<3).map { _ in shared.record() }
    subject.send(1)
    subject.send(completion: .failure(Oops(number: 3)))
    for recording in recordings {
      #expect(recording.values == [1])
      #expect(recording.completion == .failure(Oops(number: 3)))
    }
  }

  @Test func statefulGivesLateSubscribersTheLatestValue() {
    let subject = PassthroughSubject<Int, Never>()
    let state = subject.publisher().stateful()
    let first = state.record()
    subject.send(1)
    subject.send(2)
    #expect(state.record().values == [2])
    #expect(first.values == [1, 2])
  }

  @Test func multicastBeginsWhenItIsConnected() {
    let begun = Tally()
    let numbers = Publisher<Int, Never>.deferred {
      begun.add()
      return Publisher(1...3)
    }.multicast()
    let recordings = (0..<2).map { _ in numbers.publisher().record() }
    #expect(begun.total == 0)
    let connection = numbers.connect()
    #expect(begun.total == 1)
    for recording in recordings { #expect(recording.values == [1, 2, 3]) }
    connection.cancel()
  }

  @Test func bindingAndAssigningSendToASubject() {
    let subject = ReplaySubject<Int, Oops>(9)
    let passthrough = PassthroughSubject<Int, Oops>()
    let recording = passthrough.publisher().record()
    let current = CurrentValueSubject<Int, Oops>(0)
    let subscriptions = [
      Publisher<Int, Oops>(1...3).bind(to: passthrough),
      Publisher<Int, Oops>(1...3).append(.never).assign(to: current),
      recording.completion == .finished ? passthrough.publisher().sink { subject.send($0) } : nil,
    ]
    #expect(recording.values == [1, 2, 3])
    #expect(current.value == 3)
    #expect(subscriptions.count == 3)
  }

  @Test func callbacksThatFireManyTimesAreRegisteredForEachSubscription() {
    let registered = Log<Publisher<Int, Oops>.Emitter>()
    let removed = Tally()
    let publisher = Publisher<Int, Oops>.callback { emitter in
      registered.write(emitter)
      return AnyCancellable { removed.add() }
    }
    #expect(registered.entries.isEmpty)
    let first = publisher.record()
    let second = publisher.record()
    #expect(registered.entries.count == 2)
    for emitter in registered.entries { #expect(emitter.send(1)) }
    first.cancel()
    #expect(removed.total == 1)
    #expect(!registered.entries[0].send(2))
    #expect(registered.entries[1].send(completion: .failure(Oops())))
    #expect(!registered.entries[1].send(2))
    #expect(removed.total == 2)
    #expect(first.values == [1])
    #expect(second.values == [1])
    #expect(second.completion == .failure(Oops()))
  }
}
