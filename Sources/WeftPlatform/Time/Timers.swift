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
