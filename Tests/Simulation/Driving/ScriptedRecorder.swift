import Synchronization
import WeftEvents
import WeftExecution

/// A journal in memory. Each entry keeps the number of events that subscribers had received before it.
final class ScriptedRecorder: RunRecorder {
  struct Entry {
    let kind: RunRecord.Kind
    let elapsed: Duration
    let eventsBefore: Int
  }

  private struct State {
    var entries: [Entry] = []
    /// A closure that is read through a mutex is wrapped again at each read; a struct around it prevents that.
    var countEvents: @Sendable () -> Int = { 0 }
  }

  private let state = Mutex(State())

  var entries: [Entry] { state.withLock { $0.entries } }
  var fault: RecordError? { nil }

  /// - Parameter count: The number of events so far.
  func countEvents(by count: @escaping @Sendable () -> Int) {
    state.withLock { $0.countEvents = count }
  }

  func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration) throws(RecordError) {
    let count = state.withLock { $0.countEvents }
    let entry = Entry(kind: kind, elapsed: elapsed(), eventsBefore: count())
    state.withLock { $0.entries.append(entry) }
  }

  func onLost(_ act: @escaping @Sendable () -> Void) {}

  func close() { state.withLock { $0.countEvents = { 0 } } }
}
