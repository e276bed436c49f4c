import Synchronization
import WeftEvents
import WeftPlatform

/// The single thread that runs the jobs of an action's task and of its child tasks in turn.
///
/// An action that blocks stalls only itself: neither the engine, nor other actions, nor the host's cooperative
/// pool, which has only as many threads as the machine has processors.
final class ActionThread: TaskExecutor {
  private struct State {
    /// In the order in which they will run.
    var jobs: [UnownedJob] = []
    var isClosed = false

    mutating func takeJobs() -> [UnownedJob]? {
      defer { jobs = [] }
      return isClosed && jobs.isEmpty ? nil : jobs
    }
  }

  private let state = Mutex(State())
  private let wakeup = Wakeup()

  /// Runs a task to its end on the calling thread.
  ///
  /// - Parameter began: Called with the task before any of it runs.
  func run(
    _ action: @escaping @Sendable () async -> Void, began: (Task<Void, Never>) -> Void
  ) {
    let task = Task(executorPreference: self) { [self] in
      await action()
      close()
    }
    began(task)
    while let jobs = state.withLock({ $0.takeJobs() }) {
      if jobs.isEmpty { wakeup.wait() }
      for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
  }

  /// Callable on any thread.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    let isLate = state.withLock { state in
      if !state.isClosed { state.jobs.append(job) }
      return state.isClosed
    }
    // A task outlives its child tasks, and nothing else is enqueued here by itself; unstructured tasks that are
    // given this executor run on the global one instead.
    if isLate { globalConcurrentExecutor.enqueue(ExecutorJob(job)) } else { wakeup.wake() }
  }

  private func close() { state.withLock { $0.isClosed = true } }
}
