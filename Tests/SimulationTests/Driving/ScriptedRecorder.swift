import Synchronization
import WeftExecution

/// A record in memory, each entry with the number of events that subscribers had heard of before it.
final class ScriptedRecorder: RunRecorder {
  struct Entry {
    let kind: RunRecord.Kind
    let eventsBefore: Int
  }

  private struct State {
    var entries: [Entry] = []
    /// In a struct: a closure by itself would be wrapped once more each time that it is read through a mutex.
    var countEvents: @Sendable () -> Int = { 0 }
  }

  private let state = Mutex(State())

  var entries: [Entry] { state.withLock { $0.entries } }
  var fault: RecordFault? { nil }

  /// - Parameter count: The number of events so far.
  func countEvents(by count: @escaping @Sendable () -> Int) {
    state.withLock { $0.countEvents = count }
  }

  func record(_ kind: RunRecord.Kind, elapsed: Duration) throws(RecordFault) {
    let count = state.withLock { $0.countEvents }
    let events = count()
    state.withLock { $0.entries.append(Entry(kind: kind, eventsBefore: events)) }
  }

  func whenLost(_ act: @escaping @Sendable () -> Void) {}

  func close() { state.withLock { $0.countEvents = { 0 } } }
}
