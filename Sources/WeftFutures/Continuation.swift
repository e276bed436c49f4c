/// An object that runs once the future it waits for has settled.
///
/// Sendable, although `next` is a variable: it belongs to the single ``WaiterQueue`` that contains the waiter, which in
/// turn is part of a future, under that future's lock, or of a thread's ``Ready``.
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
/// Sendable, because it is only accessed under the lock of the future that it is part of, or by the thread whose
/// ``Ready`` it is part of.
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
