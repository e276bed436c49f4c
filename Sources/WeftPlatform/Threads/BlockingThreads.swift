import CWeftPlatform
import Synchronization

/// Threads for jobs that block: each job gets a thread immediately, parked or new, so that no job waits for another.
///
/// Threads stay parked for `idleLimit` and then end. They also end when the pool is closed or released, each after its
/// current job.
package final class BlockingThreads: Sendable {
  package typealias Job = @Sendable () -> Void

  private let roster: ThreadRoster

  /// - Parameter stackBytes: The stack size of each thread; jobs need no more than a poll loop.
  package init(
    name: String = "weft-blocking", stackBytes: Int = 512 * 1024, idleLimit: Duration = .seconds(10)
  ) {
    roster = ThreadRoster(name: name, stackBytes: stackBytes, idleLimit: idleLimit)
  }

  deinit { roster.close() }

  /// Runs `job` on a thread.
  ///
  /// - Parameter onThisThread: The caller is a job of this pool and *promises to return immediately*: `job` then runs
  ///   next on the same thread, without a switch. A second such job, and one from a thread outside the pool, gets a
  ///   thread as usual.
  /// - Throws: If there is no parked thread and the system creates no new one. The job will not run.
  package func submit(onThisThread: Bool = false, _ job: @escaping Job) throws(ThreadError) {
    if onThisThread, let worker = Worker.current, worker.takesNext(job, of: roster) { return }
    try roster.submit(job)
  }

  /// Ends the parked threads now and the others after their jobs. New jobs are refused.
  package func close() { roster.close() }

  /// Ends the parked threads before their idle limit.
  package func endParked() { roster.endParked() }

  /// The number of threads that have not ended, including parked ones.
  package var threadCount: Int { roster.threadCount }
  /// The number of threads that wait for a job.
  package var parkedCount: Int { roster.parkedCount }
}

/// The reason why a job was not accepted.
package enum ThreadError: Error, Hashable, Sendable {
  case poolIsClosed
  case resources(SystemError)

  package var message: String {
    switch self {
    case .poolIsClosed: "the thread pool has been closed"
    case .resources(let error): "the system has no room for another thread: \(error)"
    }
  }
}

/// The threads of a pool, and which of them are parked.
final class ThreadRoster: Sendable {
  private struct State {
    /// Last in, first out: the most recently parked thread has the warmest caches.
    var parked: [Worker] = []
    var threadCount = 0
    var isClosed = false
  }

  private let state = Mutex(State())
  private let name: String
  private let stackBytes: Int
  private let idleLimit: Duration

  init(name: String, stackBytes: Int, idleLimit: Duration) {
    self.name = name
    self.stackBytes = stackBytes
    self.idleLimit = idleLimit
  }

  var threadCount: Int { state.withLock { $0.threadCount } }
  var parkedCount: Int { state.withLock { $0.parked.count } }

  func submit(_ job: @escaping BlockingThreads.Job) throws(ThreadError) {
    let parked = try state.withLock { state throws(ThreadError) -> Worker? in
      if state.isClosed { throw .poolIsClosed }
      if let worker = state.parked.popLast() { return worker }
      state.threadCount += 1
      return nil
    }
    if let parked { return parked.wake(with: .job(job)) }
    do { try start(job) } catch {
      state.withLock { $0.threadCount -= 1 }
      throw .resources(error)
    }
  }

  private func start(_ job: @escaping BlockingThreads.Job) throws(SystemError) {
    let worker = Worker(of: self, beginningWith: job)
    try Thread.start(name: name, stackBytes: stackBytes) {
      worker.work()
      self.state.withLock { $0.threadCount -= 1 }
    }
  }

  /// Parks a worker until it gets a job; false if its thread is to end.
  func park(_ worker: Worker) -> Bool {
    let isClosed = state.withLock { state in
      if !state.isClosed { state.parked.append(worker) }
      return state.isClosed
    }
    if isClosed { return false }
    if let hasJob = worker.waitForOrder(atMost: idleLimit) { return hasJob }
    let left = state.withLock { state in
      guard let index = state.parked.firstIndex(where: { $0 === worker }) else { return false }
      state.parked.remove(at: index)
      return true
    }
    // Removed from the parked workers at the last moment: an order is about to arrive.
    return left ? false : worker.waitForOrder(atMost: nil) ?? false
  }

  func close() {
    state.withLock { $0.isClosed = true }
    endParked()
  }

  func endParked() {
    let parked = state.withLock { state in
      defer { state.parked = [] }
      return state.parked
    }
    for worker in parked { worker.wake(with: .end) }
  }
}
