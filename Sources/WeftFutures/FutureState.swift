/// What a future knows about itself apart from its outcome: how far it is, who waits, who still cares.
///
/// Every method only decides. The caller holds the lock while it asks, and acts on the answer after
/// it has let the lock go.
@usableFromInline
struct FutureState: Sendable {
  @usableFromInline
  enum Phase: Sendable {
    /// Nobody has looked at it yet, and its work starts when somebody does.
    case unstarted
    case pending
    case settled
  }

  /// What a newcomer makes necessary.
  enum Arrival: Sendable {
    /// Nothing: the outcome is to come.
    case waits
    /// The first look at a deferred future: its work is to be started.
    case starts
    /// The outcome is there: the newcomer is to be run.
    case isReady
  }

  private(set) var phase: Phase
  private(set) var isCancelled = false
  /// How many would still use the outcome. Only a withdrawal that brings it to zero cancels; zero at
  /// the beginning does not.
  private var interested: Int32 = 0
  private var waiting = WaiterQueue()

  init(_ phase: Phase) { self.phase = phase }

  /// Counts one more that wants the outcome.
  mutating func addInterest() -> Arrival {
    guard phase != .settled else { return .isReady }
    interested += 1
    guard phase == .unstarted else { return .waits }
    phase = .pending
    return .starts
  }

  /// Keeps `waiter` until the outcome is there; a settled future has it run instead.
  mutating func enqueue(_ waiter: Waiter) -> Arrival {
    guard phase != .settled else { return .isReady }
    waiting.append(waiter)
    return .waits
  }

  /// Both at once.
  mutating func attach(_ waiter: Waiter) -> Arrival {
    let arrival = addInterest()
    if arrival != .isReady { waiting.append(waiter) }
    return arrival
  }

  /// Ends the waiting, once. Later calls return nil.
  ///
  /// - Returns: Those who waited.
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

  /// Counts one less that wants the outcome; whether that makes it a cancellation.
  mutating func withdraw() -> Bool {
    guard phase != .settled else { return false }
    interested -= 1
    precondition(interested >= 0, "an interest was withdrawn twice: \(interested)")
    return interested == 0 && cancel()
  }
}
