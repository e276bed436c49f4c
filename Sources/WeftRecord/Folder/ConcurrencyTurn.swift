import Synchronization
package import WeftDefinition
import WeftDiagnostics
import WeftEncoding
package import WeftEvents
import WeftExecution
package import WeftPlatform

/// Queues a run behind other runs with the same `concurrency` key.
package struct ConcurrencyTurn: Sendable {
  /// The runs that exclude each other.
  package enum Place: Sendable {
    /// Runs with a common state directory, also those of other processes.
    case directory(StateDirectory)
    /// Runs of this process whose journals are elsewhere, or that have none.
    case process
  }

  package enum Result: Sendable {
    case begins(HeldKey)
    /// The caller gave up first.
    case givenUp
  }

  /// Progress that the caller may show while it waits.
  package enum Notice: Sendable, Hashable {
    case waits(for: RunID)
    case cancels(RunID)
  }

  private let concurrency: Concurrency
  private let run: RunID
  private let place: Place
  /// The time at which this run requested the key.
  private let since = WallTime(nanoseconds: WallClock.now.nanoseconds)

  package init(_ concurrency: Concurrency, of run: RunID, in place: Place) {
    (self.concurrency, self.run, self.place) = (concurrency, run, place)
  }

  /// The longest delay before the end of another run is noticed.
  private static let attention = Duration.milliseconds(50)

  /// Blocks until the run may begin.
  ///
  /// - Parameters:
  ///   - stop: Ends the waiting.
  ///   - isGivenUp: Ends it too; called many times per second.
  /// - Throws: If another run holds the key and the policy is to refuse, or if the lock cannot be taken.
  package func wait(
    stop: StopSwitch = StopSwitch(), isGivenUp: () -> Bool = { false },
    onNotice notify: (Notice) -> Void = { _ in }
  ) throws(RunStoreError) -> Result {
    let wakeup = Wakeup()
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    var reported: HeldKey.Holder?
    while stop.level == .none, !isGivenUp() {
      switch try attempt() {
      case .taken(let key): return .begins(key)
      case .held(let holder):
        if concurrency.policy == .refuse { throw refusal(holder?.run) }
        if let holder, holder != reported {
          notify(notice(holder))
          reported = holder
        }
        wakeup.wait(atMost: ConcurrencyTurn.attention)
      }
    }
    return .givenUp
  }

  private func attempt() throws(RunStoreError) -> HeldKey.Attempt {
    let holder = HeldKey.Holder(run: run, since: since)
    do { return try HeldKey.take(concurrency.key, for: holder, in: place) } catch {
      throw RunStoreError(error)
    }
  }

  private func notice(_ holder: HeldKey.Holder) -> Notice {
    // A run that has waited does not cancel one that started later.
    guard concurrency.policy == .cancelPrevious, holder.since.nanoseconds < since.nanoseconds,
      cancel(holder.run)
    else { return .waits(for: holder.run) }
    return .cancels(holder.run)
  }

  /// - Returns: False if the run cannot be reached because it has no journal.
  private func cancel(_ other: RunID) -> Bool {
    switch place {
    case .process:
      KeysOfProcess.shared.cancel(concurrency.key)
      return true
    case .directory(let state):
      let now = WallTime(nanoseconds: WallClock.now.nanoseconds)
      return (try? RunFolder.leave(.cancel, for: other, in: state, at: now)) != nil
    }
  }

  private func refusal(_ holder: RunID?) -> RunStoreError {
    let key = TerminalText.harmless(concurrency.key)
    return RunStoreError(
      message:
        "nothing was started: \(holder.map { "run \($0)" } ?? "another run") "
        + "holds the key \"\(key)\"",
      help: "\"policy\": \"wait\" waits for it to end, \"cancelPrevious\" cancels it")
  }
}

/// A `concurrency` key that a run holds until this object is released.
///
/// Between processes, the lock is the system's (fcntl(2)) and ends with the process, however that ends. Its file remains,
/// and names the holder for processes that wait.
package final class HeldKey: Sendable {
  package enum Attempt: Sendable {
    case taken(HeldKey)
    /// `by` is the holder, if already known.
    case held(by: Holder?)
  }

  /// The holder of a key.
  package struct Holder: Sendable, Hashable {
    package let run: RunID
    /// The time at which its engine first requested the key, even if it had to wait. Run IDs only have second
    /// precision.
    package let since: WallTime
  }

  private enum Form: Sendable {
    case file(Descriptor, FileCalls)
    case process(key: String, RunID)
  }

  private let form: Form

  private init(_ form: Form) { self.form = form }

  deinit {
    switch form {
    // A child that is being spawned has the file open, too, so closing it would not release the lock.
    case .file(let lock, let calls): calls.releaseLock(lock)
    case .process(let key, let run): KeysOfProcess.shared.release(key, of: run)
    }
  }

  /// Takes a key if it is free.
  static func take(
    _ key: String, for holder: Holder, in place: ConcurrencyTurn.Place
  ) throws(RunFolderError) -> Attempt {
    switch place {
    case .process:
      if let other = KeysOfProcess.shared.take(key, for: holder) { return .held(by: other) }
      return .taken(HeldKey(.process(key: key, holder.run)))
    case .directory(let state):
      do throws(UnsafePathError) {
        return try take(key, for: holder, in: state.directory)
      } catch {
        throw .place(error)
      }
    }
  }

  private static func take(
    _ key: String, for holder: Holder, in state: PrivateDirectory
  ) throws(UnsafePathError) -> Attempt {
    let folder = try state.directory("concurrency", makes: true)
    // A key is any text, a file name is not.
    let name = SHA256.text(of: SHA256.digest(of: Array(key.utf8)))
    let lock = try folder.file(name, .makingOrAppending)
    do throws(SystemError) {
      guard try folder.calls.takeLock(lock) else {
        return .held(by: self.holder(name, in: folder))
      }
      let text = "\(holder.run) \(holder.since.nanoseconds)\n"
      try folder.calls.replace(lock, with: Array(text.utf8))
    } catch {
      throw .system("\(folder.path)/\(name)", error)
    }
    return .taken(HeldKey(.file(lock, folder.calls)))
  }

  private static func holder(_ name: String, in folder: PrivateDirectory) -> Holder? {
    guard let bytes = try? folder.bytes(of: name, limit: 256), bytes.last == UInt8(ascii: "\n")
    else { return nil }
    let words = String(decoding: bytes.dropLast(), as: UTF8.self).split(separator: " ")
    guard words.count == 2, let run = RunID(validating: String(words[0])),
      let since = Int64(words[1])
    else { return nil }
    return Holder(run: run, since: WallTime(nanoseconds: since))
  }

  /// Calls `cancel` when a later run of this process wants the key, immediately if one already does. A run with a
  /// folder is cancelled through its control folder instead.
  package func onRelease(_ cancel: @escaping @Sendable () -> Void) {
    if case .process(let key, let run) = form {
      KeysOfProcess.shared.onCancel(key, of: run, cancel)
    }
  }
}

/// The `concurrency` keys held by runs of this process without a common state directory.
final class KeysOfProcess: Sendable {
  static let shared = KeysOfProcess()

  private struct Entry {
    let holder: HeldKey.Holder
    var isWanted = false
    var cancel: (@Sendable () -> Void)?
  }

  private let entries = Mutex<[String: Entry]>([:])

  /// Takes a free key.
  ///
  /// - Returns: The run that holds it; `nil` if it is now taken.
  func take(_ key: String, for holder: HeldKey.Holder) -> HeldKey.Holder? {
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
