import Synchronization

/// Actions of a simulated world, each due at a time. Several that are due together are carried out in any order, which
/// a seed decides.
final class Agenda: Sendable {
  private struct Entry {
    var due: Duration
    let act: @Sendable () -> Void
  }

  private struct State {
    var entries: [Int: Entry] = [:]
    var next = 0
    /// Whatever nothing else refers to, because it only ends when it is stopped.
    var kept: [any Sendable] = []
  }

  private let state = Mutex(State())

  /// - Returns: A number, to cancel it by.
  @discardableResult
  func add(at due: Duration, _ act: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.entries[state.next] = Entry(due: due, act: act)
      state.next += 1
      return state.next - 1
    }
  }

  func cancel(_ number: Int) { state.withLock { $0.entries[number] = nil } }

  func keep(_ value: any Sendable) { state.withLock { $0.kept.append(value) } }

  var nextDue: Duration? { state.withLock { $0.entries.values.lazy.map(\.due).min() } }

  /// Carries out one action that is due; without a generator, the one that was added first.
  func actOnce(at now: Duration, using random: inout SeededGenerator?) {
    let due = state.withLock { state in
      state.entries.filter { $0.value.due <= now }.map(\.key).sorted()
    }
    guard let first = due.first else { return }
    let chosen = random == nil ? first : due[Int.random(in: due.indices, using: &random!)]
    let act = state.withLock { $0.entries.removeValue(forKey: chosen)?.act }
    act?()
  }
}
