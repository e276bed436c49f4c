import Testing
import WeftFutures

/// Operators that wait, on a clock that the test moves.
@Suite struct TimingTests {
  private let clock = TestClock()
  private let subject = PassthroughSubject<Int, Oops>()

  @Test func debouncePublishesWhenItHasBeenQuiet() async {
    let recording = subject.publisher().debounce(for: .seconds(2), clock: clock).record()
    subject.send(1)
    await clock.waitForSleep(1)
    clock.advance(by: .seconds(1))
    subject.send(2)
    // The alarm of the first value goes off, is too early for the second, and is set again.
    #expect(clock.advance(by: .seconds(1)) == 1)
    await clock.waitForSleep(2)
    #expect(recording.values.isEmpty)
    #expect(clock.advance(by: .seconds(1)) == 1)
    #expect(await recording.values(1) == [2])
    subject.send(3)
    await clock.waitForSleep(3)
    clock.advance(by: .seconds(2))
    #expect(await recording.values(2) == [2, 3])
  }

  @Test func debouncePublishesTheLastValueAtTheEnd() {
    let recording = subject.publisher().debounce(for: .seconds(2), clock: clock).record()
    subject.send(1)
    subject.send(completion: .finished)
    #expect(recording.values == [1])
    #expect(recording.completion == .finished)
  }

  @Test func debounceDropsTheValueThatWaitsAtAFailure() {
    let recording = subject.publisher().debounce(for: .seconds(2), clock: clock).record()
    subject.send(1)
    subject.send(completion: .failure(Oops()))
    #expect(recording.values.isEmpty)
    #expect(recording.completion == .failure(Oops()))
  }

  @Test(arguments: [(true, [1, 3, 4]), (false, [1, 2, 4])])
  func throttlePublishesOneValueInAnInterval(_ latest: Bool, _ expected: [Int]) async {
    let recording = subject.publisher()
      .throttle(for: .seconds(1), clock: clock, latest: latest).record()
    subject.send(1)
    #expect(recording.values == [1])
    await clock.waitForSleep(1)
    subject.send(2)
    subject.send(3)
    #expect(recording.values == [1])
    clock.advance(by: .seconds(1))
    #expect(await recording.values(2).count == 2)
    await clock.waitForSleep(2)
    subject.send(4)
    subject.send(completion: .finished)
    #expect(await recording.end() == .finished)
    #expect(recording.values == expected)
  }

  @Test func delayPublishesAllLaterAndInOrder() async {
    let recording = subject.publisher().delay(for: .seconds(3), clock: clock).record()
    subject.send(1)
    await clock.waitForSleep(1)
    clock.advance(by: .seconds(1))
    subject.send(2)
    subject.send(completion: .failure(Oops()))
    #expect(recording.values.isEmpty)
    clock.advance(by: .seconds(2))
    #expect(await recording.values(1) == [1])
    await clock.waitForSleep(2)
    clock.advance(by: .seconds(1))
    #expect(await recording.end() == .failure(Oops()))
    #expect(recording.values == [1, 2])
  }

  @Test func timeoutFailsWhenTheNextValueIsLate() async {
    let cancelled = Tally()
    let recording = subject.publisher().handleEvents(receiveCancel: { cancelled.add() })
      .timeout(.seconds(2), clock: clock) { Oops(number: 7) }.record()
    await clock.waitForSleep(1)
    clock.advance(by: .seconds(1))
    subject.send(1)
    clock.advance(by: .seconds(1))
    await clock.waitForSleep(2)
    #expect(recording.completion == nil)
    clock.advance(by: .seconds(1))
    #expect(await recording.end() == .failure(Oops(number: 7)))
    #expect(recording.values == [1])
    #expect(cancelled.total == 1)
  }

  @Test func timeoutDoesNotConcernAStreamThatEnds() {
    let recording = subject.publisher().timeout(.seconds(2), clock: clock) { Oops() }.record()
    subject.send(completion: .finished)
    #expect(recording.completion == .finished)
  }

  @Test func aTimerTicksAtMultiplesOfItsInterval() async {
    let recording = Publisher.timer(every: .seconds(5), clock: clock).prefix(3).record()
    for tick in 1...3 {
      await clock.waitForSleep(tick)
      #expect(clock.advance(by: .seconds(4)) == 0)
      #expect(clock.advance(by: .seconds(1)) == 1)
      #expect(await recording.values(tick) == Array(1...tick))
    }
    #expect(recording.completion == .finished)
  }

  @Test func sampleTakesTheLatestValueOfEachInterval() async {
    let recording = subject.publisher().sample(every: .seconds(1), clock: clock).record()
    await clock.waitForSleep(1)
    subject.send(1)
    subject.send(2)
    clock.advance(by: .seconds(1))
    #expect(await recording.values(1) == [2])
  }

  @Test func retryWaitsBeforeEachAttempt() async {
    let attempts = Tally()
    let source = Publisher<Int, Oops>.deferred {
      attempts.add()
      return attempts.total < 3 ? .fail(Oops()) : .just(attempts.total)
    }
    let recording = source.retry(5, delay: { .seconds($0) }, clock: clock).record()
    await clock.waitForSleep(1)
    #expect(clock.advance(by: .seconds(1)) == 1)
    await clock.waitForSleep(2)
    #expect(attempts.total == 2)
    #expect(clock.advance(by: .seconds(1)) == 0)
    clock.advance(by: .seconds(1))
    #expect(await recording.end() == .finished)
    #expect(recording.values == [3])
  }

  @Test func aFutureIsLimitedInTime() async {
    let promise = Source()
    let limited = promise.future.timeout(.seconds(1), clock: clock) { Oops(number: 5) }
    await clock.waitForSleep(1)
    clock.advance(by: .seconds(1))
    #expect(await limited.result == .failure(Oops(number: 5)))
    #expect(promise.isCancelled)
    promise.succeed(1)
  }

  @Test func aFutureThatIsInTimeIsNotCancelled() async {
    let promise = Source()
    let limited = promise.future.timeout(.seconds(1), clock: clock) { Oops() }
    promise.succeed(3)
    #expect(limited.outcome == .success(3))
    #expect(!promise.isCancelled)
    #expect(
      Future<Int, Oops>(value: 1).timeout(.zero, clock: clock) { Oops() }.outcome == .success(1))
  }

  @Test func aFutureIsDelayed() async {
    let promise = Source()
    let delayed = promise.future.delay(.seconds(1), clock: clock)
    promise.fail(Oops(number: 3))
    await clock.waitForSleep(1)
    #expect(delayed.outcome == nil)
    clock.advance(by: .seconds(1))
    #expect(await delayed.result == .failure(Oops(number: 3)))
  }

  @Test func cancellingADelayEndsItsWait() async {
    let delayed = Future<Int, Oops>(value: 3).delay(.seconds(1), clock: clock)
    delayed.cancel()
    #expect(await delayed.result == .success(3))
  }
}
