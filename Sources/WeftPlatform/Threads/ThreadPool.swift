import CWeftPlatform
import Synchronization
package import WeftFutures

/// Threads for jobs that block, started when they are needed.
///
/// A pool without a limit gives each job a thread immediately, parked or new, so that no job waits for another; in a pool
/// with one, further jobs wait their turn. Each kind of blocking work has a pool with a name of its own, so that no kind
/// starves another.
///
/// Threads stay parked for `idleLimit` and then end. They also end when the pool is closed or released, each after its
/// current job.
package final class ThreadPool: Sendable {
  package typealias Job = @Sendable () -> Void

  private let roster: ThreadRoster
  private let hasLimit: Bool
  // Not optional: locking through `turns!` crashed in Mutex (Swift 6.3.1).
  private let turns: Mutex<ThreadTurns>

  /// - Parameters:
  ///   - name: The name of each thread; at most 15 bytes.
  ///   - limit: The number of jobs that run at the same time; `nil` for no limit.
  ///   - stackBytes: The stack size of each thread; jobs need no more than a poll loop.
  package init(
    name: String = "weft-blocking", limit: Int? = nil, stackBytes: Int = 512 * 1024,
    idleLimit: Duration = .seconds(10)
  ) {
    roster = ThreadRoster(name: name, stackBytes: stackBytes, idleLimit: idleLimit)
    hasLimit = limit != nil
    turns = Mutex(ThreadTurns(limit: limit ?? .max))
  }

  deinit { roster.close() }

  /// Runs `job` on a thread.
  ///
  /// - Parameter onThisThread: The caller is a job of this pool, which has no limit, and *promises to return
  ///   immediately*: `job` then runs next on the same thread, without a switch. A second such job, one from a thread
  ///   outside the pool, and one that is submitted during ``occupyingThread(_:)`` gets a thread as usual.
  /// - Throws: If there is no parked thread and the system creates no new one. The job will not run, nor will any job
  ///   that waits for its turn.
  package func submit(onThisThread: Bool = false, _ job: @escaping Job) throws(ThreadError) {
    if hasLimit { return try submitInTurn(job) }
    if onThisThread, let worker = Worker.current, worker.takesNext(job, of: roster) { return }
    try roster.submit(job)
  }

  /// Runs a part of a job that blocks for long, and may call code that submits jobs: none of them waits for this thread.
  package static func occupyingThread<Value, Failure>(
    _ body: () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    guard let worker = Worker.current else { return try body() }
    worker.isOccupied.store(true, ordering: .relaxed)
    defer { worker.isOccupied.store(false, ordering: .relaxed) }
    return try body()
  }

  /// Runs `work` on a thread.
  ///
  /// - Parameter substitute: The result if the system cannot start a thread.
  package func run<Value: Sendable>(
    ifNotRun substitute: Value, _ work: @escaping @Sendable () -> Value
  ) -> Future<Value, Never> {
    let promise = Promise<Value, Never>(ifDropped: .success(substitute))
    do { try submit { promise.succeed(work()) } } catch { promise.succeed(substitute) }
    return promise.future
  }

  private func submitInTurn(_ job: @escaping Job) throws(ThreadError) {
    guard turns.withLock({ $0.admits(job) }) else { return }
    do {
      try roster.submit { [self] in
        var next: Job? = job
        while let job = next {
          job()
          next = turns.withLock { $0.next() }
        }
      }
    } catch {
      // Released outside the lock: futures that depend on the jobs settle when they are released.
      _ = turns.withLock { $0.giveUp() }
      throw error
    }
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

/// The jobs of a pool with a limit: those that run, and those that wait for their turn.
private struct ThreadTurns {
  private let limit: Int
  private var running = 0
  /// The next job is the last element.
  private var waiting: [ThreadPool.Job] = []
  private var arrived: [ThreadPool.Job] = []

  init(limit: Int) { self.limit = limit }

  /// Whether the job gets a thread now; otherwise it waits.
  mutating func admits(_ job: @escaping ThreadPool.Job) -> Bool {
    guard running < limit else {
      arrived.append(job)
      return false
    }
    running += 1
    return true
  }

  /// The next job for a thread that has finished one; `nil` if there is none and the thread ends.
  mutating func next() -> ThreadPool.Job? {
    if waiting.isEmpty {
      waiting = arrived.reversed()
      arrived = []
    }
    if waiting.isEmpty { running -= 1 }
    return waiting.popLast()
  }

  /// The jobs that no remaining thread will run.
  mutating func giveUp() -> [ThreadPool.Job] {
    running -= 1
    guard running == 0 else { return [] }
    defer { (waiting, arrived) = ([], []) }
    return waiting + arrived
  }
}

/// The reason why a job was not accepted.
package enum ThreadError: Error, Hashable, Sendable {
  case poolIsClosed
  case resources(SystemError)

  package var message: String {
    switch self {
    case .poolIsClosed: "the thread pool has been closed"
    case .resources(let error): "the system cannot start another thread: \(error)"
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

  func submit(_ job: @escaping ThreadPool.Job) throws(ThreadError) {
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

  private func start(_ job: @escaping ThreadPool.Job) throws(SystemError) {
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
    if let hasJob = worker.waitForJob(atMost: idleLimit) { return hasJob }
    let left = state.withLock { state in
      guard let index = state.parked.firstIndex(where: { $0 === worker }) else { return false }
      state.parked.remove(at: index)
      return true
    }
    // Removed from the parked workers at the last moment: an order is about to arrive.
    return left ? false : worker.waitForJob(atMost: nil) ?? false
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

/// One thread of a pool, with its pending jobs.
final class Worker: Sendable {
  /// The order with which a parked worker is woken.
  enum Order: Sendable {
    case job(ThreadPool.Job)
    case end
  }

  private let roster: ThreadRoster
  private let parking = Parking()
  private let order = Mutex<Order?>(nil)
  /// The first job, and later a job that the current one has left for the same thread. Only that thread uses it, so the
  /// lock is never contended.
  private let next: Mutex<ThreadPool.Job?>
  /// Whether the current job blocks, so that a next one would wait for long. Only that thread uses it.
  let isOccupied = Atomic(false)

  init(of roster: ThreadRoster, beginningWith first: @escaping ThreadPool.Job) {
    self.roster = roster
    next = Mutex(first)
  }

  /// The worker of the calling thread.
  static var current: Worker? {
    ThreadLocal.worker.value.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// Runs jobs until its thread is to end.
  func work() {
    ThreadLocal.worker.value = Unmanaged.passUnretained(self).toOpaque()
    defer { ThreadLocal.worker.value = nil }
    repeat {
      while runNext() {}
    } while roster.park(self)
  }

  /// Runs the next job in a separate frame, so that objects held by the job are released before the thread continues.
  private func runNext() -> Bool {
    let job = next.withLock { next in
      defer { next = nil }
      return next
    }
    job?()
    return job != nil
  }

  /// Accepts `job` to run after the current one; false if this worker belongs to a different pool, is occupied, or already
  /// has a next job.
  func takesNext(_ job: @escaping ThreadPool.Job, of roster: ThreadRoster) -> Bool {
    guard roster === self.roster, !isOccupied.load(ordering: .relaxed) else { return false }
    return next.withLock { next in
      guard next == nil else { return false }
      next = job
      return true
    }
  }

  /// Wakes the worker with an order. Called once, after it was removed from the parked workers.
  func wake(with order: Order) {
    self.order.withLock { $0 = order }
    parking.unpark()
  }

  /// Whether there is a job to run; `nil` if the time has passed without an order.
  func waitForJob(atMost limit: Duration?) -> Bool? {
    guard parking.park(atMost: limit) else { return nil }
    let received = order.withLock { order in
      defer { order = nil }
      return order
    }
    guard case .job(let job)? = received else { return false }
    return takesNext(job, of: roster)
  }
}
