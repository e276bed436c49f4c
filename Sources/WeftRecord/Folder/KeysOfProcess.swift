import Synchronization
import WeftEvents

/// The `concurrency` keys held by runs of this process without a common state directory.
final class KeysOfProcess: Sendable {
  static let shared = KeysOfProcess()

  private struct Entry {
    let holder: ConcurrencyLock.Holder
    var isWanted = false
    var cancel: (@Sendable () -> Void)?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// Takes a free key.
  ///
  /// - Returns: The run that holds it; `nil` if it is now taken.
  func take(_ key: String, for holder: ConcurrencyLock.Holder) -> ConcurrencyLock.Holder? {
    entries.withLock { entries in
      if let entry = entries[key] { return entry.holder }
      entries[key] = Entry(holder: holder)
      return nil
    }
  }

  func release(_ key: String, of run: RunID) {
    entries.withLock { entries in
      if entries[key]?.holder.run == run { entries[key] = nil }
    }
  }

  /// Cancels the run that holds a key.
  func cancel(_ key: String) {
    let cancel = entries.withLock { entries in
      entries[key]?.isWanted = true
      return entries[key]?.cancel
    }
    cancel?()
  }

  func onCancel(_ key: String, of run: RunID, _ cancel: @escaping @Sendable () -> Void) {
    let isWanted = entries.withLock { entries in
      guard let entry = entries[key], entry.holder.run == run else { return false }
      entries[key]?.cancel = cancel
      return entry.isWanted
    }
    if isWanted { cancel() }
  }
}
