import Synchronization

/// Makes the writes of many threads durable with one call for all that wait: threads that arrive while the disk is busy
/// are served by the next call.
package final class GroupCommit: Sendable {
  private struct State {
    /// Records are numbered from 1.
    var written: UInt64 = 0
    var safe: UInt64 = 0
    var isUnderWay = false
    var fault: SystemError?
    var waiting: [Parking] = []
  }

  private enum Turn {
    case over
    case failed(SystemError)
    case synchronize(upTo: UInt64)
    case wait(Parking)
  }

  private let state = Mutex(State())
  private let synchronize: @Sendable () throws(SystemError) -> Void

  /// - Parameter synchronize: Makes all written data durable. It is not called again after a failure, because a second
  ///   call would not detect the data lost in the first.
  package init(_ synchronize: @escaping @Sendable () throws(SystemError) -> Void) {
    self.synchronize = synchronize
  }

  /// Notes that a record has been written.
  package func noteWritten(_ number: UInt64) {
    state.withLock { $0.written = max($0.written, number) }
  }

  /// Blocks the calling thread until the record is durable.
  package func wait(for number: UInt64) throws(SystemError) {
    while true {
      switch turn(of: number) {
      case .over: return
      case .failed(let error): throw error
      case .wait(let parking): _ = parking.park(atMost: nil)
      case .synchronize(let last):
        let fault: SystemError?
        do {
          try synchronize()
          fault = nil
        } catch { fault = error }
        end(upTo: last, fault)
      }
    }
  }

  /// Makes all records durable that were written before this call.
  package func waitForAll() throws(SystemError) { try wait(for: state.withLock { $0.written }) }

  private func turn(of number: UInt64) -> Turn {
    state.withLock { state in
      if state.safe >= number { return .over }
      if let fault = state.fault { return .failed(fault) }
      guard state.isUnderWay else {
        state.isUnderWay = true
        return .synchronize(upTo: state.written)
      }
      let parking = Parking()
      state.waiting.append(parking)
      return .wait(parking)
    }
  }

  private func end(upTo last: UInt64, _ fault: SystemError?) {
    let waiting = state.withLock { state in
      state.isUnderWay = false
      if let fault { state.fault = fault } else { state.safe = max(state.safe, last) }
      defer { state.waiting = [] }
      return state.waiting
    }
    for parking in waiting { parking.unpark() }
  }
}
