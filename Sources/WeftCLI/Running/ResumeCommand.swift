import Weft
import WeftDiagnostics
import WeftEncoding
import WeftEvents
import WeftPlatform

/// `weft resume`: resumes a run from its journal.
///
/// The order of events: the run is found and locked, its journal is read, the file is read and compared with the one
/// that the run began with, its orphans are terminated; then it runs like any other.
struct ResumeCommand: Subcommand {
  /// An ID or its beginning; `nil` for the latest run.
  private let run: String?
  private let settings: RunSettings
  private let inputs: InputOptions
  private let resuming: Engine.ResumeOptions
  /// Whether the recorded directory and file are used without checking their location.
  private let trustsRecord: Bool

  init(_ parsed: ParsedArguments) throws(UsageError) {
    run = parsed.operands.first
    settings = try RunSettings(parsed)
    inputs = try InputOptions(parsed)
    trustsRecord = parsed.isGiven(.trustRecord)
    var resuming = Engine.ResumeOptions()
    resuming.acceptsChangedFiles = parsed.isGiven(.acceptChanges)
    resuming.acceptedChanges = resuming.acceptsChangedFiles ? .all : .none
    resuming.salvages = parsed.isGiven(.salvage)
    resuming.rerunning = parsed.values(of: .rerun)
    resuming.interrupted =
      parsed.isGiven(.rerunInterrupted)
      ? .rerun : parsed.isGiven(.skipInterrupted) ? .skip : .fail
    resuming.from = parsed.values(of: .resumeFrom)
    self.resuming = resuming
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    if settings.durability == nil {
      throw CommandFailure(
        .usage, "resuming needs a journal: --record none is not allowed here",
        help: "\"weft run FILE --record none\" starts a new run without a journal")
    }
    let reports = try settings.reports.checked(isRecorded: true)
    let state = settings.place.path
    let run = try RecordedRuns(in: settings.place).chosen(run)
    let previous: PreviousRun
    do {
      previous = try PreviousRun(
        run, in: settings.store(in: state), salvaging: resuming.salvages)
    } catch {
      throw CommandFailure(error)
    }
    if previous.hasSucceeded, resuming.acceptedChanges == .none, resuming.isIdleAfterSuccess(nil) {
      try leave(previous, console)
      return reports.write(run, settings.place, console, after: .success)
    }
    let location = RecordedLocation(run, previous.opening, in: state)
    if !trustsRecord { try location.check() }
    let place = try change(to: location, state, console)
    let code = try resume(previous, in: place, console)
    return reports.write(run, settings.place, in: place, console, after: code)
  }

  /// Leaves a run that has succeeded as it is.
  private func leave(_ previous: PreviousRun, _ console: Console) throws(CommandFailure) {
    try writeMissingReport(of: previous, console)
    console.errors.write("weft: run \(previous.id) has succeeded: nothing left to do\n")
  }

  /// Writes the report of an ended run whose engine ended before it could.
  private func writeMissingReport(
    of previous: PreviousRun, _ console: Console
  ) throws(CommandFailure) {
    do {
      guard try previous.writeMissingReport() else { return }
    } catch {
      throw CommandFailure(
        .broken, "the report of run \(previous.id) cannot be written: \(error.message)",
        help: error.help)
    }
    console.errors.write(
      "weft: the report of run \(previous.id) was missing or damaged, and has been rewritten\n")
  }

  /// Changes to the directory of the run, and returns the path of the state directory from there.
  private func change(
    to location: RecordedLocation, _ state: String, _ console: Console
  ) throws(CommandFailure) -> String {
    guard let directory = try location.directory(),
      directory != (try? FileSystem.currentDirectory())
    else { return state }
    let absolute = StateDirectory.absolute(state)
    try Program.change(to: directory)
    if let old = location.oldDirectory, let new = try? FileSystem.currentDirectory() {
      console.errors.write(
        "weft: \(quoted(old)), where the run began, no longer exists; it continues in \(quoted(new))\n"
      )
    }
    return absolute
  }

  private func resume(
    _ previous: PreviousRun, in state: String, _ console: Console
  ) throws(CommandFailure) -> ExitCode {
    let (plan, changes) = try ResumedFile(previous).plan(resuming.acceptedChanges)
    if previous.hasSucceeded, resuming.isIdleAfterSuccess(changes) {
      try leave(previous, console)
      return .success
    }
    for line in changes?.lines ?? [] { console.errors.write("weft: \(line)\n") }
    try refuseRecordedInputs(previous.opening)
    let values = try inputs.values(for: plan.workflow, recorded: previous.opening.inputs)
    let telemetry = RunTelemetry(settings.collector, console)
    let engine = Engine(options: settings.options(in: state), tracer: telemetry.tracer)
    let prepared: PreparedRun
    do {
      prepared = try engine.prepare(
        plan, values, after: previous, changes, resuming, in: settings.store(in: state),
        notify: { report($0, of: previous.id, console) })
    } catch {
      throw CommandFailure(error, .resumed(previous.id))
    }
    return try RunSession(engine, prepared, settings, telemetry, console, isResumed: true).follow()
  }

  /// Rejects recorded inputs: completed steps have used their recorded values.
  private func refuseRecordedInputs(_ opening: RecordOpening) throws(CommandFailure) {
    let recorded = Set(opening.inputs.lazy.filter { $0.value != nil }.map(\.name))
    for argument in inputs.arguments where recorded.contains(argument.name) {
      throw CommandFailure(
        .usage, "input \"\(argument.name)\" is recorded with the run and cannot be changed",
        help: "only secret inputs are passed again; for other values start a new run")
    }
  }

  private func report(_ notice: PreviousRun.Notice, of run: RunID, _ console: Console) {
    switch notice {
    case .interrupted(let steps, let effect):
      let count = steps.count == 1 ? "1 step was" : "\(steps.count) steps were"
      let unknown =
        "\(count) interrupted, and how far \(steps.count == 1 ? "it" : "they") got is unknown"
      report(
        unknown, steps, effect,
        help: "check what they did, then: weft resume \(run) --rerun-interrupted", console)
    case .valuesNotRecorded(let steps, let effect):
      report(
        "\(Count(steps.count, "step")) succeeded, but values that others read are not recorded",
        steps, effect, help: "to run them again: weft resume \(run) --rerun-interrupted", console)
    case .changedFiles(let changes):
      for change in changes { console.errors.write("weft: warning: \(change.message)\n") }
    case .waitsForOrphans(let processes):
      console.errors.write(
        "weft: waiting for processes of the killed weft to end: "
          + "\(OrphanedProcesses.names(processes))\n")
      console.errors.flush()
    case .orphansTerminated(let processes):
      console.errors.write(
        "weft: ended processes that were still running: \(OrphanedProcesses.names(processes))\n")
    }
  }
}

extension ResumeCommand {
  /// Reports steps in doubt, and what becomes of them.
  private func report(
    _ doubt: String, _ steps: [StepAddress], _ effect: Engine.ResumeOptions.Interrupted,
    help: String, _ console: Console
  ) {
    let names = steps.map { "  \(TerminalText.harmless($0.text))\n" }.joined()
    let text =
      switch effect {
      case .rerun: "\(doubt); running again:\n\(names)"
      case .skip: "\(doubt); counted as done:\n\(names)"
      case .fail: "warning: \(doubt):\n\(names)   = help: \(help)\n"
      }
    console.errors.write("weft: \(text)")
  }
}

/// The workflow file of a resumed run, as it is now.
private struct ResumedFile {
  private let previous: PreviousRun
  /// The recorded content; `nil` if it was not recorded.
  private let recorded: [UInt8]?

  /// - Throws: If the recorded file does not match the journal.
  init(_ previous: PreviousRun) throws(CommandFailure) {
    self.previous = previous
    do { recorded = try previous.recordedFile() } catch { throw CommandFailure(error) }
  }

  /// - Returns: The plan for resuming, and the changes since the run began.
  func plan(_ accepted: AcceptedChanges) throws(CommandFailure) -> (Plan, WorkflowChanges?) {
    guard let path = previous.opening.file, let recorded else {
      throw CommandFailure(
        .usage, "the workflow of run \(previous.id) was not read from a file",
        help: "only the program that started it can resume it")
    }
    // A workflow from standard input exists only in the run's folder.
    guard path != "<stdin>" else {
      return (try plan(of: SourceFile(path: path, bytes: recorded), at: nil), nil)
    }
    let bytes: [UInt8]
    do { bytes = try FileReading.bytes(of: path, limit: WorkflowLimits.fileBytes) } catch {
      throw CommandFailure(
        .usage, "\"\(path)\" \(error.message)",
        help: "run \(previous.id) was "
          + "started with this file")
    }
    var plan = try plan(of: SourceFile(path: path, bytes: bytes), at: path)
    let changes: WorkflowChanges?
    do { (plan, changes) = try previous.compare(with: plan) } catch { throw CommandFailure(error) }
    if let changes, accepted == .none {
      throw CommandFailure(
        .rejected,
        "the workflow has changed since run \(previous.id) began: "
          + (changes.lines.isEmpty ? "\"\(path)\"" : "\(changes)"),
        help: changes.startsSteps || !changes.removed.isEmpty
          ? "use --accept-changes to continue with the current workflow and rerun changed steps"
          : "use --accept-changes to continue with the current workflow; nothing that is done runs again"
      )
    }
    return (plan, changes)
  }

  private func plan(of file: SourceFile, at path: String?) throws(CommandFailure) -> Plan {
    let configuration = UserConfiguration.read()
    let checked = CheckedWorkflow(file, at: path, runners: configuration.runners)
    guard let plan = checked.plan, !configuration.isRejected else {
      throw CommandFailure(.rejected, configuration.problems(with: checked.diagnostics))
    }
    return plan
  }
}

/// The directory and file that a journal names, unless the user has named them too.
///
/// The journal decides which file runs, and in which directory. A modified journal could run any program as the user
/// resuming it. The user therefore confirms with `--trust-record` everything that does not follow from the place
/// where the command is called.
struct RecordedLocation {
  private let run: RunID
  private let opening: RecordOpening
  private let stateDirectory: String

  init(_ run: RunID, _ opening: RecordOpening, in stateDirectory: String) {
    self.run = run
    self.opening = opening
    self.stateDirectory = stateDirectory
  }

  /// The directory in which the run continues; `nil` if none is recorded. If its own no longer exists, that is the
  /// directory that holds the state directory: the project has been moved, or is mounted elsewhere. A directory below
  /// that one has been removed instead.
  func directory() throws(CommandFailure) -> String? {
    guard let old = oldDirectory else { return opening.directory }
    guard let file = opening.file, !file.hasPrefix("/"), isInside(file),
      (try? FileStamp(at: "\(parent)/\(file)")) != nil,
      let present = try? FileSystem.resolved(parent), !old.hasPrefix("\(present)/")
    else {
      throw CommandFailure(
        .usage, "run \(run) began in \(quoted(old)), which no longer exists",
        help: "move it back, or start a new run")
    }
    return parent
  }

  /// The recorded directory if it no longer exists.
  var oldDirectory: String? {
    guard let directory = opening.directory else { return nil }
    do {
      _ = try FileStamp(at: directory)
      return nil
    } catch {
      return error == .notFound ? directory : nil
    }
  }

  private var parent: String { "\(stateDirectory)/.." }

  /// Rejects a directory other than the working directory and the parent of the state directory, and a file outside
  /// the directory.
  func check() throws(CommandFailure) {
    if let directory = opening.directory, oldDirectory == nil, !isPresent(directory) {
      throw CommandFailure(
        .usage,
        "the journal says that run \(run) began in \(quoted(directory)), "
          + "which is not this directory",
        help: "run weft resume there, or use --trust-record to resume it there from here")
    }
    guard let file = opening.file else { return }
    if file == "<stdin>" {
      throw CommandFailure(
        .usage,
        "the workflow of run \(run) came from standard input: only the journal says what it runs",
        help: "use --trust-record to run what the journal holds")
    }
    guard isInside(file) else {
      throw CommandFailure(
        .usage,
        "the journal says that run \(run) is of \(quoted(file)), which is "
          + "outside the run's directory",
        help: "use --trust-record to run that file")
    }
  }

  private func isPresent(_ directory: String) -> Bool {
    guard let recorded = try? FileStamp(at: directory) else { return false }
    return [".", parent].contains { path in
      guard let present = try? FileStamp(at: path) else { return false }
      return present.device == recorded.device && present.inode == recorded.inode
    }
  }

  private func isInside(_ file: String) -> Bool {
    guard file.hasPrefix("/") else { return Command.Caching.names(file, in: []) != nil }
    guard let directory = opening.directory else { return false }
    return file.hasPrefix(directory == "/" ? "/" : directory + "/") && !file.contains("/../")
  }
}
