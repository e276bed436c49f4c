import CWeftPlatform
import Synchronization

/// One thread of a pool and the jobs on their way to it.
final class Worker: Sendable {
  private enum Message: Sendable {
    case job(BlockingThreads.Job)
    case end
  }

  private let roster: ThreadRoster
  private let parking = Parking()
  private let message = Mutex<Message?>(nil)
  /// What its current job has left for it. Only its own thread touches it, so the lock is never contended.
  private let next = Mutex<BlockingThreads.Job?>(nil)

  init(of roster: ThreadRoster) { self.roster = roster }

  /// The worker whose thread this is.
  static var current: Worker? {
    ThreadLocal.worker.value.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  func work(beginningWith first: @escaping BlockingThreads.Job) {
    ThreadLocal.worker.value = Unmanaged.passUnretained(self).toOpaque()
    defer { ThreadLocal.worker.value = nil }
    var job: BlockingThreads.Job? = first
    while let now = job {
      now()
      job = nil  // what it holds is released before the thread parks
      job = takeNext() ?? roster.park(self)
    }
  }

  private func takeNext() -> BlockingThreads.Job? {
    next.withLock { next in
      defer { next = nil }
      return next
    }
  }

  /// Whether `job` will follow the one that runs; not if this is another pool's worker or one follows already.
  func takesNext(_ job: @escaping BlockingThreads.Job, of roster: ThreadRoster) -> Bool {
    guard roster === self.roster else { return false }
    return next.withLock { next in
      guard next == nil else { return false }
      next = job
      return true
    }
  }

  /// Hands over a job, or the end. Once, to a worker taken from the parked ones.
  func wake(with job: BlockingThreads.Job?) {
    message.withLock { $0 = job.map(Message.job) ?? .end }
    parking.unpark()
  }

  /// `nil` when the time is over, or it was woken to end.
  func waitForJob(atMost limit: Duration?) -> BlockingThreads.Job? {
    guard parking.park(atMost: limit) else { return nil }
    let received = message.withLock { message in
      defer { message = nil }
      return message
    }
    guard case .job(let job)? = received else { return nil }
    return job
  }
}
