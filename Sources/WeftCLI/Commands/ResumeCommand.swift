import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftLoading
import WeftPlanning
import WeftPlatform
import WeftRecord

/// `weft resume`: goes on with a run where its record ends.
///
/// In the order in which it happens: the run is found and its lock taken, its record read, the file read and
/// compared with the one that the run began with, what still runs of it ended; then it runs like any other.
struct ResumeCommand {
  private let invocation: ResumeInvocation
  private let console: Console

  init(_ invocation: ResumeInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      let folder = try held()
      let contents = try record(of: folder)
      if let end = contents.run.end, end.outcome == .success, invocation.asksForNothingAgain {
        console.errors.write("weft: run \(folder.run) has succeeded: nothing is left to be done\n")
        return .success
      }
      return try resume(folder, contents)
    } catch {
      if !error.diagnostics.isEmpty { console.errors.write(error.diagnostics) }
      if let complaint = error.complaint { console.complain(complaint) }
      return error.code
    }
  }

  /// Why nothing has been started.
  struct Refusal: Error {
    let code: ExitCode
    var complaint: Complaint?
    var diagnostics: [Diagnostic] = []

    init(_ code: ExitCode, _ message: String, help: String? = nil) {
      self.code = code
      complaint = Complaint(message, help: help)
    }

    init(_ code: ExitCode, _ diagnostics: [Diagnostic]) {
      self.code = code
      self.diagnostics = diagnostics
    }
  }

  // MARK: The record

  /// The run's folder, with its lock.
  private func held() throws(Refusal) -> RunFolder {
    let place = invocation.settings.recordDirectory
    do throws(RunFolderFault) {
      let state = try StateDirectory(place, makes: false)
      guard let run = try chosen(from: state.ids, in: place) else {
        throw .unknown(RunID(invocation.run ?? ""), in: place)
      }
      return try RunFolder.open(run, in: state)
    } catch {
      throw refusal(error)
    }
  }

  private func chosen(from runs: [RunID], in place: String) throws(RunFolderFault) -> RunID? {
    guard let wanted = invocation.run else { return runs.last }
    let matches = runs.filter { $0.text.hasPrefix(wanted) }
    return matches.count == 1 || matches.first?.text == wanted ? matches.first : nil
  }

  private func refusal(_ fault: RunFolderFault) -> Refusal {
    switch fault {
    case .unknown(_, let place):
      guard let wanted = invocation.run else {
        return Refusal(
          .usage, "no run is recorded in \"\(place)\"",
          help: "--state-dir DIR names where the records are")
      }
      return Refusal(
        .usage, "\"\(wanted)\" is not the beginning of exactly one run in \"\(place)\"",
        help: "the ids of runs are the names of the folders in \"\(place)/runs\"")
    case .place(let place) where place.error == .notFound:
      return Refusal(
        .usage, "no run is recorded in \"\(invocation.settings.recordDirectory)\"",
        help: "--state-dir DIR names where the records are")
    default: return Refusal(.broken, fault.message, help: fault.help)
    }
  }

  private func record(of folder: RunFolder) throws(Refusal) -> JournalContents {
    let contents: JournalContents
    do { contents = try folder.contents() } catch { throw refusal(error) }
    if let damage = contents.damage, !invocation.salvages || damage.isNewerFormat {
      throw refusal(.damaged(damage))
    }
    return contents
  }

  private func tellWhatWasPutAside(_ folder: RunFolder, _ contents: JournalContents) {
    guard contents.tornBytes > 0 else { return }
    let what = contents.damage == nil ? "were torn" : "follow a damaged place"
    console.errors.write(
      "weft: warning: the last \(contents.tornBytes) bytes of the record \(what), and are kept in "
        + "\"\(folder.directory.path)/\(RunFolder.tornName)\"\n")
  }

  // MARK: The file

  private func resume(
    _ folder: RunFolder, _ contents: JournalContents
  ) throws(Refusal) -> ExitCode {
    guard let opening = contents.run.lastOpening else {
      throw Refusal(.broken, "the record of run \(folder.run) is empty")
    }
    if let directory = opening.directory, let complaint = WorkingDirectory.change(to: directory) {
      throw Refusal(.usage, complaint.message, help: complaint.help)
    }
    let source = try ResumedFile(folder, opening)
    let (plan, changes) = try source.plan(acceptingChanges: invocation.acceptsChanges)
    for line in changes.told { console.errors.write("weft: \(line)\n") }
    let inputs: InputValues
    do {
      inputs = try InputCollection.values(
        invocation.settings.inputs, for: plan.workflow.inputs, recorded: opening.inputs)
    } catch {
      throw Refusal(.usage, error.diagnostics)
    }
    let (bound, problems) = plan.bound(to: inputs, run: folder.run)
    guard problems.isEmpty else { throw Refusal(.usage, problems) }
    let anew = try stepsAnew(in: bound, changes, contents.run)
    let leftOut = bound.steps.indices.filter { opening.leftOut.contains(bound.steps[$0].address) }
    try endSurvivors(of: folder.run)
    let secrets = SecretReader(bound.usedSecrets)
    do {
      let session = try RunSession(
        bound, folder.run, invocation.settings, inputs, Selection(leavingOut: leftOut, of: bound),
        console, secrets, after: (contents.run, anew))
      return try session.follow { () throws(Complaint) in
        let recording = try RunRecording.append(
          to: folder, after: contents, bound, inputs, leavingOut: leftOut, invocation)
        tellWhatWasPutAside(folder, contents)
        return recording
      }
    } catch {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  /// What is to be done again: what has changed, what was named, and what depends on it.
  private func stepsAnew(
    in plan: Plan, _ changes: FileChanges, _ past: RecordedRun
  ) throws(Refusal) -> StepsAnew {
    var anew = StepsAnew()
    do throws(StepChoice.UnknownStep) {
      anew.steps.formUnion(try plan.steps(from: changes.changed.map(\.text) + invocation.from))
      for name in invocation.rerun {
        let inside = past.steps.keys.filter { $0.isInside(name) }
        if name.contains("["), !inside.isEmpty {
          anew.addresses.formUnion(inside)
        } else {
          anew.steps.formUnion(try plan.stepsLeftOut(by: StepChoice(skip: [name])))
        }
      }
      return anew
    } catch {
      throw Refusal(.usage, error.complaint.message, help: error.complaint.help)
    }
  }

  // MARK: Survivors

  /// What steps of a killed engine have left running is ended before anything starts again.
  private func endSurvivors(of run: RunID) throws(Refusal) {
    defer { RunSearch.clear() }
    let search = RunSearch(membership: RunCookie.membership)
    guard search.runs()[run.text]?.processes.isEmpty == false else { return }
    let ending = StraysEnding(policy: StopPolicy(), stop: StopSwitch()) {
      search.runs()[run.text]?.processes ?? []
    }
    let end = ending.end()
    func names(_ processes: [ProcessRecord]) -> String {
      processes.map { "\($0.id) (\(TerminalText.harmless($0.command)))" }.joined(separator: ", ")
    }
    if !end.ended.isEmpty {
      console.errors.write("weft: ended what was still running: \(names(end.ended))\n")
    }
    guard !end.survivors.isEmpty else { return }
    throw Refusal(
      .broken, "run \(run) cannot be gone on with while \(names(end.survivors)) is alive",
      help: "they may be another user's, or wait for a device")
  }
}

extension ResumeInvocation {
  fileprivate var asksForNothingAgain: Bool { rerun.isEmpty && from.isEmpty && !acceptsChanges }
}

extension StepAddress {
  /// Whether it is what a name names, or in it.
  fileprivate func isInside(_ name: String) -> Bool {
    guard text.hasPrefix(name) else { return false }
    let next = text.dropFirst(name.count).first
    return next == nil || next == "." || next == "[" || next == "/"
  }
}

extension Plan {
  /// These steps and groups, and what depends on them.
  fileprivate func steps(from names: [String]) throws(StepChoice.UnknownStep) -> [Int] {
    guard !names.isEmpty else { return [] }
    let others = Set(try stepsLeftOut(by: StepChoice(from: names)))
    return steps.indices.filter { !others.contains($0) }
  }
}
