import Glibc

/// A value that some threads change while others wait for it.
///
/// Unchecked, because the mutex guards the value, and neither of the two is moved while the object lives.
final class Watched<Value: Sendable>: @unchecked Sendable {
  private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
  private let changed = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
  private var guarded: Value

  init(_ value: Value) {
    guarded = value
    var attributes = pthread_condattr_t()
    pthread_condattr_init(&attributes)
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(changed, &attributes)
    pthread_condattr_destroy(&attributes)
  }

  deinit {
    pthread_cond_destroy(changed)
    pthread_mutex_destroy(mutex)
    changed.deallocate()
    mutex.deallocate()
  }

  var value: Value {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    return guarded
  }

  @discardableResult
  func change<Result>(_ body: (inout Value) -> Result) -> Result {
    pthread_mutex_lock(mutex)
    defer {
      pthread_cond_broadcast(changed)
      pthread_mutex_unlock(mutex)
    }
    return body(&guarded)
  }

  /// Waits on the calling thread until the condition holds.
  func wait(until holds: (Value) -> Bool) {
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(guarded) { pthread_cond_wait(changed, mutex) }
  }

  /// Waits on the calling thread until the condition holds, but not for ever.
  ///
  /// - Returns: Whether it holds.
  func waits(atMost seconds: Int = 20, until holds: (Value) -> Bool) -> Bool {
    var end = timespec()
    clock_gettime(CLOCK_MONOTONIC, &end)
    end.tv_sec += seconds
    pthread_mutex_lock(mutex)
    defer { pthread_mutex_unlock(mutex) }
    while !holds(guarded) {
      if pthread_cond_timedwait(changed, mutex, &end) == ETIMEDOUT { return holds(guarded) }
    }
    return true
  }
}
