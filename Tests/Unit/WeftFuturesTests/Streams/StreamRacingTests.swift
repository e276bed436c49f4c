import Synchronization
import Testing
import WeftFutures

/// Several threads at one pipeline, with seeds: what each subscriber sees must be possible by a model in which every call
/// happens at one moment.
@Suite struct StreamRacingTests {
  private static let threadCount = 4
  private static let callCount = 25

  private struct Sent: Hashable, Sendable {
    let thread: Int
    let number: Int
  }

  /// The values that one subscriber saw, with checks that must hold at every moment.
  private final class Seen: Sendable {
    private let entries = Mutex<[Sent]>([])
    private let isInside = Atomic<Bool>(false)
    let overlaps = Tally()
    let ends = Tally()
    let afterEnd = Tally()

    var values: [Sent] { entries.withLock { $0 } }

    func receive(_ value: Sent) {
      if isInside.exchange(true, ordering: .acquiringAndReleasing) { overlaps.add() }
      if ends.total > 0 { afterEnd.add() }
      entries.withLock { $0.append(value) }
      isInside.store(false, ordering: .releasing)
    }

    func end() {
      if isInside.load(ordering: .acquiring) { overlaps.add() }
      ends.add()
    }
  }

  /// Whether `part` is an interval of `whole`.
  private func isInterval(_ part: [Sent], of whole: [Sent]) -> Bool {
    guard let first = part.first else { return true }
    guard let start = whole.firstIndex(of: first) else { return false }
    return whole[start...].prefix(part.count).elementsEqual(part)
  }

  @Test(arguments: 0..<60 as Range<UInt64>)
  func sendsSubscriptionsAndCancelsAreLinearizable(seed: UInt64) {
    let subject = PassthroughSubject<Sent, Never>()
    let reference = Seen()
    let keeper = subject.publisher().sink { _ in
      reference.end()
    } receiveValue: {
      reference.receive($0)
    }
    let accepted = Log<Sent>()
    let members = Log<(seen: Seen, wasCancelled: Bool)>()
    onThreads(
      (0..<Self.threadCount).map { thread in
        {
          var random = Seeded(seed &* 31 &+ UInt64(thread))
          var own: [(Seen, AnyCancellable)] = []
          for number in 0..<Self.callCount {
            switch Int.random(in: 0..<8, using: &random) {
            case 0:
              let seen = Seen()
              let pipeline = subject.publisher().map { $0 }.filter { _ in true }
              own.append(
                (
                  seen,
                  (Bool.random(using: &random) ? pipeline : pipeline.buffer(.unbounded))
                    .sink { _ in
                      seen.end()
                    } receiveValue: {
                      seen.receive($0)
                    }
                ))
            case 1 where !own.isEmpty:
              let (seen, subscription) = own.removeLast()
              subscription.cancel()
              members.write((seen, true))
            case 2 where number > Self.callCount - 2 && thread == 0:
              subject.send(completion: .finished)
            default:
              let value = Sent(thread: thread, number: number)
              if subject.send(value) { accepted.write(value) }
            }
          }
          for (seen, subscription) in own {
            withExtendedLifetime(subscription) { members.write((seen, false)) }
          }
          // A different thread may still be delivering to these; they are kept until all threads have ended.
          kept.write(own.map { $0.1 })
        }
      })
    subject.send(completion: .finished)
    #expect(reference.ends.total == 1)
    let order = reference.values
    // All accepted values, once, and those of each thread in its order.
    #expect(Set(order) == Set(accepted.entries))
    #expect(order.count == accepted.entries.count)
    for thread in 0..<Self.threadCount {
      let numbers = order.filter { $0.thread == thread }.map(\.number)
      #expect(numbers == numbers.sorted())
    }
    for (seen, wasCancelled) in members.entries {
      let values = seen.values
      #expect(isInterval(values, of: order))
      #expect(seen.overlaps.total == 0)
      #expect(seen.afterEnd.total == 0)
      if !wasCancelled {
        #expect(seen.ends.total == 1)
        #expect(values.isEmpty || values.last == order.last)
      }
    }
    keeper.cancel()
  }

  private let kept = Log<[AnyCancellable]>()

  @Test func theLastValueDeliveredIsTheCurrentOne() {
    for round in 0..<100 {
      let subject = CurrentValueSubject<Int, Never>(-1)
      let last = Log<Int>()
      let subscription = subject.publisher(.unbounded).sink { last.write($0) }
      onThreads(
        (0..<Self.threadCount).map { thread in
          { for number in 0..<10 { subject.send(thread * 100 + number + round) } }
        })
      subject.send(-2)
      #expect(subject.value == -2)
      #expect(last.entries.count == 2 + Self.threadCount * 10)
      #expect(last.entries.last == -2)
      subscription.cancel()
    }
  }

  @Test func nothingBeginsOnAThreadAfterItHasCancelled() {
    for _ in 0..<200 {
      let subject = PassthroughSubject<Int, Never>()
      let isOver = Atomic<Bool>(false)
      let late = Tally()
      let seen = Atomic<Int>(0)
      let subscription = subject.publisher().map { $0 }.sink { _ in
        if isOver.load(ordering: .acquiring) { late.add() }
        seen.wrappingAdd(1, ordering: .relaxed)
      }
      onThreads([
        { for value in 0..<20 { subject.send(value) } },
        {
          subscription.cancel()
          // One callback may have begun before, on the other thread.
          let before = seen.load(ordering: .sequentiallyConsistent)
          isOver.store(true, ordering: .releasing)
          withExtendedLifetime(before) {}
        },
      ])
      #expect(late.total <= 1)
    }
  }

  @Test(arguments: 0..<30 as Range<UInt64>)
  func joinsLoseNothingWhenThreadsRace(seed: UInt64) {
    let subjects = (0..<Self.threadCount).map { _ in PassthroughSubject<Int, Never>() }
    let merged = Publisher.merge(subjects.map { $0.publisher() }).concatMap { value in
      Publisher<Int, Never>([value, value])
    }.collect()
    let zipped = Publisher.zip(subjects[0].publisher(), subjects[1].publisher()).collect()
    let latest = Publisher.combineLatest(subjects[2].publisher(), subjects[3].publisher()).collect()
    onThreads(
      subjects.enumerated().map { thread, subject in
        {
          var random = Seeded(seed &+ UInt64(thread))
          for number in 0..<Int.random(in: 1...50, using: &random) {
            subject.send(thread * 1000 + number)
          }
          subject.send(completion: .finished)
        }
      })
    let counts = (0..<UInt64(Self.threadCount)).map { thread in
      var random = Seeded(seed &+ thread)
      return Int.random(in: 1...50, using: &random)
    }
    let values = merged.outcome?.get() ?? []
    #expect(values.count == 2 * counts.reduce(0, +))
    for thread in 0..<Self.threadCount {
      let own: [Int] = values.filter { $0 / 1000 == thread }
      let expected: [Int] = (0..<counts[thread]).flatMap { number -> [Int] in
        [thread * 1000 + number, thread * 1000 + number]
      }
      #expect(own == expected)
    }
    let pairs = zipped.outcome?.get() ?? []
    let pairCount = min(counts[0], counts[1])
    #expect(pairs.map { $0.0 } == Array(0..<pairCount))
    #expect(pairs.map { $0.1 } == Array(1000..<1000 + pairCount))
    let last = latest.outcome?.get().last
    #expect(last?.0 == 2000 + counts[2] - 1)
    #expect(last?.1 == 3000 + counts[3] - 1)
  }

  @Test func sharedStreamsBeginAndEndOnceAtATime() {
    for _ in 0..<100 {
      let running = Atomic<Int>(0)
      let most = Atomic<Int>(0)
      let subject = PassthroughSubject<Int, Never>()
      let shared = Publisher<Int, Never>.callback { emitter in
        let now = running.wrappingAdd(1, ordering: .sequentiallyConsistent).newValue
        most.max(now, ordering: .sequentiallyConsistent)
        let inner = subject.publisher().sink { emitter.send($0) }
        return AnyCancellable {
          inner.cancel()
          running.wrappingSubtract(1, ordering: .sequentiallyConsistent)
        }
      }.share()
      onThreads(
        Array(
          repeating: {
            for _ in 0..<5 { shared.sink { _ in }.cancel() }
          }, count: Self.threadCount))
      #expect(running.load(ordering: .sequentiallyConsistent) == 0)
    }
  }
}
