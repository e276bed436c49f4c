import Synchronization
import WeftFutures
import WeftPlatform

/// A bounded pool of threads for short jobs and file access; jobs beyond the limit wait their turn.
final class BoundedThreadPool: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var running = 0
    /// The next job is the last element.
    private var waiting: [Job] = []
    private var arrived: [Job] = []

    mutating func add(_ job: @escaping Job) { arrived.append(job) }

    /// The next job for a thread that has finished one; `nil` if there is none and the thread ends.
    mutating func next() -> Job? {
      if waiting.isEmpty {
        waiting = arrived.reversed()
        arrived = []
      }
      if waiting.isEmpty { running -= 1 }
      return waiting.popLast()
    }

    /// The jobs that no remaining thread will run.
    mutating func giveUp() -> [Job] {
      running -= 1
      guard running == 0 else { return [] }
      defer { (waiting, arrived) = ([], []) }
      return waiting + arrived
    }
  }

  private let state = Mutex(State())
  private let limit: Int
  private let threads: BlockingThreads

  init(name: String, limit: Int) {
    self.limit = limit
    threads = BlockingThreads(name: name)
  }

  /// Runs `work` on a thread when its turn comes.
  ///
  /// - Parameter substitute: The result if the system cannot start a thread.
  func run<Value: Sendable>(
    ifNotRun substitute: Value, _ work: @escaping @Sendable () -> Value
  ) -> Future<Value, Never> {
    let promise = Promise<Value, Never>(ifDropped: .success(substitute))
    do { try submit { promise.succeed(work()) } } catch { promise.succeed(substitute) }
    return promise.future
  }

  /// Runs `job` on a thread when its turn comes.
  ///
  /// - Throws: If the system cannot start a thread. The job will not run, nor will any job that waits for one.
  func submit(_ job: @escaping Job) throws(ThreadError) {
    let starts = state.withLock { state in
      guard state.running < limit else {
        state.add(job)
        return false
      }
      state.running += 1
      return true
    }
    guard starts else { return }
    do { try threads.submit { [self] in workOff(job) } } catch {
      // Released outside the lock: futures that depend on the jobs settle when they are released.
      _ = state.withLock { $0.giveUp() }
      throw error
    }
  }

  private func workOff(_ first: @escaping Job) {
    var next: Job? = first
    while let job = next {
      job()
      next = state.withLock { $0.next() }
    }
  }
}
