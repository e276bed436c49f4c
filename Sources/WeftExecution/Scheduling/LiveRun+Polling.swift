import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A request that is sent again and again until the answer is the right one, as one attempt: between two of
/// them the step holds neither slot nor pool.
extension LiveRun {
  func askAgain(_ attempt: Attempt, after delay: Duration) -> Future<NodeResult, Never> {
    var task = attempt.task
    let since = state.withLock { state in
      state.running.removeValue(forKey: task.instance)?.since ?? time.now
    }
    task.asksAgain(since: since)
    slots.release(task.instance)
    let following = task
    return pause(following.instance, in: task.scope, for: delay, shelter: task.shelter)
      .flatMap { [self] pauseEnd in
        switch pauseEnd {
        case .over: queue(following)
        case .cutShort: Future(value: endPolling(following))
        }
      }
  }

  /// Nobody waits for the answer any more.
  func endPolling(_ task: StepTask) -> NodeResult {
    let reason = state.withLock { $0.reasonToEndWaiting(in: task.scope) }
    let end = StepEnd(
      outcome: .cancelled, conclusion: .cancelled, attempts: task.attempt, exit: nil,
      cancellation: reason ?? .requested,
      duration: time.now - (task.polling?.since ?? time.now),
      logBytes: UInt64(logs.size(of: task.instance)))
    var own = NodeValues(outcome: .cancelled, conclusion: .cancelled, attempts: task.attempt)
    own.isOfRequest = true
    return conclude(task, end, own)
  }
}
