import Synchronization
import WeftEvents
import WeftRecord

/// A journal in memory that a case can cut off, as if the engine were gone, or keep from being written.
final class CaseStore: RunStore {
  private enum Condition {
    case sound
    /// Nothing more can be written.
    case full
    /// The engine is gone: nothing that it still does is written.
    case gone
  }

  private struct State {
    var bytes: [UInt8] = []
    var condition = Condition.sound
  }

  private let state = Mutex(State())

  func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal { journal() }

  func take(_ run: RunID) throws(RunStoreError) -> RunJournal {
    // Another engine comes when the disk has room again.
    state.withLock { $0.condition = .sound }
    return journal()
  }

  func fill() { state.withLock { $0.condition = .full } }
  func cutOff() { state.withLock { $0.condition = .gone } }

  private func journal() -> RunJournal {
    RunJournal(
      read: { () throws(RunStoreError) in self.state.withLock { $0.bytes } },
      append: { line throws(RunStoreError) in
        let isFull = self.state.withLock { state in
          if state.condition == .sound { state.bytes += line }
          return state.condition == .full
        }
        if isFull { throw RunStoreError(message: "no space left on device") }
      }, close: {})
  }
}
