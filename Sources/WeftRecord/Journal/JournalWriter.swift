import Synchronization
package import WeftEvents
package import WeftExecution
package import WeftFutures
package import WeftPlatform

/// Appends the records of a run to its journal.
///
/// Each record is one `write`, made by the thread on which the event happens, before anything depends on it. The lock
/// is held only for that write. Syncing blocks no caller, unless the durability requires it.
package final class JournalWriter: RunRecorder {
  private struct State {
    var json: RecordJSON
    var file: AppendedFile
    var reserve: DiskReserve?
    var number: UInt64
  }

  private let state: Mutex<State>
  private let condition: JournalCondition
  private let commit: GroupCommit
  private let safety: Safety

  /// The way records are made durable.
  private enum Safety {
    /// A separate thread syncs, with a delay.
    case late(DelayedWork)
    /// The writing thread or a dedicated one syncs, before anything depends on the record.
    case first(CommittingThread)
  }

  /// - Parameters:
  ///   - file: The journal, and the end of its last complete record.
  ///   - number: The number of that record; 0 before the first.
  ///   - place: The name of the file in messages.
  ///   - reserve: Disk space for the last records on a full disk.
  ///   - start: The origin of record times.
  package init(
    _ file: AppendedFile, after number: UInt64, at place: String, reserve: DiskReserve? = nil,
    durability: RecordDurability, startedAt start: WallTime, version: String = WeftVersion.current
  ) {
    state = Mutex(
      State(
        json: RecordJSON(version: version, startedAt: start), file: file, reserve: reserve,
        number: number))
    let commit = GroupCommit { () throws(SystemError) in try file.synchronize() }
    let condition = JournalCondition(of: place)
    self.commit = commit
    self.condition = condition
    safety =
      switch durability {
      case .power: .first(CommittingThread(commit) { condition.recordLoss($0) })
      case .process:
        .late(
          DelayedWork(after: .seconds(1), thread: "weft-journal") {
            do throws(SystemError) { try commit.waitForAll() } catch { condition.recordLoss(error) }
          })
      }
  }

  package func record(_ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration)
    throws(RecordError)
  {
    let number = try append(kind, elapsed)
    switch safety {
    case .late(let work): work.request()
    case .first: if kind.isDecisive { try makeSafe(number) }
    }
    // The record may only have fit because the reserve was released.
    if condition.fault != nil { condition.report() }
  }

  package func write(
    _ kind: RunRecord.Kind, elapsed: @autoclosure () -> Duration, isUrgent: () -> Bool
  ) throws(RecordError) -> Future<Void, Never>? {
    guard case .first(let thread) = safety, kind.isDecisive else {
      try record(kind, elapsed: elapsed())
      return nil
    }
    _ = try append(kind, elapsed)
    if condition.fault != nil { condition.report() }
    return thread.waitUntilSafe(isUrgent: isUrgent())
  }

  private func append(
    _ kind: RunRecord.Kind, _ elapsed: () -> Duration
  ) throws(RecordError) -> UInt64 {
    do throws(RecordError) {
      return try state.withLock { (state: inout sending State) throws(RecordError) -> UInt64 in
        try append(kind, elapsed, &state)
      }
    } catch {
      condition.report()
      throw error
    }
  }

  private func append(
    _ kind: RunRecord.Kind, _ elapsed: () -> Duration, _ state: inout State
  ) throws(RecordError) -> UInt64 {
    if let fault = condition.refusal(of: kind) { throw fault }
    var kind = kind
    let number = state.number + 1
    while true {
      do throws(SystemError) {
        var file = state.file
        defer { state.file = file }
        try state.json.withLine(of: kind, number, after: elapsed()) { line throws(SystemError) in
          try file.append(line)
        }
        state.number = number
        commit.recordWritten(number)
        return number
      } catch {
        condition.recordFailure(error, needing: state.json.lineBytes)
        // The reserve is for the final records of running steps.
        if condition.refusal(of: kind) == nil {
          if state.reserve?.release() == true { continue }
          if kind.omitValues() { continue }
        }
        throw condition.fault ?? RecordError(message: error.description)
      }
    }
  }

  private func makeSafe(_ number: UInt64) throws(RecordError) {
    do throws(SystemError) { try commit.wait(for: number) } catch {
      condition.recordLoss(error)
      throw condition.fault ?? RecordError(message: error.description)
    }
  }

  package func close() {
    switch safety {
    case .late(let work):
      work.end()
      do throws(SystemError) { try commit.waitForAll() } catch { condition.recordLoss(error) }
    case .first(let thread): thread.close()
    }
    state.withLock { state in _ = state.reserve?.release() }
  }

  package var fault: RecordError? { condition.fault }

  package func onLost(_ act: @escaping @Sendable () -> Void) { condition.onLost(act) }
}

/// Makes records durable for callers that continue meanwhile. One sync covers all records written while the disk was
/// busy or no record was urgent. Its thread starts when it is first needed.
final class CommittingThread: Sendable {
  private struct Waiting {
    var promises: [Promise<Void, Never>] = []
    var isClosed = false
  }

  private let waiting = Mutex(Waiting())
  private let commit: GroupCommit
  private let recordLoss: @Sendable (SystemError) -> Void
  private let work: Mutex<DelayedWork?> = Mutex(nil)

  init(_ commit: GroupCommit, recordLoss: @escaping @Sendable (SystemError) -> Void) {
    self.commit = commit
    self.recordLoss = recordLoss
    let work = DelayedWork(after: Self.gathering, thread: "weft-commit") { [weak self] in
      self?.serve()
    }
    self.work.withLock { $0 = work }
  }

  /// The time that a record waits for others to share one sync. Equals a few syncs, which take from 0.1 to 1 ms on an
  /// SSD.
  private static let gathering = Duration.milliseconds(2)

  /// Settles when everything written so far is durable, or has been lost; `nil` once closed.
  func waitUntilSafe(isUrgent: Bool) -> Future<Void, Never>? {
    let promise = Promise<Void, Never>(ifDropped: .success(()))
    let work = waiting.withLock { waiting in
      if waiting.isClosed { return false }
      waiting.promises.append(promise)
      return true
    }
    guard work else { return nil }
    self.work.withLock { $0 }?.request(atOnce: isUrgent)
    return promise.future
  }

  private func serve() {
    // Later records belong to the next sync.
    let promises = waiting.withLock { waiting in
      defer { waiting.promises = [] }
      return waiting.promises
    }
    do throws(SystemError) { try commit.waitForAll() } catch { recordLoss(error) }
    for promise in promises { promise.succeed() }
  }

  /// Makes everything written so far durable; accepts no more requests.
  func close() {
    work.withLock { $0.take() }?.end()
    waiting.withLock { $0.isClosed = true }
    serve()
  }
}
