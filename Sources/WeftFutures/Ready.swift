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
@usableFromInline
final class Ready {
  // Every access to these is over before anything else is called, so the run-time need not check it.
  @exclusivity(unchecked) private var waiters = WaiterQueue()
  @exclusivity(unchecked) private var withdrawals: [Upstream] = []
  @exclusivity(unchecked) private var discarded: [Any] = []
  @exclusivity(unchecked) private var postponed: [Postponed] = []
  @exclusivity(unchecked) private var isDraining = false
  /// How many releases are under way on this thread, each inside the one before.
  @exclusivity(unchecked) private var releaseDepth = 0

  private struct Postponed {
    let whose: any Postponing
    let what: Int
  }

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

  /// How deep releases go before what is left is put on the list.
  private static let mostReleases = 16

  /// Releases what a settled future holds: `release` does so itself, or where too many releases are under way
  /// already, puts it on the list that it is given, which is drained when those are over.
  static func releasing(_ release: (Ready?) -> Void) {
    let ready = Ready.ofThisThread
    guard ready.releaseDepth < mostReleases else { return release(ready) }
    ready.releaseDepth += 1
    release(nil)
    ready.releaseDepth -= 1
    // Inside a drain, that releases it.
    if ready.releaseDepth == 0, !ready.discarded.isEmpty { draining { _ in } }
  }

  func append(_ waiter: Waiter) { waiters.append(waiter) }

  func append(movingFrom queue: WaiterQueue) { waiters.append(movingFrom: queue) }

  /// Notes that somebody who stood on `upstream` wants it no more.
  func withdraw(from upstream: Upstream) {
    if case .nothing = upstream { return }
    withdrawals.append(upstream)
  }

  /// Releases `object` when nothing else is being released, however deep its references go.
  func discard(_ object: Any) { discarded.append(object) }

  /// Has `whose` do something when all else that is ready on this thread has been done.
  func postpone(_ whose: some Postponing, _ what: Int) {
    postponed.append(Postponed(whose: whose, what: what))
  }

  private func drain() {
    while true {
      if !withdrawals.isEmpty {
        withdrawals.removeLast().withdraw(self)
      } else if let waiter = waiters.popFirst() {
        waiter.run(self)
      } else if discarded.popLast() == nil {
        guard let postponed = postponed.popLast() else { return }
        postponed.whose.doPostponed(postponed.what)
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

/// Something that postpones work by ``afterwards(_:_:)``. No closure, which would have to be allocated, since it
/// is done for very many.
package protocol Postponing: AnyObject, Sendable {
  /// - Parameter what: What it gave itself.
  func doPostponed(_ what: Int)
}

/// Has `whose` do something once everything that is being settled on this thread has been told to everyone, and
/// all that follows from it; now, if nothing is. Of several, the last one is done first.
///
/// For a decision that should see the whole of what an outcome has made ready.
package func afterwards(_ whose: some Postponing, _ what: Int) {
  Ready.draining { $0.postpone(whose, what) }
}
