import Synchronization

extension TimeSource {
  /// Suspends the task until `duration` has passed.
  ///
  /// - Throws: When the task is cancelled.
  package func sleep(for duration: Duration) async throws(CancellationError) {
    let sleeper = Sleeper()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        sleeper.begin(continuation) {
          schedule(after: duration) { sleeper.end(.success(())) }
        }
      }
    } onCancel: {
      sleeper.end(.failure(CancellationError()))
    }
    try result.get()
  }
}

/// One suspended task: resumed by its timer or by its cancellation, whichever is first.
private final class Sleeper: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Result<Void, CancellationError>, Never>?
    var timer: TimerToken?
    var result: Result<Void, CancellationError>?
  }

  private let state = Mutex(State())

  func begin(
    _ continuation: CheckedContinuation<Result<Void, CancellationError>, Never>,
    _ schedule: () -> TimerToken
  ) {
    let early = state.withLock { state in
      if state.result == nil { state.continuation = continuation }
      return state.result
    }
    if let early { return continuation.resume(returning: early) }
    let timer = schedule()
    let isOver = state.withLock { state in
      state.timer = timer
      return state.result != nil
    }
    if isOver { timer.cancel() }
  }

  func end(_ result: Result<Void, CancellationError>) {
    let (continuation, timer) = state.withLock { state in
      guard state.result == nil else {
        return (nil, nil)
          as (CheckedContinuation<Result<Void, CancellationError>, Never>?, TimerToken?)
      }
      state.result = result
      defer { (state.continuation, state.timer) = (nil, nil) }
      return (state.continuation, state.timer)
    }
    timer?.cancel()
    continuation?.resume(returning: result)
  }
}
