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
    /// A later run replaces this one, which has not begun.
    case superseded(by: RunID)
  }

  /// Progress that the caller may show while it waits.
  package enum Notice: Sendable, Hashable {
    case waits(for: RunID)
    case cancels(RunID)
  }

  private let concurrency: Concurrency
  private let run: RunID
  private let place: Place

  package init(_ concurrency: Concurrency, of run: RunID, in place: Place) {
    (self.concurrency, self.run, self.place) = (concurrency, run, place)
  }

  /// The longest delay before the end of another run is noticed.
  private static let attention = Duration.milliseconds(50)
  /// The delay after meeting a run that looks at the same key at this moment.
  private static let courtesy = Duration.milliseconds(1)

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
    var request = HeldKey.Request(by: run, replacesOthers: concurrency.policy == .cancelPrevious)
    var reported: Notice?
    var wasHeld = false
    while stop.level == .none, !isGivenUp() {
      switch try attempt(&request) {
      case .taken(let key): return .begins(key)
      case .superseded(let other): return .superseded(by: other)
      case .busy: wakeup.wait(atMost: ConcurrencyTurn.courtesy)
      case .held(let holder):
        // At the first look it may be a process that removes the file of a run that was killed.
        if !wasHeld {
          wasHeld = true
          wakeup.wait(atMost: ConcurrencyTurn.attention)
          continue
        }
        if concurrency.policy == .refuse { throw refusal(holder?.run) }
        // A holder that cannot be reached may only not have its journal yet.
        if let holder, reported != .cancels(holder.run) {
          let notice = notice(holder, request)
          if notice != reported { notify(notice) }
          reported = notice
        }
        wakeup.wait(atMost: ConcurrencyTurn.attention)
      }
    }
    return .givenUp
  }

  private func attempt(
    _ request: inout HeldKey.Request
  ) throws(RunStoreError) -> HeldKey.Attempt {
    do { return try HeldKey.take(concurrency.key, for: &request, in: place) } catch {
      throw RunStoreError(error)
    }
  }

  private func notice(_ holder: HeldKey.Holder, _ request: HeldKey.Request) -> Notice {
    // A run that has waited does not cancel one that started later.
    guard request.replacesOthers,
      holder.since.nanoseconds < request.holder.since.nanoseconds, cancel(holder.run)
    else { return .waits(for: holder.run) }
    return .cancels(holder.run)
  }

  /// - Returns: False if the run cannot be reached because it has no journal.
  private func cancel(_ other: RunID) -> Bool {
    switch place {
    case .process:
      KeysOfProcess.shared.cancel(other, key: concurrency.key)
      return true
    case .directory(let state):
      return (try? RunFolder.leave(.cancel, for: other, in: state, at: .now)) != nil
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
/// Between processes, it is a ``LockedFile`` that names the holder for processes that wait. The holder removes it.
package final class HeldKey: Sendable {
  package enum Attempt: Sendable {
    case taken(HeldKey)
    /// `by` is the holder, if already known.
    case held(by: Holder?)
    /// A run that replaces others has arrived later.
    case superseded(by: RunID)
    /// Another run looks at the key at this moment.
    case busy
  }

  /// The holder of a key.
  package struct Holder: Sendable, Hashable {
    package let run: RunID
    /// The time at which its engine first requested the key, even if it had to wait. Run IDs only have second
    /// precision.
    package fileprivate(set) var since: WallTime

    /// The content of its file.
    fileprivate var line: String { "\(run) \(since.nanoseconds)\n" }
  }

  /// The request of a run for a key.
  struct Request {
    fileprivate(set) var holder: Holder
    /// Whether the run cancels those that arrived before it.
    let replacesOthers: Bool
    /// Whether it has arrived, if it replaces others.
    fileprivate private(set) var hasArrived = false

    init(by run: RunID, replacesOthers: Bool) {
      holder = Holder(run: run, since: .now)
      self.replacesOthers = replacesOthers
    }

    /// The run that has arrived after this one, which it supersedes; `nil` if this one is the latest.
    ///
    /// - Parameter latest: The run that arrived last among those that replace others, if that is still known.
    fileprivate func supersession(by latest: Holder?) -> RunID? {
      guard hasArrived, let latest, latest.run != holder.run else { return nil }
      return latest.run
    }

    /// - Parameter latest: The run that arrived last before it among those that replace others.
    fileprivate mutating func arrive(after latest: Holder?) {
      hasArrived = true
      // Clocks may be set back, and arrivals keep their order.
      let next = (latest?.since.nanoseconds ?? 0) + 1
      holder.since = WallTime(nanoseconds: max(WallClock.now.nanoseconds, next))
    }
  }

  private enum Form: Sendable {
    case file(LockedFile)
    case process(key: String, RunID)
  }

  private let form: Form
  /// The name of the folder with the files of keys.
  fileprivate static let folder = "concurrency"
  /// The end of the names of files that name the latest of runs that replace each other. That run does not remove its
  /// file at its end: an earlier one that still waits, and has not looked since, would take the key and begin. See
  /// ``StateDirectory/removeUnusedKeys(now:)``.
  fileprivate static let latestSuffix = ".latest"

  private init(_ form: Form) { self.form = form }

  fileprivate convenience init(_ key: String, ofProcessBy run: RunID) {
    self.init(.process(key: key, run))
  }

  deinit { release() }

  /// Gives the key to the next run. A second call has no effect.
  package func release() {
    switch form {
    case .file(let lock): lock.remove()
    case .process(let key, let run): KeysOfProcess.shared.release(key, of: run)
    }
  }

  /// Takes a key if it is free, and no later run replaces the one that requests it.
  static func take(
    _ key: String, for request: inout Request, in place: ConcurrencyTurn.Place
  ) throws(RunFolderError) -> Attempt {
    switch place {
    case .process: return KeysOfProcess.shared.take(key, for: &request)
    case .directory(let state):
      do throws(UnsafePathError) {
        let folder = try state.directory.directory(HeldKey.folder, makes: true)
        // A key is any text, a file name is not.
        let name = SHA256.text(of: SHA256.digest(of: Array(key.utf8)))
        guard request.replacesOthers else { return try take(name, for: request.holder, in: folder) }
        return try takeAsLatest(name, for: &request, in: folder)
      } catch {
        throw .place(error)
      }
    }
  }

  /// Takes a key under a second lock, so that all runs that replace others see one order of arrival.
  private static func takeAsLatest(
    _ name: String, for request: inout Request, in folder: PrivateDirectory
  ) throws(UnsafePathError) -> Attempt {
    let orderName = name + HeldKey.latestSuffix
    guard let order = try LockedFile(orderName, in: folder) else { return .busy }
    defer { order.release() }
    let latest = holder(orderName, in: folder)
    if let other = request.supersession(by: latest) { return .superseded(by: other) }
    if !request.hasArrived {
      request.arrive(after: latest)
      try order.write(request.holder.line)
    }
    return try take(name, for: request.holder, in: folder)
  }

  private static func take(
    _ name: String, for holder: Holder, in folder: PrivateDirectory
  ) throws(UnsafePathError) -> Attempt {
    guard let lock = try LockedFile(name, in: folder) else {
      return .held(by: self.holder(name, in: folder))
    }
    try lock.write(holder.line)
    return .taken(HeldKey(.file(lock)))
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

extension StateDirectory {
  /// Seconds after which no run waits any more that a later one has superseded: each looks many times per second.
  private static let supersessionSeconds: Int64 = 60

  /// Removes the files of keys that killed runs held, and those that name the latest of runs that replace each other.
  package func removeUnusedKeys(now: WallTime) {
    guard let folder = try? directory.directory(HeldKey.folder, makes: false) else { return }
    let limit = now.nanoseconds - StateDirectory.supersessionSeconds * 1_000_000_000
    func isOld(_ name: String) -> Bool {
      folder.stamp(ofFile: name).map { $0.modified < limit } ?? false
    }
    for name in folder.names() where isOld(name) {
      guard let file = try? LockedFile(name, .appending, in: folder) else { continue }
      // A run may have arrived meanwhile. A key has no holder as long as this lock is held, and a run that could not
      // take it, because of this lock, may never ask again.
      if !name.hasSuffix(HeldKey.latestSuffix) || isOld(name) {
        file.remove()
      } else {
        file.release()
      }
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

  private struct State {
    var entries: [String: Entry] = [:]
    /// The runs that arrived last among those that replace others, by key.
    var latest: [String: HeldKey.Holder] = [:]
  }

  private let state = Mutex(State())

  fileprivate func take(_ key: String, for request: inout HeldKey.Request) -> HeldKey.Attempt {
    state.withLock { state in
      if request.replacesOthers {
        let latest = state.latest[key]
        if let other = request.supersession(by: latest) { return .superseded(by: other) }
        if !request.hasArrived {
          request.arrive(after: latest)
          state.latest[key] = request.holder
        }
      }
      if let entry = state.entries[key] { return .held(by: entry.holder) }
      state.entries[key] = Entry(holder: request.holder)
      return .taken(HeldKey(key, ofProcessBy: request.holder.run))
    }
  }

  func release(_ key: String, of run: RunID) {
    state.withLock { state in
      if state.entries[key]?.holder.run == run { state.entries[key] = nil }
      if state.latest[key]?.run == run { state.latest[key] = nil }
    }
  }

  /// Cancels a run if it holds the key.
  func cancel(_ run: RunID, key: String) {
    let cancel = state.withLock { state in
      guard state.entries[key]?.holder.run == run else { return (@Sendable () -> Void)?.none }
      state.entries[key]?.isWanted = true
      return state.entries[key]?.cancel
    }
    cancel?()
  }

  func onCancel(_ key: String, of run: RunID, _ cancel: @escaping @Sendable () -> Void) {
    let isWanted = state.withLock { state in
      guard let entry = state.entries[key], entry.holder.run == run else { return false }
      state.entries[key]?.cancel = cancel
      return entry.isWanted
    }
    if isWanted { cancel() }
  }
}
