import Synchronization
import WeftEvents
import WeftPlatform

/// Publishes the progress of one attempt: at most ten events a second, and always the last state.
///
/// For progress that is reported by calls; ``ProgressFiles`` reads files at that pace.
final class ProgressReporter: Sendable {
  private struct State {
    var latest: StepProgress?
    var pace = ProgressPace(interval: ProgressFiles.interval)
    /// Nothing is published before this time.
    var quietUntil: Duration
    var isTimerSet = false
    var isClosed = false
  }

  private let attempt: Attempt
  private let time: any TimeSource
  private let state: Mutex<State>

  /// - Parameter delay: The time for which nothing is published; nothing at all if the attempt ends within it.
  init(of attempt: Attempt, _ time: any TimeSource, after delay: Duration = .zero) {
    self.attempt = attempt
    self.time = time
    state = Mutex(State(quietUntil: delay > .zero ? time.now + delay : .zero))
  }

  /// Callable on any thread; ignored after ``close()``.
  func report(_ progress: StepProgress) {
    let now = time.now
    let delay = state.withLock { state -> Duration? in
      guard !state.isClosed, progress != state.latest else { return nil }
      state.latest = progress
      guard now >= state.quietUntil else { return nil }
      state.pace.changed(at: now)
      if state.pace.show(at: now) {
        publish(progress)
        return nil
      }
      guard !state.isTimerSet, let due = state.pace.due else { return nil }
      state.isTimerSet = true
      return due - now
    }
    guard let delay else { return }
    _ = time.schedule(after: delay) { [weak self] in self?.timePassed() }
  }

  private func timePassed() {
    let now = time.now
    state.withLock { state in
      state.isTimerSet = false
      guard !state.isClosed, let latest = state.latest, state.pace.show(at: now) else { return }
      publish(latest)
    }
  }

  /// Publishes the last state if that has not happened, and nothing after it. The end of the attempt is not yet
  /// reported.
  func close() {
    state.withLock { state in
      guard !state.isClosed else { return }
      state.isClosed = true
      if let latest = state.latest, state.pace.due != nil { publish(latest) }
    }
  }

  /// Called with the lock held, so that the order is right and nothing follows the last state.
  private func publish(_ progress: StepProgress) {
    guard let text = progress.text, attempt.secrets.hidesAnything else {
      return attempt.publish(progress)
    }
    var progress = progress
    progress.text = attempt.secrets.mask.masked(text)
    attempt.publish(progress)
  }
}
