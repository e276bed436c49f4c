import CWeftPlatform
import Synchronization

/// One thread of a pool and the jobs on their way to it.
final class Worker: Sendable {
  /// What a parked worker is woken with.
  enum Order: Sendable {
    case job(BlockingThreads.Job)
    case end
  }

  private let roster: ThreadRoster
  private let parking = Parking()
  private let order = Mutex<Order?>(nil)
  /// The job to begin with, then what a job has left for the same thread. Nobody else touches it, so the
  /// lock is never contended.
  private let next: Mutex<BlockingThreads.Job?>

  init(of roster: ThreadRoster, beginningWith first: @escaping BlockingThreads.Job) {
    self.roster = roster
    next = Mutex(first)
  }

  /// The worker whose thread this is.
  static var current: Worker? {
    ThreadLocal.worker.value.map { Unmanaged<Worker>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The life of its thread.
  func work() {
    ThreadLocal.worker.value = Unmanaged.passUnretained(self).toOpaque()
    defer { ThreadLocal.worker.value = nil }
    repeat {
      while runNext() {}
    } while roster.park(self)
  }

  /// In a frame of its own: what the job holds is released before the thread goes on.
  private func runNext() -> Bool {
    let job = next.withLock { next in
      defer { next = nil }
      return next
    }
    job?()
    return job != nil
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

  /// Once, to a worker taken from the parked ones.
  func wake(with order: Order) {
    self.order.withLock { $0 = order }
    parking.unpark()
  }

  /// Whether there is a job to run; `nil` when the time is over without an order.
  func waitForOrder(atMost limit: Duration?) -> Bool? {
    guard parking.park(atMost: limit) else { return nil }
    let received = order.withLock { order in
      defer { order = nil }
      return order
    }
    guard case .job(let job)? = received else { return false }
    return takesNext(job, of: roster)
  }
}
