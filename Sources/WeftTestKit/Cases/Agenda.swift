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
    /// The numbers of those that are due, in the order in which they were added, and since when; also of some that
    /// were cancelled since.
    var ready: ArraySlice<Int> = []
    var readySince = Duration.zero
    /// Whatever nothing else refers to, because it only ends when it is stopped.
    var kept: [any Sendable] = []

    /// Removes an action that is due; without a generator, the one that was added first.
    mutating func takeReady(
      at now: Duration, _ random: inout SeededGenerator?
    ) -> (@Sendable () -> Void)? {
      while let number = later.takeDue(at: now) {
        if ready.isEmpty { readySince = now }
        ready.append(number)
      }
      while !ready.isEmpty {
        if random != nil {
          ready.swapAt(Int.random(in: ready.indices, using: &random!), ready.endIndex - 1)
        }
        let number = random == nil ? ready.removeFirst() : ready.removeLast()
        if let entry = entries.removeValue(forKey: number) { return entry.act }
      }
      return nil
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
      _ = state.later.cancel(entry.id)
    }
  }

  func keep(_ value: any Sendable) { state.withLock { $0.kept.append(value) } }

  var nextDue: Duration? {
    state.withLock { $0.ready.isEmpty ? $0.later.nextDue() : $0.readySince }
  }

  /// Carries out one action that is due; without a generator, the one that was added first.
  func actOnce(at now: Duration, using random: inout SeededGenerator?) {
    state.withLock { $0.takeReady(at: now, &random) }?()
  }
}
