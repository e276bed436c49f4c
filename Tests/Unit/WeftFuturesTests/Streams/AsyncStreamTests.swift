import Testing
import WeftFutures

/// Streams and tasks.
@Suite struct AsyncStreamTests {
  @Test func anAsynchronousBodyRunsForEachSubscription() async {
    let runs = Tally()
    let numbers = Publisher<Int, Oops> { send throws(Oops) in
      runs.add()
      await send(1)
      await send(2)
      throw Oops(number: 3)
    }
    #expect(runs.total == 0)
    for _ in 0..<2 {
      let recording = numbers.record()
      #expect(await recording.end() == .failure(Oops(number: 3)))
      #expect(recording.values == [1, 2])
    }
    #expect(runs.total == 2)
  }

  @Test func aBodyThatCannotFailNeedsNoTypes() async throws {
    let numbers = Publisher<Int, Never> { send in for value in 0..<3 { await send(value) } }
    #expect(await numbers.collect().value == [0, 1, 2])
  }

  @Test func cancellingASubscriptionCancelsItsBody() async {
    let ended = Promise<Bool, Never>(ifDropped: .success(false))
    let recording = Publisher<Int, Never> { send in
      await send(1)
      await withTaskCancellationHandler {
        while await send(2) {}
      } onCancel: {
        ended.succeed(true)
      }
    }.record()
    _ = await recording.values(3)
    recording.cancel()
    #expect(await ended.future.value)
  }

  @Test func aValueSentAfterTheBodyHasReturnedIsNotTaken() async {
    let escaped = Log<Publisher<Int, Never>.Sender>()
    let recording = Publisher<Int, Never> { escaped.write($0) }.record()
    _ = await recording.end()
    #expect(await escaped.entries[0](1) == false)
    #expect(recording.values.isEmpty)
  }

  @Test func aLoopReceivesAllValuesAndTheFailure() async {
    var seen: [Int] = []
    do throws(Oops) {
      var iterator = Publisher<Int, Oops>(0..<100).append(.fail(Oops(number: 1))).values()
        .makeAsyncIterator()
      while let value = try await iterator.next() { seen.append(value) }
      Issue.record("the failure was lost")
    } catch {
      #expect(error == Oops(number: 1))
    }
    #expect(seen == Array(0..<100))
  }

  @Test func anIteratorThatHasEndedStaysSo() async {
    var iterator = Publisher<Int, Never>.just(1).values().makeAsyncIterator()
    #expect(await iterator.next() == 1)
    #expect(await iterator.next() == nil)
    #expect(await iterator.next() == nil)
  }

  @Test func leavingALoopCancels() async {
    let cancelled = Promise<Bool, Never>(ifDropped: .success(false))
    for await _ in Publisher<Int, Never>(0...).handleEvents(receiveCancel: {
      cancelled.succeed(true)
    }).values() { break }
    #expect(await cancelled.future.value)
  }

  @Test func cancellingTheTaskEndsItsLoop() async {
    let subject = PassthroughSubject<Int, Never>()
    let started = Promise<Void, Never>(ifDropped: .success(()))
    let values = subject.publisher().handleEvents(receiveOutput: { _ in }).values()
    let task = Task {
      var count = 0
      started.succeed()
      for await _ in values { count += 1 }
      return count
    }
    await started.future.value
    task.cancel()
    #expect(await task.value == 0)
  }

  @Test func aPublisherOfAnAsyncSequencePassesItsError() async {
    let failing = AsyncThrowingStream<Int, any Error> { continuation in
      continuation.yield(1)
      continuation.finish(throwing: Oops(number: 4))
    }
    let recording = Publisher<Int, any Error>(failing).mapError { $0 as? Oops ?? Oops() }.record()
    #expect(await recording.end() == .failure(Oops(number: 4)))
    #expect(recording.values == [1])
  }

  private actor Counter {
    private(set) var values: [Int] = []
    private(set) var hasEnded = false
    func add(_ value: Int) { values.append(value) }
    func end() { hasEnded = true }
  }

  @Test func aSinkOnAnActorReceivesInOrder() async {
    let counter = Counter()
    let ended = Promise<Void, Never>(ifDropped: .success(()))
    let subscription = Publisher<Int, Never>(0..<50).sink(on: counter) { counter, _ in
      counter.end()
      ended.succeed()
    } receiveValue: { counter, value in
      counter.add(value)
    }
    await ended.future.value
    #expect(await counter.values == Array(0..<50))
    #expect(await counter.hasEnded)
    subscription.cancel()
  }
}
