import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A request that is sent repeatedly, within one attempt, until its response satisfies a condition. Between two
/// requests the step holds neither slot nor pool.
extension RunEngine {
  func askAgain(_ attempt: Attempt, after delay: Duration) -> MaybeReady<NodeResult, Never> {
    var task = attempt.task
    let since = state.withLock { state in
      state.running.remove(task.instanceNumber)?.since ?? time.now
    }
    task.asksAgain(since: since)
    slots.release(task.instanceNumber)
    let pause = pause(task.instanceNumber, in: task.scope, for: delay, immunity: task.immunity)
    return .of(pause, with: (self, task)) { context, end in
      switch end {
      case .over: context.0.queue(context.1)
      case .cutShort: .now(context.0.endPolling(context.1))
      }
    }
  }

  /// Ends the step as cancelled, between two requests.
  func endPolling(_ task: StepTask) -> NodeResult {
    let reason = state.withLock { $0.reasonToEndWaiting(in: task.scope) }
    let end = StepEnd(
      outcome: .cancelled, conclusion: .cancelled, attempts: task.attempt, exit: nil,
      cancellation: reason ?? .requested,
      duration: time.now - (task.polling?.since ?? time.now),
      logBytes: UInt64(logs.size(of: task.instanceNumber)))
    var own = NodeValues(outcome: .cancelled, conclusion: .cancelled, attempts: task.attempt)
    own.isOfRequest = true
    return conclude(task, end, own)
  }
}
