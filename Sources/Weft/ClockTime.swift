package import WeftPlatform

/// The time of an engine by a clock of the embedding program.
struct ClockTime<Source: Clock<Duration>>: TimeSource {
  private let clock: Source
  private let start: Source.Instant

  fileprivate init(_ clock: Source) {
    self.clock = clock
    start = clock.now
  }

  var now: Duration { start.duration(to: clock.now) }

  /// Actions due at the same time are called in the order in which the clock resumes their tasks.
  func schedule(after delay: Duration, _ action: @escaping @Sendable () -> Void) -> TimerToken {
    let due = clock.now.advanced(by: max(.zero, delay))
    let task = Task { [clock] in
      do { try await clock.sleep(until: due, tolerance: nil) } catch { return }
      if !Task.isCancelled { action() }
    }
    return TimerToken { task.cancel() }
  }
}

/// A clock that is a source of time itself, and so keeps the order of what is due at the same time.
package protocol TimeSourceClock {
  var timeSource: any TimeSource { get }
}

/// Chooses the source of time for a clock.
enum TimeSources {
  static func of(_ clock: any Clock<Duration>) -> any TimeSource {
    if let clock = clock as? any TimeSourceClock { return clock.timeSource }
    func opened(_ clock: some Clock<Duration>) -> any TimeSource { ClockTime(clock) }
    return opened(clock)
  }
}
