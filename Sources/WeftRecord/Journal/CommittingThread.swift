import Synchronization
import WeftFutures
import WeftPlatform

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
