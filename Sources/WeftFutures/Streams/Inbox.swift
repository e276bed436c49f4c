import Synchronization

/// The rule for values that come while a subscriber is busy.
public enum BufferPolicy: Sendable, Hashable {
  /// Keeps up to this many values; the sender is suspended until there is room. At least 1.
  case bounded(Int)
  /// Keeps all values, without a limit.
  case unbounded
  /// Keeps the oldest values, up to this many, and drops a newer one. At least 1.
  case bufferingOldest(Int)
  /// Keeps the latest values, up to this many, and drops the oldest. At least 1.
  case bufferingLatest(Int)

  /// The bound; `nil` without one.
  var limit: Int? {
    switch self {
    case .bounded(let count), .bufferingOldest(let count), .bufferingLatest(let count): count
    case .unbounded: nil
    }
  }

  /// Stops the program if the bound is not positive.
  func check() {
    guard let limit else { return }
    precondition(limit > 0, "a buffer needs room for at least one value, not \(limit)")
  }

  /// Stops the program if the policy would suspend a sender that cannot be suspended.
  func checkForSynchronousSender() {
    check()
    if case .bounded = self {
      preconditionFailure("\(self) suspends its sender, and this one cannot be suspended")
    }
  }
}

/// The values that wait for one subscriber, decided as a pure struct.
struct Buffer<Value> {
  enum Arrival {
    case kept
    /// The buffer keeps a different value than before, or not this one. The caller releases it outside the lock.
    case dropped(Value)
    /// There is no room; the value is returned.
    case full(Value)
  }

  let policy: BufferPolicy
  private var values = Fifo<Value>()

  init(_ policy: BufferPolicy) { self.policy = policy }

  var isEmpty: Bool { values.isEmpty }
  var isFull: Bool { policy.limit.map { values.count >= $0 } ?? false }

  mutating func append(_ value: Value) -> Arrival {
    guard isFull else {
      values.append(value)
      return .kept
    }
    switch policy {
    case .bounded, .unbounded: return .full(value)
    case .bufferingOldest: return .dropped(value)
    case .bufferingLatest:
      guard let oldest = values.popFirst() else { return .dropped(value) }
      values.append(value)
      return .dropped(oldest)
    }
  }

  mutating func popFirst() -> Value? { values.popFirst() }
}

/// The origin of a subscription whose values are sent from outside: by a subject, a callback or a task.
///
/// A value that finds the subscriber waiting is delivered without a detour; otherwise it goes into the buffer. Sendable as
/// every ``Origin`` is; what senders and the drain share is in the mutex.
@usableFromInline
final class Inbox<Output: Sendable, Failure: Error>: Origin, @unchecked Sendable {
  private struct Waiting: Sendable {
    let value: Output
    let sender: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var buffer: Buffer<Output>
    var senders = Fifo<Waiting>()
    var completion: Completion<Failure>?
    var isOver = false
  }

  private let state: Mutex<State>
  // Used by the drain only.
  @exclusivity(unchecked) private var whenStarted: (() -> Void)?
  @exclusivity(unchecked) private var whenOver: (() -> Void)?

  @usableFromInline
  init(_ stage: Stage, _ policy: BufferPolicy) {
    state = Mutex(State(buffer: Buffer(policy)))
    super.init(stage)
  }

  /// Calls `body` once when the subscription has ended in any way. Called before the first request.
  func whenOver(_ body: @escaping () -> Void) { whenOver = body }

  /// Calls `body` at the first request. Called before it.
  func whenStarted(_ body: @escaping () -> Void) { whenStarted = body }

  override func react(_ ready: RunQueue) {
    whenStarted.take()?()
    hasBacklog = true
    while isOpen {
      let (value, resumed) = state.withLock { state -> (Output?, Waiting?) in
        guard let value = state.buffer.popFirst() else { return (nil, nil) }
        let waiting = state.senders.popFirst()
        if let waiting { _ = state.buffer.append(waiting.value) }
        return (value, waiting)
      }
      resumed?.sender.resume(returning: true)
      guard let value else {
        hasBacklog = false
        break
      }
      emit(value)
      if !isEnded, isInterrupted(ready) { return }
    }
    guard !isEnded else { return }
    let completion = state.withLock { $0.buffer.isEmpty ? $0.completion : nil }
    if let completion { finish(completion) }
  }

  override func cleanUp() {
    // The task of a sender that learns of the end has been cancelled.
    whenOver.take()?()
    let (buffer, senders, completion) = state.withLock { state in
      state.isOver = true
      let left = (state.buffer, state.senders, state.completion)
      state.buffer = Buffer(state.buffer.policy)
      state.senders = Fifo()
      state.completion = nil
      return left
    }
    var waiting = senders
    while let next = waiting.popFirst() { next.sender.resume(returning: false) }
    withExtendedLifetime((buffer, completion)) {}
    whenStarted = nil
  }

  /// Puts a value into the buffer.
  ///
  /// - Returns: A value to release outside of all locks, and whether the value was taken: not after the end, and not by a
  ///   full bounded buffer.
  func offer(_ value: Output) -> (dropped: Output?, isTaken: Bool) {
    let (arrival, isOver) = state.withLock { state -> (Buffer<Output>.Arrival, Bool) in
      guard !state.isOver, state.completion == nil else { return (.dropped(value), true) }
      return (state.buffer.append(value), false)
    }
    switch arrival {
    case .kept:
      notify()
      return (nil, true)
    case .dropped(let dropped): return (dropped, !isOver)
    case .full(let value): return (value, false)
    }
  }

  /// Stores the end, which is sent after all values of the buffer. Only the first counts.
  @discardableResult
  func offer(_ completion: Completion<Failure>) -> Bool {
    let isFirst = state.withLock { state in
      guard !state.isOver, state.completion == nil else { return false }
      state.completion = completion
      return true
    }
    if isFirst { notify() }
    return isFirst
  }

  /// Puts a value into the buffer and, if that is bounded and full, suspends until there is room.
  ///
  /// - Returns: Whether the value was taken; `false` after the end.
  func send(_ value: Output) async -> Bool {
    let (dropped, isTaken) = offer(value)
    guard dropped != nil, !isTaken else { return isTaken }
    return await withCheckedContinuation { sender in
      let answer = state.withLock { state -> Bool? in
        guard !state.isOver, state.completion == nil else { return false }
        if !state.buffer.isFull {
          _ = state.buffer.append(value)
          return true
        }
        state.senders.append(Waiting(value: value, sender: sender))
        return nil
      }
      guard let answer else { return }
      if answer { notify() }
      sender.resume(returning: answer)
    }
  }
}
