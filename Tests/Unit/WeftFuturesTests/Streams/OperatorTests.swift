import Testing
import WeftFutures

/// Operators one by one, by sources that have their values ready.
@Suite struct OperatorTests {
  typealias Numbers = Publisher<Int, Oops>

  private let numbers = Numbers(1...6)
  private let failing = Numbers(1...2).append(.fail(Oops(number: 9)))

  private func values<Output: Sendable>(_ publisher: Publisher<Output, Oops>) -> [Output] {
    publisher.record().values
  }

  /// Operators on 1 … 6, with what they publish.
  static let table: [(String, @Sendable (Numbers) -> Numbers, [Int])] = [
    ("map", { $0.map { $0 * 2 } }, [2, 4, 6, 8, 10, 12]),
    ("tryMap", { $0.tryMap { $0 + 1 } }, [2, 3, 4, 5, 6, 7]),
    ("compactMap", { $0.compactMap { $0 > 4 ? -$0 : nil } }, [-5, -6]),
    ("filter", { $0.filter { $0.isMultiple(of: 3) } }, [3, 6]),
    ("removeDuplicates", { $0.map { $0 / 2 }.removeDuplicates() }, [0, 1, 2, 3]),
    ("removeDuplicates by", { $0.removeDuplicates { $0 / 4 == $1 / 4 } }, [1, 4]),
    ("scan", { $0.scan(0) { $0 + $1 } }, [1, 3, 6, 10, 15, 21]),
    ("collect", { $0.collect(4).map { $0.reduce(0, +) } }, [10, 11]),
    ("collect exactly", { $0.collect(3).map { $0.reduce(0, +) } }, [6, 15]),
    ("prefix", { $0.prefix(2) }, [1, 2]),
    ("prefix of nothing", { $0.prefix(0) }, []),
    ("prefix of all", { $0.prefix(100) }, [1, 2, 3, 4, 5, 6]),
    ("prefix while", { $0.prefix { $0 < 3 } }, [1, 2]),
    ("dropFirst", { $0.dropFirst(4) }, [5, 6]),
    ("dropFirst of one", { $0.dropFirst() }, [2, 3, 4, 5, 6]),
    ("drop while", { $0.drop { $0 != 4 } }, [4, 5, 6]),
    ("first where", { $0.first { $0 > 3 } }, [4]),
    ("prepend", { $0.prepend(8, 9) }, [8, 9, 1, 2, 3, 4, 5, 6]),
    ("append", { $0.append(8, 9) }, [1, 2, 3, 4, 5, 6, 8, 9]),
    ("append a publisher", { $0.append(.just(7)) }, [1, 2, 3, 4, 5, 6, 7]),
    ("concatMap", { $0.prefix(2).concatMap { Numbers([$0, -$0]) } }, [1, -1, 2, -2]),
    ("flatMap one", { $0.flatMap(maxPublishers: 1) { .just(-$0) } }, [-1, -2, -3, -4, -5, -6]),
    ("flatMap", { $0.flatMap { .just(-$0) } }, [-1, -2, -3, -4, -5, -6]),
    ("zip", { $0.zip($0.dropFirst(2)).map { $0 * $1 } }, [3, 8, 15, 24]),
    ("catch of nothing", { $0.catch { _ in .just(0) } }, [1, 2, 3, 4, 5, 6]),
    ("buffer", { $0.buffer(.bounded(2)) }, [1, 2, 3, 4, 5, 6]),
    ("buffer latest", { $0.buffer(.bufferingLatest(1)) }, [1, 2, 3, 4, 5, 6]),
    ("deferred", { numbers in .deferred { numbers } }, [1, 2, 3, 4, 5, 6]),
    ("merge of one", { .merge($0) }, [1, 2, 3, 4, 5, 6]),
    ("share", { $0.share() }, [1, 2, 3, 4, 5, 6]),
    ("mapResult", { $0.mapResult { $0.map { $0 * 3 } } }, [3, 6, 9, 12, 15, 18]),
    ("retry", { $0.retry(3) }, [1, 2, 3, 4, 5, 6]),
    ("switchToLatest", { Publisher.just($0).switchToLatest() }, [1, 2, 3, 4, 5, 6]),
  ]

  @Test(arguments: table)
  func publishes(_ row: (name: String, apply: @Sendable (Numbers) -> Numbers, expected: [Int])) {
    let recording = row.apply(numbers).record()
    #expect(recording.values == row.expected)
    #expect(recording.completion == .finished)
  }

  @Test(arguments: table.filter { !$0.0.hasPrefix("catch") && !$0.0.hasPrefix("prefix of n") })
  func passesAFailure(_ row: (name: String, apply: @Sendable (Numbers) -> Numbers, [Int])) {
    #expect(row.apply(.fail(Oops(number: 5))).record().completion == .failure(Oops(number: 5)))
  }

  @Test func removeDuplicatesComparesWithThePreviousValue() {
    #expect(values(Numbers([1, 1, 2, 1, 1]).removeDuplicates()) == [1, 2, 1])
  }

  @Test func tryMapEndsWithTheErrorItThrowsAndCancelsItsSource() {
    let cancelled = Tally()
    let recording = numbers.handleEvents(receiveCancel: { cancelled.add() })
      .tryMap { value throws(Oops) in
        if value == 3 { throw Oops(number: value) }
        return value
      }.record()
    #expect(recording.values == [1, 2])
    #expect(recording.completion == .failure(Oops(number: 3)))
    #expect(cancelled.total == 1)
  }

  @Test func failuresAreMappedReplacedAndCaught() {
    #expect(
      failing.mapError { Oops(number: -$0.number) }.record().completion
        == .failure(Oops(number: -9)))
    #expect(failing.replaceError(with: 7).record().values == [1, 2, 7])
    #expect(failing.catch { Numbers([$0.number, 10]) }.record().values == [1, 2, 9, 10])
    #expect(failing.ignoreFailure().record().completion == .finished)
    #expect(
      failing.asResults().record().values == [.success(1), .success(2), .failure(Oops(number: 9))])
    #expect(values(failing.mapResult { $0.flatMapError { .success($0.number) } }) == [1, 2, 9])
    #expect(Publisher<Int, Never>.just(1).setFailureType(to: Oops.self).record().values == [1])
  }

  @Test func mapResultDoesNotSeeTheFailuresItReturns() {
    let calls = Tally()
    let recording = numbers.mapResult { result -> Result<Int, Oops> in
      calls.add()
      return .failure(Oops(number: 1))
    }.record()
    #expect(recording.completion == .failure(Oops(number: 1)))
    #expect(calls.total == 1)
  }

  @Test func retrySubscribesAgainUpToItsLimit() {
    let attempts = Tally()
    let source = Numbers.deferred {
      attempts.add()
      return Numbers([attempts.total]).append(.fail(Oops(number: attempts.total)))
    }
    let recording = source.retry(2).record()
    #expect(recording.values == [1, 2, 3])
    #expect(recording.completion == .failure(Oops(number: 3)))
  }

  @Test func combineLatestPublishesEachChange() {
    let (left, right) = (PassthroughSubject<Int, Oops>(), PassthroughSubject<String, Oops>())
    let recording = left.publisher().combineLatest(right.publisher()).map { "\($0)\($1)" }.record()
    left.send(1)
    left.send(2)
    right.send("a")
    right.send("b")
    left.send(3)
    left.send(completion: .finished)
    right.send("c")
    #expect(recording.values == ["2a", "2b", "3b", "3c"])
    #expect(recording.completion == nil)
    right.send(completion: .finished)
    #expect(recording.completion == .finished)
  }

  @Test func combineLatestOfThreeTypes() {
    let recording = Publisher.combineLatest(
      Publisher<Int, Never>.just(1), Publisher<String, Never>.just("a"),
      Publisher<Bool, Never>.just(true)
    ).map { "\($0)\($1)\($2)" }.record()
    #expect(recording.values == ["1atrue"])
    #expect(recording.completion == .finished)
  }

  @Test func combineLatestFinishesWithAnInputThatHasNoValue() {
    let recording = Numbers.never.combineLatest(Numbers.empty).map { $0 + $1 }.record()
    #expect(recording.completion == .finished)
  }

  @Test func zipFinishesWhenAnInputIsUsedUp() {
    let cancelled = Tally()
    let subject = PassthroughSubject<Int, Oops>()
    let recording = Publisher.zip(
      subject.publisher().handleEvents(receiveCancel: { cancelled.add() }), Numbers(1...2),
      Numbers(1...9)
    ).map { $0 * $1 * $2 }.record()
    subject.send(1)
    #expect(recording.completion == nil)
    subject.send(1)
    #expect(recording.values == [1, 4])
    #expect(recording.completion == .finished)
    #expect(cancelled.total == 1)
  }

  @Test func joinsOfNothingFinishAtOnce() {
    #expect(Publisher<(), Never>.zip().record().completion == .finished)
    #expect(Publisher<(), Never>.combineLatest().record().completion == .finished)
    #expect(Numbers.merge([]).record().completion == .finished)
    #expect(Numbers.concat([]).record().completion == .finished)
  }

  @Test func mergePublishesAsValuesComeAndFailsWithTheFirstFailure() {
    let (one, two) = (PassthroughSubject<Int, Oops>(), PassthroughSubject<Int, Oops>())
    let recording = one.publisher().merge(with: two.publisher()).record()
    one.send(1)
    two.send(2)
    one.send(completion: .finished)
    two.send(3)
    two.send(completion: .failure(Oops()))
    #expect(recording.values == [1, 2, 3])
    #expect(recording.completion == .failure(Oops()))
  }

  @Test func flatMapLatestCancelsThePreviousStream() {
    let outer = PassthroughSubject<Int, Oops>()
    let inner = (0..<2).map { _ in PassthroughSubject<Int, Oops>() }
    let cancelled = Log<Int>()
    let recording = outer.publisher().flatMapLatest { index in
      inner[index].publisher().handleEvents(receiveCancel: { cancelled.write(index) })
    }.record()
    outer.send(0)
    inner[0].send(1)
    outer.send(1)
    inner[0].send(2)
    inner[1].send(3)
    outer.send(completion: .finished)
    inner[1].send(4)
    #expect(recording.completion == nil)
    inner[1].send(completion: .finished)
    #expect(recording.values == [1, 3, 4])
    #expect(recording.completion == .finished)
    #expect(cancelled.entries == [0])
  }

  @Test func flatMapLimitsTheStreamsThatRun() {
    let started = Log<Int>()
    let gates = (0..<4).map { _ in PassthroughSubject<Int, Oops>() }
    let recording = Numbers(0..<4).flatMap(maxPublishers: 2) { index in
      started.write(index)
      return gates[index].publisher()
    }.record()
    #expect(started.entries == [0, 1])
    gates[1].send(completion: .finished)
    #expect(started.entries == [0, 1, 2])
    for gate in gates { gate.send(completion: .finished) }
    #expect(started.entries == [0, 1, 2, 3])
    gates[3].send(completion: .finished)
    #expect(recording.completion == .finished)
  }

  @Test func withLatestFromAddsTheLatestValueOfTheOther() {
    let (main, other) = (PassthroughSubject<Int, Never>(), PassthroughSubject<String, Never>())
    let recording = main.publisher().withLatestFrom(other.publisher()).map { "\($0)\($1)" }.record()
    main.send(1)
    other.send("a")
    main.send(2)
    other.send("b")
    other.send("c")
    main.send(3)
    other.send(completion: .finished)
    main.send(4)
    main.send(completion: .finished)
    #expect(recording.values == ["2a", "3c", "4c"])
    #expect(recording.completion == .finished)
  }

  @Test func sampleTakesTheLatestValueAtEachTrigger() {
    let (main, trigger) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Void, Never>())
    let recording = main.publisher().sample(on: trigger.publisher()).record()
    trigger.send()
    main.send(1)
    main.send(2)
    trigger.send()
    trigger.send()
    main.send(3)
    trigger.send()
    #expect(recording.values == [2, 3])
  }

  @Test func prefixUntilOutputEndsWithTheOtherStream() {
    let (main, other) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
    let recording = main.publisher().prefix(untilOutputFrom: other.publisher()).record()
    main.send(1)
    other.send(0)
    main.send(2)
    #expect(recording.values == [1])
    #expect(recording.completion == .finished)
  }

  @Test func streamsBecomeFutures() {
    #expect(numbers.first().outcome == .success(1))
    #expect(numbers.last().outcome == .success(6))
    #expect(numbers.collect().outcome == .success([1, 2, 3, 4, 5, 6]))
    #expect(numbers.reduce("") { $0 + "\($1)" }.outcome == .success("123456"))
    #expect(failing.collect().outcome == .failure(Oops(number: 9)))
    #expect(Numbers.empty.first().outcome == .success(nil))
  }

  @Test func cancellingTheFutureOfAStreamCancelsTheStream() {
    let cancelled = Tally()
    let subject = PassthroughSubject<Int, Oops>()
    let all = subject.publisher().handleEvents(receiveCancel: { cancelled.add() }).collect()
    subject.send(1)
    #expect(all.outcome == nil)
    all.cancel()
    subject.send(2)
    #expect(all.outcome == .success([1]))
    #expect(cancelled.total == 1)
  }

  @Test func futuresBecomeStreams() {
    let promise = Source()
    let recording = promise.future.publisher.record()
    promise.succeed(4)
    #expect(recording.values == [4])
    #expect(recording.completion == .finished)
    let failed = Publisher { Future<Int, Oops>(failure: Oops(number: 2)) }
    #expect(failed.record().completion == .failure(Oops(number: 2)))
  }

  @Test func cancellingTheStreamOfAFutureWithdrawsItsInterest() {
    let promise = Source()
    let recording = promise.future.publisher.record()
    recording.cancel()
    #expect(promise.isCancelled)
    promise.succeed(1)
    #expect(recording.values.isEmpty)
  }

  @Test func printWritesALineForEachEvent() {
    let lines = Log<String>()
    _ = failing.print("n") { lines.write($0) }.record()
    let subscription = Numbers.never.print { lines.write($0) }.sink { _ in }
    subscription.cancel()
    #expect(
      lines.entries == ["n: value 1", "n: value 2", "n: failure Oops(number: 9)", "cancelled"])
  }

  @Test func anErrorTypeOfNeverNeedsNoHandling() {
    let total: Int = Publisher<Int, Never>(1...3).reduce(0) { $0 + $1 }.outcome?.get() ?? 0
    #expect(total == 6)
  }
}
