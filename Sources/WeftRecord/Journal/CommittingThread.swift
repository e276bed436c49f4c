import Synchronization
import WeftFutures
import WeftPlatform

/// Makes records safe for those who go on with something else meanwhile: one call for all that have come while
/// the disk was busy, or while nobody was in a hurry, by a thread that is made when it is first needed.
final class CommittingThread: Sendable {
  private struct Waiting {
    var promises: [Promise<Void, Never>] = []
    var isClosed = false
  }

  private let waiting = Mutex(Waiting())
  private let commit: GroupCommit
  private let noteLoss: @Sendable (SystemError) -> Void
  private let work: Mutex<DelayedWork?> = Mutex(nil)

  init(_ commit: GroupCommit, noteLoss: @escaping @Sendable (SystemError) -> Void) {
    self.commit = commit
    self.noteLoss = noteLoss
    let work = DelayedWork(after: Self.gathering, thread: "weft-commit") { [weak self] in
      self?.serve()
    }
    self.work.withLock { $0 = work }
  }

  /// How long a record waits for others, so that one call does for all. A few calls' worth: it takes from 0.1 to 1 ms
  /// on an SSD.
  private static let gathering = Duration.milliseconds(2)

  /// Settles when all that has been written is safe, or cannot be made so any more; `nil` once it is closed.
  func whenSafe(isUrgent: Bool) -> Future<Void, Never>? {
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
    // What comes from now on is for the next call.
    let promises = waiting.withLock { waiting in
      defer { waiting.promises = [] }
      return waiting.promises
    }
    do throws(SystemError) { try commit.waitForAll() } catch { noteLoss(error) }
    for promise in promises { promise.succeed() }
  }

  /// Makes safe what has been written; nothing else is from now on.
  func close() {
    work.withLock { $0.take() }?.end()
    waiting.withLock { $0.isClosed = true }
    serve()
  }
}
