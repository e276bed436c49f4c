/// The state of a future apart from its outcome: its phase, its waiters and the number of interests.
///
/// Every method only decides. The caller holds the lock during the call, and acts on the result after it has released
/// the lock.
@usableFromInline
struct FutureState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    /// There has been no interest yet; the first one starts the work.
    case unstarted
    case pending
    case settled
  }

  /// The action that a new interest requires.
  enum Arrival: Sendable {
    /// None: the outcome is pending.
    case waits
    /// Start the work: this is the first interest in a deferred future.
    case starts
    /// Run the new waiter: the outcome is available.
    case isReady
  }

  private(set) var phase: Phase
  private(set) var isCancelled = false
  /// The number of interests in the outcome. Only a withdrawal that brings it to zero cancels; its initial zero does
  /// not.
  private var interested: Int32 = 0
  private var waiting = WaiterQueue()

  init(_ phase: Phase) { self.phase = phase }

  /// Adds one interest in the outcome.
  mutating func addInterest() -> Arrival {
    guard phase != .settled else { return .isReady }
    interested += 1
    guard phase == .unstarted else { return .waits }
    phase = .pending
    return .starts
  }

  /// Keeps `waiter` until the outcome is available; if the future is settled, the caller runs it instead.
  mutating func enqueue(_ waiter: Continuation) -> Arrival {
    guard phase != .settled else { return .isReady }
    waiting.append(waiter)
    return .waits
  }

  /// Adds an interest and keeps its waiter, as ``addInterest()`` and ``enqueue(_:)``.
  mutating func attach(_ waiter: Continuation) -> Arrival {
    let arrival = addInterest()
    if arrival != .isReady { waiting.append(waiter) }
    return arrival
  }

  /// Settles the state, once. Later calls return `nil`.
  ///
  /// - Returns: The waiters.
  mutating func settle() -> WaiterQueue? {
    guard phase != .settled else { return nil }
    phase = .settled
    defer { waiting = WaiterQueue() }
    return waiting
  }

  /// Whether this request is the first, and there is still something to cancel.
  mutating func cancel() -> Bool {
    guard phase != .settled, !isCancelled else { return false }
    isCancelled = true
    return true
  }

  /// Removes one interest in the outcome.
  ///
  /// - Returns: Whether that makes it a cancellation.
  mutating func withdraw() -> Bool {
    guard phase != .settled else { return false }
    interested -= 1
    precondition(interested >= 0, "an interest was withdrawn twice: \(interested)")
    return interested == 0 && cancel()
  }
}
