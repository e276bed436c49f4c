import Synchronization
import WeftFutures
import WeftPlatform

/// Threads for jobs that are short, or read and write files: so many at once as are of use, the others in turn.
final class FewThreads: Sendable {
  typealias Job = @Sendable () -> Void

  private struct State {
    var running = 0
    /// The next comes last.
    private var waiting: [Job] = []
    private var arrived: [Job] = []

    mutating func add(_ job: @escaping Job) { arrived.append(job) }

    /// The next job for a thread that has done one; without any, the thread ends.
    mutating func next() -> Job? {
      if waiting.isEmpty {
        waiting = arrived.reversed()
        arrived = []
      }
      if waiting.isEmpty { running -= 1 }
      return waiting.popLast()
    }

    /// What waits for no thread any more.
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

  /// Gives `work` a thread when it is its turn.
  ///
  /// - Parameter substitute: What comes of it where the system has no thread.
  func run<Value: Sendable>(
    ifNotRun substitute: Value, _ work: @escaping @Sendable () -> Value
  ) -> Future<Value, Never> {
    let promise = Promise<Value, Never>(ifDropped: .success(substitute))
    do { try submit { promise.succeed(work()) } } catch { promise.succeed(substitute) }
    return promise.future
  }

  /// Gives `job` a thread when it is its turn.
  ///
  /// - Throws: Where the system has no thread. The job will not run, nor will any that waits for one.
  func submit(_ job: @escaping Job) throws(ThreadNotStarted) {
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
      // Released outside of the lock: what is waited for settles with it.
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
