/// Something that is run once the future it waits for has settled.
///
/// Sendable, though `next` is a variable: it belongs to the one ``WaiterQueue`` that the waiter is in,
/// which in turn is in a future, under that future's lock, or in a thread's ``Ready``.
@usableFromInline
class Waiter: @unchecked Sendable {
  @exclusivity(unchecked) fileprivate final var next: Unmanaged<Waiter>?

  /// Called by the drain, outside every lock.
  func run(_ ready: Ready) { preconditionFailure("\(type(of: self)) cannot be run") }
}

/// Waiters in the order of their arrival, linked through themselves: a ring, of which the last is known.
///
/// The queue owns what is in it, by counts that it keeps itself. That makes it a plain word to
/// copy, which it must not be: whoever moves a queue forgets the old one. One that is
/// dropped leaks its waiters; they would otherwise be released recursively.
///
/// Sendable, because it is only touched under the lock of the future that it is part of, or by the one
/// thread whose ``Ready`` it is part of.
@usableFromInline
struct WaiterQueue: @unchecked Sendable {
  private var last: Unmanaged<Waiter>?

  var isEmpty: Bool { last == nil }

  mutating func append(_ waiter: Waiter) {
    let new = Unmanaged.passRetained(waiter)
    if let last {
      waiter.next = last.next
      last.next = new
    } else {
      waiter.next = new
    }
    last = new
  }

  /// Moves all of `other` behind what is here.
  mutating func append(movingFrom other: WaiterQueue) {
    guard let otherLast = other.last else { return }
    if let last {
      let first = last.next
      last.next = otherLast.next
      otherLast.next = first
    }
    last = otherLast
  }

  mutating func popFirst() -> Waiter? {
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

extension Unmanaged<Waiter> {
  fileprivate var next: Unmanaged<Waiter>? {
    get { _withUnsafeGuaranteedRef { $0.next } }
    nonmutating set { _withUnsafeGuaranteedRef { $0.next = newValue } }
  }
}
