import Synchronization
import WeftCaching
package import WeftDiagnostics
package import WeftExecution
import WeftExpressions
package import WeftPlatform

/// Watches the files of a ``WatchScope`` on a thread of its own, and says when a run has to end or to start.
///
/// The thread lives as long as the program.
package final class FileWatcher: Sendable {
  /// The files that differ from those that the latest run has read, in order.
  package typealias Changes = [String]

  private struct State {
    var trigger: WatchTrigger
    var scope: WatchScope?
    /// Counts the calls of `begin`, so that no comparison mixes two runs.
    var runs = 0
    /// The files as the latest run has read them.
    var read = FileSurvey()
    var isLost = false
    /// The changes that start the next run, until they are taken.
    var changes: Changes?
    var fault: SystemError?
    var cancel: (@Sendable () -> Void)?
    /// The files whose changes have cancelled the latest run; `nil` if none has.
    var cancelling: Changes?
  }

  private let directories: DirectoryWatch
  private let memory = FileMemory { WallClock.now.nanoseconds }
  private let stop: StopSwitch
  private let state: Mutex<State>
  private let wakeup = Wakeup()

  /// - Parameter stop: Ends the waits.
  /// - Throws: If the system cannot watch files.
  package init(_ onChange: WatchTrigger.OnChange, stop: StopSwitch) throws(SystemError) {
    directories = try DirectoryWatch()
    self.stop = stop
    state = Mutex(State(trigger: WatchTrigger(onChange)))
    try Thread.start(name: "weft-watch", stackBytes: 1 << 20) { [self] in
      while stop.level < .now { look() }
    }
  }

  // MARK: For the thread of the runs

  /// Notes the files as they are before a run starts.
  ///
  /// - Parameters:
  ///   - scope: The files of this run.
  ///   - sources: Files that were read already, and may have changed since.
  /// - Returns: The directories that cannot be read, each with the reason.
  package func begin(
    _ scope: WatchScope, sources: [SourceFile]
  ) throws(SystemError) -> [String] {
    var survey = try survey(scope)
    var isOutdated = false
    for source in sources {
      let path = scope.shown(scope.path(source.path))
      if survey.set(path, read: source.bytes) { isOutdated = true }
    }
    state.withLock { state in
      (state.scope, state.read) = (scope, survey)
      state.runs += 1
      state.changes = nil
      (state.cancel, state.cancelling) = (nil, nil)
      state.trigger.began()
      if isOutdated { state.trigger.noticed(at: MonotonicClock.now) }
    }
    directories.wake()
    return survey.problems
  }

  /// Directs a cancellation to the run, including one that came before.
  package func attach(_ cancel: @escaping @Sendable () -> Void) {
    let isDue = state.withLock { state in
      state.cancel = cancel
      return state.cancelling != nil
    }
    if isDue { cancel() }
  }

  /// The files whose changes have cancelled the latest run; `nil` if none has.
  package var cancellingChanges: Changes? { state.withLock { $0.cancelling } }

  /// Notes what an attempt of the run reads and makes.
  package func learn(_ files: CachedFiles) { state.withLock { $0.scope?.learn(files) } }

  /// Notes that the run has ended.
  ///
  /// - Returns: The files that count as written by runs from now on, because several in a row have changed them.
  package func end() -> [String] {
    let (before, scope) = state.withLock { state in
      let before = state.scope
      state.scope?.takeLearned()
      return (before, state.scope)
    }
    guard let before, let scope, let survey = try? survey(scope) else { return [] }
    var ignored = IgnoredFiles()
    // Files that only what was learned names, such as those that git ignores, were not read before the run.
    let unread = survey.contents.keys.filter { !before.includes(before.path($0), &ignored) }
    let new = state.withLock { state in
      state.cancel = nil
      state.read.keepOnly { scope.includes(scope.path($0), &ignored) }
      state.read.update(Set(unread), from: survey)
      let (written, new) = state.trigger.ended(
        survey.differences(from: state.read), at: MonotonicClock.now)
      state.read.update(written, from: survey)
      return new
    }
    directories.wake()
    return new.sorted()
  }

  /// Waits for changes that start the next run.
  ///
  /// - Returns: The changes, none if a cancelled run starts again without any; `nil` after a stop.
  /// - Throws: If a directory can no longer be watched.
  package func next() throws(SystemError) -> Changes? {
    stop.attach(wakeup)
    defer { stop.detach(wakeup) }
    while stop.level == .none {
      let (changes, fault) = state.withLock { state in
        defer { state.changes = nil }
        return (state.changes, state.fault)
      }
      if let fault { throw fault }
      if let changes { return changes }
      wakeup.wait()
    }
    return nil
  }

  // MARK: Looking

  /// Waits for changes once, and acts on them.
  private func look() {
    let due = state.withLock { $0.trigger.comparisonTime }
    let notices = directories.next(atMost: due.map { $0 - MonotonicClock.now })
    let now = MonotonicClock.now
    guard let scope = state.withLock({ $0.scope }) else { return }
    if counts(notices, in: scope) { state.withLock { $0.trigger.noticed(at: now) } }
    guard let due = state.withLock({ $0.trigger.comparisonTime }), due <= now else { return }
    if scope.isBeingCheckedOut, state.withLock({ $0.trigger.postpone(at: now) }) { return }
    compare(scope)
  }

  private func counts(_ notices: [DirectoryWatch.Notice], in scope: WatchScope) -> Bool {
    if notices.isEmpty { return false }
    var ignored = IgnoredFiles()
    let linkTargets = state.withLock { $0.read.linkTargets }
    return notices.contains { notice in
      guard case .changed(let directory, let name, let isDirectory) = notice else { return true }
      let path = scope.path(directory) + (name.isEmpty ? [] : [name])
      return isDirectory
        ? scope.concerns(path, &ignored)
        : linkTargets.contains(path) || scope.includes(path, &ignored)
    }
  }

  private func compare(_ scope: WatchScope) {
    let runs = state.withLock { $0.runs }
    let survey: FileSurvey
    do { survey = try self.survey(scope) } catch {
      state.withLock { $0.fault = error }
      return wakeup.wake()
    }
    var ignored = IgnoredFiles()
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      guard state.runs == runs else { return nil }
      // Attempts may have said since the survey what they read and make.
      let scope = state.scope ?? scope
      let changed = survey.differences(from: state.read).filter {
        scope.includes(scope.path($0), &ignored)
      }
      let isRead = { scope.includes(scope.path($0), &ignored, isCertain: true) }
      switch state.trigger.compared(changed, areRead: changed.filter { isRead($0) }) {
      case .nothing: return nil
      case .start:
        state.changes = changed.sorted()
        return nil
      case .cancel(let reasons):
        state.cancelling = reasons.sorted()
        return state.cancel
      }
    }
    cancel?()
    wakeup.wake()
  }

  /// Surveys of both threads exclude each other: each renews the set of watched directories.
  private let surveying = Mutex(())

  private func survey(_ scope: WatchScope) throws(SystemError) -> FileSurvey {
    try surveying.withLock { (_) throws(SystemError) in
      var survey = FileSurvey()
      try directories.renew { (watch) throws(SystemError) in
        survey = try FileSurvey(scope, memory, stop: stop, watch: watch)
      }
      return survey
    }
  }
}
