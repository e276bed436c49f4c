import Synchronization

@testable import WeftEvents
@testable import WeftExecution

/// A recorder that keeps records in memory until the test makes it lose them.
final class RecordKeeper: RunRecorder {
  private struct State {
    var kinds: [RunRecord.Kind] = []
    var limit = Int.max
    var onLost: (@Sendable () -> Void)?
    var isLost = false
    var isClosed = false
    var observe: @Sendable (RunRecord.Kind) -> Void = { _ in }
  }

  private let state = Mutex(State())

  /// - Parameter limit: The number of records that fit; starts are recorded in a reserve.
  init(limit: Int = .max) { state.withLock { $0.limit = limit } }

  var kinds: [RunRecord.Kind] { state.withLock { $0.kinds } }
  var isClosed: Bool { state.withLock { $0.isClosed } }
  var fault: RecordError? { state.withLock { $0.isLost } ? RecordError(message: "no room") : nil }

  /// Calls `observe` with each record before it is kept.
  func observe(_ observe: @escaping @Sendable (RunRecord.Kind) -> Void) {
    state.withLock { $0.observe = observe }
  }

  func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration) throws(RecordError) {
    state.withLock { $0.observe }(kind)
    let (isKept, report) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      let isFull = state.kinds.count >= state.limit
      let report = isFull && !state.isLost ? state.onLost : nil
      state.isLost = state.isLost || isFull
      if isFull, kind.announcesAct { return (false, report) }
      state.kinds.append(kind)
      return (true, report)
    }
    report?()
    if !isKept { throw RecordError(message: "no room") }
  }

  func onLost(_ act: @escaping @Sendable () -> Void) { state.withLock { $0.onLost = act } }
  func close() { state.withLock { $0.isClosed = true } }

  /// The run that the records describe.
  var run: RunState {
    var run = RunState()
    for (index, kind) in kinds.enumerated() {
      run.apply(RunRecord(number: UInt64(index + 1), at: WallTime(nanoseconds: 0), kind))
    }
    return run
  }
}
