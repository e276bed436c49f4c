import CWeftPlatform
import Synchronization

/// One thread of a pool, with its pending jobs.
final class Worker: Sendable {
  /// The order with which a parked worker is woken.
  enum Order: Sendable {
    case job(BlockingThreads.Job)
    case end
  }

  private let roster: ThreadRoster
  private let parking = Parking()
  private let order = Mutex<Order?>(nil)
  /// The first job, and later a job that the current one has left for the same thread. Only that thread uses it, so the
  /// lock is never contended.
  private let next: Mutex<BlockingThreads.Job?>

  init(of roster: ThreadRoster, beginningWith first: @escaping BlockingThreads.Job) {
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

  /// Accepts `job` to run after the current one; false if this worker belongs to a different pool or already has a next
  /// job.
  func takesNext(_ job: @escaping BlockingThreads.Job, of roster: ThreadRoster) -> Bool {
    guard roster === self.roster else { return false }
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
