import Synchronization
import WeftPlatform

/// Actions of a simulated world, each due at a time. Several that are due together are carried out in any order, which
/// a seed decides.
final class Agenda: Sendable {
  private struct Entry {
    let id: TimerQueue<Int>.ID
    let act: @Sendable () -> Void
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var next = 0
    /// The numbers of the actions that are not due yet.
    var later = TimerQueue<Int>()
    /// The numbers of those that are due, in the order in which they were added, and since when.
    var ready: ArraySlice<Int> = []
    var readySince = Duration.zero
    /// Whatever nothing else refers to, because it only ends when it is stopped.
    var kept: [any Sendable] = []

    /// The number of an action that is due; without a generator, of the one that was added first.
    mutating func takeReady(at now: Duration, _ random: inout SeededGenerator?) -> Int? {
      while let number = later.takeDue(at: now) {
        if ready.isEmpty { readySince = now }
        ready.append(number)
      }
      guard random != nil, !ready.isEmpty else { return ready.popFirst() }
      ready.swapAt(Int.random(in: ready.indices, using: &random!), ready.endIndex - 1)
      return ready.popLast()
    }
  }

  private let state = Mutex(State())

  /// - Returns: A number, to cancel it by.
  @discardableResult
  func add(at due: Duration, _ act: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      let number = state.next
      state.next += 1
      state.entries[number] = Entry(id: state.later.add(number, due: due), act: act)
      return number
    }
  }

  func cancel(_ number: Int) {
    state.withLock { state in
      guard let entry = state.entries.removeValue(forKey: number) else { return }
      if state.later.cancel(entry.id) == nil { state.ready.removeAll { $0 == number } }
    }
  }

  func keep(_ value: any Sendable) { state.withLock { $0.kept.append(value) } }

  var nextDue: Duration? {
    state.withLock { $0.ready.isEmpty ? $0.later.nextDue() : $0.readySince }
  }

  /// Carries out one action that is due; without a generator, the one that was added first.
  func actOnce(at now: Duration, using random: inout SeededGenerator?) {
    let act = state.withLock { state in
      state.takeReady(at: now, &random).flatMap { state.entries.removeValue(forKey: $0)?.act }
    }
    act?()
  }
}
