import Synchronization
import WeftFutures

/// A clock that a test advances by hand. Time passes for all sleepers in the order of their deadlines.
final class TestClock: Clock, Sendable {
  struct Instant: InstantProtocol, Sendable {
    var offset: Duration

    func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
    func duration(to other: Instant) -> Duration { other.offset - offset }
    static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
  }

  private struct Sleeper {
    let number: Int
    let deadline: Instant
    let wake: CheckedContinuation<Void, any Error>
  }

  private struct State {
    var now = Instant(offset: .zero)
    var count = 0
    /// The number of sleeps that an advance would wake, or that have ended.
    var begunCount = 0
    var sleepers: [Sleeper] = []
    var cancelled: Set<Int> = []
    var awaited: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())

  var now: Instant { state.withLock { $0.now } }
  var minimumResolution: Duration { .nanoseconds(1) }
  func sleep(until deadline: Instant, tolerance: Duration?) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { wake in
        let ended = state.withLock { state -> Result<Void, any Error>? in
          state.begunCount += 1
          if state.cancelled.contains(number) { return .failure(CancellationError()) }
          if deadline <= state.now { return .success(()) }
          state.sleepers.append(Sleeper(number: number, deadline: deadline, wake: wake))
          return nil
        }
        if let ended { wake.resume(with: ended) }
        announce()
      }
    } onCancel: {
      let sleeper = state.withLock { state -> Sleeper? in
        state.cancelled.insert(number)
        guard let index = state.sleepers.firstIndex(where: { $0.number == number }) else {
          return nil
        }
        return state.sleepers.remove(at: index)
      }
      sleeper?.wake.resume(throwing: CancellationError())
    }
  }

  /// Waits until `count` sleeps have begun, since the clock was made.
  func waitForSleep(_ count: Int) async {
    await withCheckedContinuation { awaiting in
      let isReached = state.withLock { state in
        if state.begunCount < count { state.awaited.append((count, awaiting)) }
        return state.begunCount >= count
      }
      if isReached { awaiting.resume() }
    }
  }

  private func announce() {
    let reached = state.withLock { state in
      let reached = state.awaited.filter { $0.count <= state.begunCount }
      state.awaited.removeAll { $0.count <= state.begunCount }
      return reached
    }
    for (_, awaiting) in reached { awaiting.resume() }
  }

  /// Lets time pass and wakes those whose deadline has come.
  ///
  /// - Returns: Their number.
  @discardableResult
  func advance(by duration: Duration) -> Int {
    let due = state.withLock { state in
      state.now = state.now.advanced(by: duration)
      let due = state.sleepers.filter { $0.deadline <= state.now }
      state.sleepers.removeAll { $0.deadline <= state.now }
      return due.sorted { $0.deadline < $1.deadline }
    }
    for sleeper in due { sleeper.wake.resume() }
    return due.count
  }
}

/// The signals of a subscription, which a test can wait for.
final class Recording<Output: Sendable, Failure: Error>: Sendable {
  private struct State {
    var values: [Output] = []
    var completion: Completion<Failure>?
    var awaited: [(count: Int, CheckedContinuation<Void, Never>)] = []
    var subscription: AnyCancellable?
  }

  private let state = Mutex(State())

  init(_ publisher: Publisher<Output, Failure>) {
    let subscription = publisher.sink { [self] completion in
      state.withLock { $0.completion = completion }
      resume()
    } receiveValue: { [self] value in
      state.withLock { $0.values.append(value) }
      resume()
    }
    state.withLock { $0.subscription = subscription }
  }

  var values: [Output] { state.withLock { $0.values } }
  var completion: Completion<Failure>? { state.withLock { $0.completion } }

  func cancel() { state.withLock { $0.subscription.take() }?.cancel() }

  /// Waits for `count` values, or for the end.
  func values(_ count: Int) async -> [Output] {
    await withCheckedContinuation { awaiting in
      let isReached = state.withLock { state in
        let isReached = state.values.count >= count || state.completion != nil
        if !isReached { state.awaited.append((count, awaiting)) }
        return isReached
      }
      if isReached { awaiting.resume() }
    }
    return values
  }

  /// Waits for the end.
  func end() async -> Completion<Failure>? {
    _ = await values(.max)
    return completion
  }

  private func resume() {
    let reached = state.withLock { state in
      let isReached = { [state] (count: Int) in
        state.values.count >= count || state.completion != nil
      }
      let reached = state.awaited.filter { isReached($0.count) }
      state.awaited.removeAll { isReached($0.count) }
      return reached
    }
    for (_, awaiting) in reached { awaiting.resume() }
  }
}

extension Publisher {
  func record() -> Recording<Output, Failure> { Recording(self) }
}
