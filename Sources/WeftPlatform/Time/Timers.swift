import CWeftPlatform
import Synchronization

/// Real time: one thread, started with the first action, that sleeps until the next one is due.
package final class Timers: TimeSource {
  private let schedule = TimerSchedule()

  package init() {}

  deinit { schedule.close() }

  package var now: Duration { MonotonicClock.now }

  /// Starts the thread now, so that `schedule` cannot fail later because there is none.
  package func prepare() throws(SystemError) { try schedule.startThread() }

  /// - Precondition: The system can create a thread when the first action is scheduled; see `prepare`.
  package func schedule(
    after delay: Duration, _ action: @escaping @Sendable () -> Void
  ) -> TimerToken {
    do { try schedule.startThread() } catch { fatalError("no thread for timers: \(error)") }
    let schedule = schedule
    let id = schedule.add(action, due: now + delay)
    return TimerToken { schedule.cancel(id) }
  }
}

/// The state that `Timers` and its thread share. The thread refers to it and not to the timers, so that those can be
/// released.
private final class TimerSchedule: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var queue = TimerQueue<Action>()
    var hasThread = false
    var isClosed = false
  }

  private enum Next {
    case run(Action)
    case sleep(Duration?)
    case end
  }

  private let state = Mutex(State())
  private let parking = Parking()

  func startThread() throws(SystemError) {
    try state.withLock { state throws(SystemError) in
      guard !state.hasThread else { return }
      try Thread.start(name: "weft-timers", stackBytes: 512 * 1024) { self.run() }
      state.hasThread = true
    }
  }

  func add(_ action: @escaping Action, due: Duration) -> TimerQueue<Action>.ID {
    let (id, isNext) = state.withLock { state in
      let before = state.queue.nextDue()
      let id = state.queue.add(action, due: due)
      return (id, before.map { due < $0 } ?? true)
    }
    if isNext { parking.unpark() }
    return id
  }

  func cancel(_ id: TimerQueue<Action>.ID) {
    // Released outside the lock: objects that the action holds may cancel their own timers.
    let cancelled = state.withLock { $0.queue.cancel(id) }
    _ = consume cancelled
  }

  func close() {
    let left = state.withLock { state in
      state.isClosed = true
      defer { state.queue = TimerQueue() }
      return state.queue
    }
    _ = consume left
    parking.unpark()
  }

  private func run() {
    while true {
      switch next() {
      case .run(let action): action()
      case .sleep(let time): _ = parking.park(atMost: time)
      case .end: return
      }
    }
  }

  private func next() -> Next {
    state.withLock { state in
      if state.isClosed { return .end }
      let now = MonotonicClock.now
      if let action = state.queue.takeDue(at: now) { return .run(action) }
      return .sleep(state.queue.nextDue().map { $0 - now })
    }
  }
}

/// Actions by due time: a binary heap, in which cancelled entries stay until they come up or are the majority.
package struct TimerQueue<Action> {
  /// A number that increases in the order of scheduling.
  package typealias ID = UInt64

  private struct Entry {
    var due: Duration
    var id: ID

    func isBefore(_ other: Entry) -> Bool { (due, id) < (other.due, other.id) }
  }

  private var heap: [Entry] = []
  private var actions: [ID: Action] = [:]
  private var nextID: ID = 0

  package init() {}

  package var isEmpty: Bool { actions.isEmpty }
  package var count: Int { actions.count }
  /// The number of entries, including cancelled ones that are still stored.
  var storedCount: Int { heap.count }

  package mutating func add(_ action: Action, due: Duration) -> ID {
    defer { nextID += 1 }
    actions[nextID] = action
    heap.append(Entry(due: due, id: nextID))
    siftUp(from: heap.count - 1)
    return nextID
  }

  /// Cancels an action and returns it, unless it was taken or cancelled before.
  @discardableResult
  package mutating func cancel(_ id: ID) -> Action? {
    let action = actions.removeValue(forKey: id)
    if heap.count > 64, heap.count > 2 * actions.count { forgetCancelled() }
    return action
  }

  /// The time at which the next action is due.
  package mutating func nextDue() -> Duration? {
    while let first = heap.first, actions[first.id] == nil { removeFirst() }
    return heap.first?.due
  }

  /// Removes the next action that is due at `now`.
  package mutating func takeDue(at now: Duration) -> Action? {
    guard let due = nextDue(), due <= now else { return nil }
    let first = heap[0]
    removeFirst()
    return actions.removeValue(forKey: first.id)
  }

  private mutating func forgetCancelled() {
    // A sorted array is a heap.
    heap = heap.filter { actions[$0.id] != nil }.sorted { $0.isBefore($1) }
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      let left = 2 * parent + 1
      guard left < heap.count else { return }
      let right = left + 1
      let child = right < heap.count && heap[right].isBefore(heap[left]) ? right : left
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      parent = child
    }
  }
}
