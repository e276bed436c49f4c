import Synchronization

/// The time that has passed on a clock of any type.
struct Timeline: Sendable {
  private let now: @Sendable () -> Duration
  private let wait: @Sendable (Duration) async throws -> Void

  init(_ clock: some Clock<Duration>) {
    let start = clock.now
    now = { start.duration(to: clock.now) }
    wait = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
  }

  /// The time since the timeline was made.
  var elapsed: Duration { now() }

  /// Waits until `time` has elapsed.
  ///
  /// - Returns: Whether it has; `false` if the task was cancelled.
  func sleep(until time: Duration) async -> Bool {
    do { try await wait(time) } catch { return false }
    return !Task.isCancelled
  }
}

/// A time at which an origin is to react, once. Releasing it cancels the wait.
final class Alarm: Sendable {
  private let due: Due
  private let task: Task<Void, Never>

  private final class Due: Sendable {
    let isDue = Atomic<Bool>(false)
  }

  init(_ timeline: Timeline, at time: Duration, for origin: Origin) {
    let due = Due()
    self.due = due
    task = Task { [weak origin] in
      guard await timeline.sleep(until: time) else { return }
      due.isDue.store(true, ordering: .releasing)
      origin?.notify()
    }
  }

  deinit { task.cancel() }

  /// Whether the time has come.
  var isDue: Bool { due.isDue.load(ordering: .acquiring) }
}
