import Synchronization
import WeftEvents
import WeftExecution
import WeftPlatform

/// Writes records as lines to a ``RunJournal`` of closures.
final class LineRecorder: RunRecorder {
  private struct State {
    var json: RecordJSON
    var number: UInt64
    var fault: RecordError?
    var onLost: (@Sendable () -> Void)?
    var isClosed = false
  }

  private let state: Mutex<State>
  private let lines: RunJournal.LineStore

  /// - Parameters:
  ///   - number: The number of the last existing record; 0 if there is none.
  ///   - opening: The next record.
  init(
    _ lines: RunJournal.LineStore, after number: UInt64, startedAt start: WallTime,
    opening: RecordOpening
  ) throws(RunStoreError) {
    self.lines = lines
    let json = RecordJSON(version: opening.version, startedAt: start)
    state = Mutex(State(json: json, number: number))
    do { try record(.opened(opening), elapsed: .zero) } catch {
      throw RunStoreError(message: error.message, help: error.help)
    }
  }

  func record(_ kind: RunRecord.Kind, elapsed: Duration) throws(RecordError) {
    let (fault, act) = state.withLock { state -> (RecordError?, (@Sendable () -> Void)?) in
      // After a missing record, any other would look like damage.
      if let fault = state.fault { return (fault, nil) }
      do throws(RunStoreError) {
        try state.json.withLine(of: kind, state.number + 1, after: elapsed) {
          line throws(RunStoreError) in try lines.append(Array(line))
        }
        state.number += 1
        return (nil, nil)
      } catch {
        let fault = RecordError(
          message: "the journal of the run cannot be written: \(error.message)", help: error.help)
        state.fault = fault
        return (fault, state.onLost.take())
      }
    }
    act?()
    if let fault { throw fault }
  }

  func onLost(_ act: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      if state.fault == nil { state.onLost = act }
      return state.fault != nil
    }
    if isLost { act() }
  }

  var fault: RecordError? { state.withLock { $0.fault } }

  func close() {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    if isFirst { lines.close() }
  }
}
