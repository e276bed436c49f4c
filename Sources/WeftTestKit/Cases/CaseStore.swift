import Synchronization
import WeftEvents
import WeftRecord

/// A journal in memory that a case can cut off, as if the engine were gone, or keep from being written.
final class CaseStore: RunStore {
  /// The reason why nothing more is written.
  enum End {
    /// There is no room, except for the ends of what runs.
    case full
    /// The engine is gone: nothing that it still does has happened.
    case gone
  }

  private struct State {
    var bytes: [UInt8] = []
    /// The number of records that the current engine has written.
    var count = 0
    var end: End?
    /// Whether the space that is reserved for a full disk is in use.
    var usesReserve = false
    /// The number of records of the current engine after which nothing more is written.
    var limits: [(count: Int, end: End)] = []
    var countEvents: @Sendable () -> UInt64 = { 0 }
    /// The number of the last event that the journal holds, or whose record it could hold.
    var lastEvent = UInt64.max

    /// - Returns: Whether the engine is gone now.
    mutating func append(_ line: [UInt8]) throws(RunStoreError) -> Bool {
      if let end, end == .gone || !usesReserve {
        usesReserve = true
        var error = RunStoreError(message: "no space left on device")
        error.isOfSpace = end == .full
        throw error
      }
      bytes += line
      count += 1
      guard let limit = limits.first(where: { $0.count == count }) else { return false }
      end = limit.end
      return end == .gone
    }
  }

  private let state = Mutex(State())

  func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal { journal() }

  func take(_ run: RunID) throws(RunStoreError) -> RunJournal { journal() }

  /// Makes room for another engine, until it has written one of the given numbers of records.
  func expectEngine(endingAt limits: [(count: Int, end: End)]) {
    state.withLock { state in
      (state.end, state.count, state.limits, state.lastEvent) = (nil, 0, limits, .max)
      (state.countEvents, state.usesReserve) = ({ 0 }, false)
    }
  }

  /// - Parameter count: The number of events of the current engine so far.
  func countEvents(by count: @escaping @Sendable () -> UInt64) {
    state.withLock { $0.countEvents = count }
  }

  /// Writes nothing more for the current engine.
  func end(_ end: End) {
    let count = state.withLock { state in
      state.end = end
      return state.countEvents
    }
    if end == .gone { keepEvents(to: count()) }
  }

  private func keepEvents(to last: UInt64) { state.withLock { $0.lastEvent = last } }

  var end: End? { state.withLock { $0.end } }
  /// The number of records that the current engine has written.
  var recordCount: Int { state.withLock { $0.count } }
  /// The number of the last event of the current engine that has happened although it is gone.
  var lastEvent: UInt64 { state.withLock { $0.lastEvent } }

  private func journal() -> RunJournal {
    RunJournal(
      read: { () throws(RunStoreError) in self.state.withLock { $0.bytes } },
      append: { line throws(RunStoreError) in
        let result = self.state.withLock { state in
          Result { () throws(RunStoreError) in
            try (isGone: state.append(line), countEvents: state.countEvents)
          }
        }
        let written = try result.get()
        guard written.isGone else { return }
        // The event is published after its record is written.
        self.keepEvents(to: written.countEvents() + (RunRecord.isOfEvent(line) ? 1 : 0))
      }, close: {})
  }
}

extension RunRecord {
  /// Whether a journal line is the record of an event; the others are only read by the engine that resumes the run.
  fileprivate static func isOfEvent(_ line: [UInt8]) -> Bool {
    line.dropLast().withUnsafeBytes { line in
      guard let record = try? RunRecord(line: line), case .event = record.kind else { return false }
      return true
    }
  }
}
