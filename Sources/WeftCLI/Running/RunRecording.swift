import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// The recording of one run, from before its first step to after its last.
struct RunRecording {
  private let folder: RunFolder
  let journal: JournalWriter
  /// The cookie in the journal.
  let cookie: EngineCookie?

  /// Creates the folder of a new run.
  ///
  /// - Returns: `nil` if nothing is to be recorded.
  /// - Throws: If it cannot be created; nothing has started then.
  static func make(
    _ plan: Plan, _ id: RunID, _ invocation: RunInvocation, _ inputs: InputValues,
    leavingOut leftOut: [Int], hiding secrets: RunSecrets
  ) throws(CommandError) -> RunRecording? {
    guard let durability = invocation.recording.durability else { return nil }
    do {
      let state = try StateDirectory(invocation.recordDirectory, makes: true)
      let made = RunFolder.Contents(
        of: plan, id, inputs, leavingOut: leftOut, hiding: secrets)
      let (folder, journal) = try RunFolder.make(
        made, in: state, durability: durability,
        startedAt: WallTime(nanoseconds: WallClock.now.nanoseconds))
      return RunRecording(folder: folder, journal: journal, cookie: made.opening.cookie)
    } catch {
      throw CommandError(
        "the record of the run cannot be begun: \(error.message)",
        help: error.help ?? "--record none runs without one, --state-dir DIR keeps it elsewhere")
    }
  }

  /// Resumes the journal of a run whose folder is held.
  ///
  /// - Throws: If it cannot be resumed; no step has started then.
  static func append(
    to folder: RunFolder, after contents: JournalContents, _ plan: Plan, _ inputs: InputValues,
    leavingOut leftOut: [Int], rerunning rerun: RerunSelection, _ invocation: ResumeInvocation,
    hiding secrets: RunSecrets
  ) throws(CommandError) -> RunRecording {
    let made = RunFolder.Contents(
      of: plan, folder.run, inputs, leavingOut: leftOut, rerunning: rerun, hiding: secrets)
    var opening = made.opening
    opening.resumption = contents.run.resumptions + 1
    do {
      let journal = try folder.append(
        after: contents, opening,
        durability: invocation.settings.recording.durability ?? .process,
        startedAt: WallTime(nanoseconds: WallClock.now.nanoseconds),
        salvaging: invocation.salvages)
      try folder.replaceFiles(by: made)
      return RunRecording(folder: folder, journal: journal, cookie: opening.cookie)
    } catch {
      throw CommandError(
        "the record of run \(folder.run) cannot be gone on with: \(error.message)", help: error.help
      )
    }
  }

  /// The absolute path of the run's folder.
  var directory: String { folder.path }

  /// The control requests for the run.
  var control: ControlFolder? { folder.control }

  /// The log folder of the run.
  var logs: LogFolder? { folder.logs }

  /// Closes the journal of the ended run, and writes its report.
  ///
  /// - Returns: The error if that failed.
  func end(_ report: RunReport) -> CommandError? {
    journal.close()
    if let fault = journal.fault { return CommandError(fault.message, help: fault.help) }
    // A suspended run has no end to report yet.
    guard report.end != nil else { return nil }
    do {
      try folder.write(report)
      return nil
    } catch {
      return CommandError("the report of the run cannot be written: \(error.message)")
    }
  }
}

extension RecordingChoice {
  fileprivate var durability: RecordDurability? {
    switch self {
    case .none: nil
    case .process: .process
    case .power: .power
    }
  }
}
