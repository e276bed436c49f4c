#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The work list of one thread, which keeps long chains off the stack.
///
/// Settling a future makes its waiters ready, and running them settles further futures. If each ran immediately, a
/// chain would need stack in proportion to its length. Instead the outermost call drains a list, and everything that
/// happens meanwhile on the same thread is added to it: continuations, cancellation requests, and objects to release.
///
/// Used by its own thread only, so it needs no lock.
@usableFromInline
final class RunQueue {
  // Every access to these ends before anything else is called, so the run-time need not check it.
  @exclusivity(unchecked) private var waiters = WaiterQueue()
  @exclusivity(unchecked) private var withdrawals: [Upstream] = []
  @exclusivity(unchecked) private var discarded: [Any] = []
  @exclusivity(unchecked) private var postponed: [Postponed] = []
  @exclusivity(unchecked) private var isDraining = false
  /// The number of nested releases on this thread.
  @exclusivity(unchecked) private var releaseDepth = 0

  private struct Postponed {
    let owner: any PostponedWorkOwner
    let number: Int
  }

  /// Calls `body`, then runs everything that it made ready; inside another drain, only calls `body`.
  ///
  /// `body` must not call code from outside this module.
  static func draining<Answer>(_ body: (RunQueue) -> Answer) -> Answer {
    let ready = RunQueue.ofThisThread
    guard !ready.isDraining else { return body(ready) }
    ready.isDraining = true
    defer { ready.isDraining = false }
    let answer = body(ready)
    ready.drain()
    return answer
  }

  /// Starts a drain that the caller ends with ``leave()``; `nil` inside another drain.
  ///
  /// For callbacks that run at once: whatever they make ready waits until they have returned. The thread owns the list, so
  /// it need not be retained.
  @usableFromInline
  static func enter() -> Unmanaged<RunQueue>? {
    guard let stored = pthread_getspecific(key) else {
      let ready = RunQueue.ofThisThread
      ready.isDraining = true
      return Unmanaged.passUnretained(ready)
    }
    let ready = Unmanaged<RunQueue>.fromOpaque(stored)
    let isFirst = ready._withUnsafeGuaranteedRef { ready in
      defer { ready.isDraining = true }
      return !ready.isDraining
    }
    return isFirst ? ready : nil
  }

  /// Runs everything that became ready, and ends the drain.
  @usableFromInline
  func leave() {
    if hasWork || !discarded.isEmpty || !postponed.isEmpty { drain() }
    isDraining = false
  }

  /// Whether something waits for its turn in the drain.
  @usableFromInline var hasWork: Bool { !waiters.isEmpty || !withdrawals.isEmpty }

  /// The nesting depth of releases from which further ones are put on the list.
  private static let mostReleases = 16

  /// Releases the contents of a settled future. `release` does so itself, or, if too many releases are nested already,
  /// puts them on the list that it is given, which is drained after those releases.
  static func releasing(_ release: (RunQueue?) -> Void) {
    let ready = RunQueue.ofThisThread
    guard ready.releaseDepth < mostReleases else { return release(ready) }
    ready.releaseDepth += 1
    release(nil)
    ready.releaseDepth -= 1
    // Inside a drain, that drain releases them.
    if ready.releaseDepth == 0, !ready.discarded.isEmpty { draining { _ in } }
  }

  func append(_ waiter: Continuation) { waiters.append(waiter) }

  func append(movingFrom queue: WaiterQueue) { waiters.append(movingFrom: queue) }

  /// Queues the withdrawal of one interest in `upstream`.
  func withdraw(from upstream: Upstream) {
    if case .nothing = upstream { return }
    withdrawals.append(upstream)
  }

  /// Releases `object` outside of any other release, however deep its references go.
  func discard(_ object: Any) { discarded.append(object) }

  /// Has `owner` do postponed work when everything else that is ready on this thread has been done.
  func postpone(_ owner: some PostponedWorkOwner, _ number: Int) {
    postponed.append(Postponed(owner: owner, number: number))
  }

  private func drain() {
    while true {
      if !withdrawals.isEmpty {
        withdrawals.removeLast().withdraw(self)
      } else if let waiter = waiters.popFirst() {
        waiter.run(self)
      } else if discarded.popLast() == nil {
        guard let postponed = postponed.popLast() else { return }
        postponed.owner.runPostponed(postponed.number)
      }
    }
  }
}

extension RunQueue {
  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key) { stored in
      #if canImport(Darwin)
        Unmanaged<RunQueue>.fromOpaque(stored).release()
      #else
        if let stored { Unmanaged<RunQueue>.fromOpaque(stored).release() }
      #endif
    }
    precondition(status == 0, "no thread-local storage left: \(status)")
    return key
  }()

  /// Created at the thread's first use and released at its end.
  private static var ofThisThread: RunQueue {
    if let stored = pthread_getspecific(key) {
      return Unmanaged<RunQueue>.fromOpaque(stored).takeUnretainedValue()
    }
    let ready = RunQueue()
    pthread_setspecific(key, Unmanaged.passRetained(ready).toOpaque())
    return ready
  }
}

/// An object that postpones work with ``afterwards(_:_:)``. A protocol, because closures would have to be allocated,
/// and there are very many.
package protocol PostponedWorkOwner: AnyObject, Sendable {
  /// - Parameter what: The number that it passed to ``afterwards(_:_:)``.
  func runPostponed(_ number: Int)
}

/// Has `owner` do work once everything that is being settled on this thread has reached all waiters, with all that
/// follows from it; immediately if nothing is being settled. The last one postponed runs first.
///
/// For a decision that should see everything an outcome has made ready.
package func postpone(_ owner: some PostponedWorkOwner, _ number: Int) {
  RunQueue.draining { $0.postpone(owner, number) }
}

/// An object that runs once the future it waits for has settled.
///
/// `@unchecked Sendable`: its only variable is `next`, which only the one ``WaiterQueue`` uses that contains the waiter. That
/// queue is part of a future, and is used under the future's lock, or of a ``RunQueue``, and is used by its thread.
@usableFromInline
class Continuation: @unchecked Sendable {
  @exclusivity(unchecked) fileprivate final var next: Unmanaged<Continuation>?

  /// Called by the drain, outside every lock.
  func run(_ ready: RunQueue) { preconditionFailure("\(type(of: self)) cannot be run") }
}

/// Waiters in order of arrival, in a circular list linked through the waiters and known by its last one.
///
/// The queue owns its waiters through manual retain counts. That makes it a plain word to copy, but it must not be
/// copied: code that moves a queue must forget the old one. A queue that is dropped leaks its waiters, because they
/// would otherwise be released recursively.
///
/// `@unchecked Sendable`: it is only used under the lock of the future that it is part of, or by the thread whose
/// ``RunQueue`` it is part of, so never by two threads at once.
@usableFromInline
struct WaiterQueue: @unchecked Sendable {
  private var last: Unmanaged<Continuation>?

  var isEmpty: Bool { last == nil }

  mutating func append(_ waiter: Continuation) {
    let new = Unmanaged.passRetained(waiter)
    if let last {
      waiter.next = last.next
      last.next = new
    } else {
      waiter.next = new
    }
    last = new
  }

  /// Moves all waiters of `other` to the end.
  mutating func append(movingFrom other: WaiterQueue) {
    guard let otherLast = other.last else { return }
    if let last {
      let first = last.next
      last.next = otherLast.next
      otherLast.next = first
    }
    last = otherLast
  }

  mutating func popFirst() -> Continuation? {
    guard let last, let first = last.next else { return nil }
    if first.toOpaque() == last.toOpaque() {
      self.last = nil
    } else {
      last.next = first.next
    }
    first.next = nil
    return first.takeRetainedValue()
  }
}

extension Unmanaged<Continuation> {
  fileprivate var next: Unmanaged<Continuation>? {
    get { _withUnsafeGuaranteedRef { $0.next } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.next = newValue } }
  }
}
