import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// The record of one run, from before its first step to after its last.
struct RunRecording {
  private let folder: RunFolder
  let journal: JournalWriter
  /// As the record has it.
  let cookie: EngineCookie?

  /// Makes the folder of a new run.
  ///
  /// - Returns: `nil` where nothing is to be recorded.
  /// - Throws: When it cannot be made; nothing has happened then.
  static func make(
    _ plan: Plan, _ id: RunID, _ invocation: RunInvocation, _ inputs: InputValues,
    leavingOut leftOut: [Int], hiding secrets: RunSecrets
  ) throws(Complaint) -> RunRecording? {
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
      throw Complaint(
        "the record of the run cannot be begun: \(error.message)",
        help: error.help ?? "--record none runs without one, --state-dir DIR keeps it elsewhere")
    }
  }

  /// Goes on with the record of a run whose folder is held.
  ///
  /// - Throws: When it cannot be gone on with; no step has been started then.
  static func append(
    to folder: RunFolder, after contents: JournalContents, _ plan: Plan, _ inputs: InputValues,
    leavingOut leftOut: [Int], rerunning rerun: StepsAnew, _ invocation: ResumeInvocation,
    hiding secrets: RunSecrets
  ) throws(Complaint) -> RunRecording {
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
      throw Complaint(
        "the record of run \(folder.run) cannot be gone on with: \(error.message)", help: error.help
      )
    }
  }

  /// The directory of the record, from the root.
  var directory: String { folder.path }

  /// Where others ask something of the run.
  var control: ControlFolder? { folder.control }

  /// What steps write goes here.
  var logs: LogFolder? { folder.logs }

  /// The run has ended: makes the record safe, and writes the report beside it.
  ///
  /// - Returns: Why that could not be done.
  func end(_ report: RunReport) -> Complaint? {
    journal.close()
    if let fault = journal.fault { return Complaint(fault.message, help: fault.help) }
    // Of a run that waits there is no end to report yet.
    guard report.end != nil else { return nil }
    do {
      try folder.write(report)
      return nil
    } catch {
      return Complaint("the report of the run cannot be written: \(error.message)")
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
