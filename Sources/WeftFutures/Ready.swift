#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The work list of one thread, which keeps long chains off the stack.
///
/// Settling a future makes those who waited ready, and running them settles further futures. Were
/// each run at once, a chain would need stack in proportion to its length. Instead the first one to
/// come drains a list, and everything that happens meanwhile on the same thread is put on it:
/// continuations, requests to cancel, and also what is to be released.
///
/// Used by its own thread only, which is why it needs no lock.
final class Ready {
  private var first: Waiter?
  private var last: Waiter?
  private var withdrawals: [AnyCell] = []
  private var discarded: [Any] = []
  private var postponed: [@Sendable () -> Void] = []
  private var isDraining = false

  /// Does `body`, then all that became ready by it; inside another drain, only the former.
  ///
  /// `body` must not call anything that the library does not know.
  static func draining<Answer>(_ body: (Ready) -> Answer) -> Answer {
    let ready = Ready.ofThisThread
    guard !ready.isDraining else { return body(ready) }
    ready.isDraining = true
    defer { ready.isDraining = false }
    let answer = body(ready)
    ready.drain()
    return answer
  }

  func append(_ waiter: Waiter) {
    if let last { last.next = waiter } else { first = waiter }
    last = waiter
  }

  /// Appends the whole list, oldest first.
  func append(_ list: WaitingList) {
    guard let newest = list.newest else { return }
    guard newest.next != nil else { return append(newest) }
    let before = last
    var newer: Waiter?
    var current: Waiter? = newest
    while let waiter = current {
      current = waiter.next
      waiter.next = newer
      newer = waiter
    }
    if let before { before.next = newer } else { first = newer }
    last = newest
  }

  /// Notes that one of those who wanted the outcome of `cell` wants it no more.
  func withdraw(from cell: AnyCell) { withdrawals.append(cell) }

  /// Releases `object` when nothing else is being released, however deep its references go.
  func discard(_ object: Any) { discarded.append(object) }

  /// Does `work` when all else that is ready on this thread has been done.
  func postpone(_ work: @escaping @Sendable () -> Void) { postponed.append(work) }

  private func drain() {
    while true {
      if let cell = withdrawals.popLast() {
        cell.withdraw(self)
      } else if let waiter = first {
        first = waiter.next
        waiter.next = nil
        if first == nil { last = nil }
        waiter.run(self)
      } else if discarded.popLast() == nil {
        guard let work = postponed.popLast() else { return }
        work()
      }
    }
  }
}

extension Ready {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { stored in
      #if canImport(Darwin)
        Unmanaged<Ready>.fromOpaque(stored).release()
      #else
        if let stored { Unmanaged<Ready>.fromOpaque(stored).release() }
      #endif
    }
    precondition(status == 0, "no thread-local storage left: \(status)")
    return key
  }()

  /// Made at the thread's first use and released at its end.
  private static var ofThisThread: Ready {
    if let stored = pthread_getspecific(key) {
      return Unmanaged<Ready>.fromOpaque(stored).takeUnretainedValue()
    }
    let ready = Ready()
    pthread_setspecific(key, Unmanaged.passRetained(ready).toOpaque())
    return ready
  }
}

/// Does `work` once everything that is being settled on this thread has been told to everyone, and all
/// that follows from it; now, if nothing is. Of several, the last one is done first.
///
/// For a decision that should see the whole of what an outcome has made ready.
package func afterwards(_ work: @escaping @Sendable () -> Void) {
  Ready.draining { $0.postpone(work) }
}
