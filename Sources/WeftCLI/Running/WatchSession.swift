import Weft
import WeftEvents
import WeftExecution
import WeftPlatform

/// The options of `weft run --watch`.
struct WatchSettings: Sendable {
  /// Files and directories that count besides those of the workflow.
  let paths: [String]
  let onChange: WatchTrigger.OnChange
  /// Files that Weft itself writes.
  let written: [String]

  /// - Parameter written: The files that Weft itself writes.
  /// - Returns: `nil` without `--watch`.
  init?(
    _ parsed: ParsedArguments, _ inputs: InputOptions, besides written: [String]
  ) throws(UsageError) {
    guard parsed.isGiven(.watch) else {
      for option in [Option.watchPath, .onChange] where parsed.isGiven(option) {
        throw .dependent(option, on: .watch, .run)
      }
      return nil
    }
    if let reader = inputs.standardInputReaders(parsed).first {
      throw .standardInputWatched(reader, .run)
    }
    paths = parsed.values(of: .watchPath)
    onChange = try parsed.word(of: .onChange) ?? .restart
    self.written = written
  }
}

/// Runs of one workflow, one after another, each started by a change of what the one before has read.
final class WatchSession {
  let control: RunControl
  private let settings: WatchSettings
  private let file: String
  private let state: String
  private let console: Console
  private let watcher: FileWatcher
  /// The files of the latest run that was not rejected.
  private var scope: WatchScope
  private var reported: Set<String> = []
  /// Whether a run has started, and with it the file of `--events`.
  private(set) var hasRun = false

  /// - Parameters:
  ///   - file: The workflow.
  ///   - state: The state directory.
  init(
    _ settings: WatchSettings, of file: String, _ state: String, _ control: RunControl,
    _ console: Console
  ) throws(CommandFailure) {
    (self.settings, self.file, self.state) = (settings, file, state)
    (self.control, self.console) = (control, console)
    for path in settings.paths {
      do throws(SystemError) { _ = try FileSystem.resolved(path) } catch {
        throw CommandFailure(.usage, "cannot watch \"\(path)\": \(error)")
      }
    }
    do throws(SystemError) {
      scope = try WatchSession.scope(
        from: FileSystem.currentDirectory(), state, besides: settings.written)
      watcher = try FileWatcher(settings.onChange, stop: control.signals.stop)
    } catch {
      throw CommandFailure(unwatchable: error)
    }
    scope.add(file: file)
  }

  /// Runs until a signal ends it.
  ///
  /// - Parameter run: Runs the workflow once.
  /// - Throws: If nothing can be run, and no change of a file would help.
  func follow(_ run: () throws(CommandFailure) -> ExitCode) throws(CommandFailure) -> ExitCode {
    var isFirst = true
    while true {
      var code: ExitCode
      do { code = try run() } catch {
        if isFirst, error.code != .rejected, error.code != .failure { throw error }
        code = console.refuse(error)
      }
      isFirst = false
      control.signals.detach()
      let written = watcher.end()
      if let signal = control.signals.first { return .signal(signal.rawValue) }
      // The reader of the output has gone away.
      if console.output.isClosed || console.errors.isClosed { return code }
      report(written: written)
      guard let changes = try next(after: code) else {
        return control.signals.first.map { .signal($0.rawValue) } ?? code
      }
      say(WatchSession.line(changes))
    }
  }

  private func next(after code: ExitCode) throws(CommandFailure) -> FileWatcher.Changes? {
    // A change may come when the run has ended already.
    let cancelling = code == .success ? nil : watcher.cancellingChanges
    say(
      cancelling.map {
        "the run was cancelled because \(WatchSession.names($0)) changed; waiting for changes to end; "
          + "^C ends this"
      } ?? "waiting for changes; ^C ends this")
    do throws(SystemError) { return try watcher.next() } catch {
      throw CommandFailure(unwatchable: error)
    }
  }

  /// Watches the files of the run that is about to start.
  ///
  /// - Parameter checked: The workflow as it was read.
  func begin(_ checked: CheckedFile) throws(CommandFailure) {
    if let plan = checked.plan {
      scope = WatchSession.scope(
        from: "/" + scope.start.joined(separator: "/"), state, besides: settings.written)
      scope.add(file: file)
      for source in plan.namedFiles { scope.add(file: source.path) }
      scope.add(plan)
      for path in settings.paths { scope.add(watched: path) }
    } else {
      // Besides those that counted before: one of them may have become unreadable.
      for place in checked.diagnostics.compactMap(\.place) { scope.add(file: place.file.path) }
    }
    let sources = checked.plan.map { $0.namedFiles + [$0.workflow.source.value].compactMap(\.self) }
    let problems: [String]
    do throws(SystemError) { problems = try watcher.begin(scope, sources: sources ?? []) } catch {
      throw CommandFailure(unwatchable: error)
    }
    for problem in problems where reported.insert(problem).inserted {
      say("warning: not everything is watched: \(TerminalText.harmless(problem))")
    }
    if checked.plan != nil, !scope.hasMore, reported.insert(file).inserted {
      say(
        "watching only the workflow: no step names files in \"cache.inputs\" or as \"script\"; "
          + "--watch-path PATH adds some")
    }
  }

  private static func scope(
    from start: String, _ state: String, besides written: [String]
  ) -> WatchScope {
    var scope = WatchScope(start: start, state: state)
    for path in written { scope.exclude(path) }
    return scope
  }

  /// Learns which files the run's cached steps read and make.
  var cachedFiles: @Sendable (CachedFiles) -> Void { { [watcher] in watcher.learn($0) } }

  /// Directs changes to the wait before a run, for a `concurrency` key: the run then does not begin.
  func attach(waiting stop: StopSwitch) { watcher.attach { stop.request(.graceful) } }

  /// Whether changes have cancelled the latest run, or the wait before it.
  var hasCancelledRun: Bool { watcher.cancellingChanges != nil }

  /// Directs changes to a run.
  func attach(_ run: RunEngine) {
    hasRun = true
    watcher.attach { run.cancel(.filesChanged) }
  }

  // MARK: Lines

  private func report(written: [String]) {
    guard !written.isEmpty else { return }
    say(
      "\(WatchSession.names(written)) changed in each of the last \(WatchTrigger.limit) runs: changes "
        + "during runs no longer count; list what steps write in \"cache.outputs\"")
  }

  private static func line(_ changes: [String]) -> String {
    changes.isEmpty
      ? "the change was undone; running again" : "\(names(changes)) changed; running again"
  }

  private static let shownNames = 3

  static func names(_ paths: [String]) -> String {
    let shown = paths.prefix(shownNames).map { TerminalText.harmless($0) }.joined(separator: ", ")
    let more = paths.count - shownNames
    return more > 0 ? "\(shown) and \(more) more" : shown
  }

  private func say(_ text: String) {
    console.output.flush()
    console.errors.write("weft: \(text)\n")
    console.errors.flush()
  }
}

extension CommandFailure {
  fileprivate init(unwatchable error: SystemError) {
    switch error {
    case .noSpace:
      self.init(
        .broken, "cannot watch all directories: you may watch no more",
        help: "raise the limit: sudo sysctl fs.inotify.max_user_watches=1048576; or watch less: "
          + "what .gitignore excludes is not watched")
    case .outOfDescriptors:
      self.init(
        .broken, "cannot watch files: too many programs of yours do",
        help: "raise the limit: sudo sysctl fs.inotify.max_user_instances=1024")
    default: self.init(.broken, "cannot watch files: \(error)")
    }
  }
}
