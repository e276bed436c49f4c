import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftLoading
import WeftPlanning
import WeftPlatform
import WeftRecord

/// `weft resume`: resumes a run from its journal.
///
/// The order of events: the run is found and locked, its journal is read, the file is read and compared with the one
/// that the run began with, its orphans are terminated; then it runs like any other.
struct ResumeCommand {
  private let invocation: ResumeInvocation
  private let console: Console

  init(_ invocation: ResumeInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    do throws(Refusal) {
      if invocation.settings.recording == .none {
        throw Refusal(
          .usage, "there is no going on without a record, so --record cannot be none",
          help: "\"weft run FILE --record none\" runs the workflow anew, without one")
      }
      let folder = try held()
      let contents = try record(of: folder)
      if let end = contents.run.end, end.outcome == .success, invocation.asksForNothingAgain {
        try writeMissingReport(folder, contents)
        console.errors.write("weft: run \(folder.run) has succeeded: nothing is left to be done\n")
        return .success
      }
      return try resume(folder, contents)
    } catch {
      return console.refuse(error)
    }
  }

  // MARK: The journal

  /// Returns the run's folder, locked.
  private func held() throws(Refusal) -> RunFolder {
    let runs = try RecordedRuns(in: invocation.settings.recordDirectory)
    let run = try runs.chosen(invocation.run)
    do { return try RunFolder.open(run, in: runs.state) } catch { throw Refusal(error) }
  }

  private func record(of folder: RunFolder) throws(Refusal) -> JournalContents {
    let contents: JournalContents
    do { contents = try folder.contents() } catch { throw Refusal(error) }
    if let damage = contents.damage, !invocation.salvages || damage.isOtherFormat {
      throw Refusal(.damaged(damage))
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

  /// Writes the report of an ended run whose engine ended before it could.
  private func writeMissingReport(
    _ folder: RunFolder, _ contents: JournalContents
  ) throws(Refusal) {
    do throws(RunFolderError) {
      let isWritten = try folder.writeMissingReport { () throws(RunFolderError) in
        let state = try StateDirectory(invocation.settings.recordDirectory, makes: false)
        guard let plan = RecordedPlan(folder.run, contents.run.lastOpening, in: state).plan else {
          throw .missing(RunFolder.workflowName, folder.run)
        }
        return plan
      }
      guard isWritten else { return }
    } catch {
      throw Refusal(
        .broken, "the report of run \(folder.run) cannot be written: \(error.message)",
        help: error.help)
    }
    console.errors.write(
      "weft: the report of run \(folder.run) was missing or damaged, and has been written\n")
  }

  // MARK: The file

  private func resume(
    _ folder: RunFolder, _ contents: JournalContents
  ) throws(Refusal) -> ExitCode {
    guard let opening = contents.run.lastOpening else {
      throw Refusal(
        .noBeginning(folder.run, journal: folder.journalPath, bytes: contents.tornBytes))
    }
    if !invocation.trustsRecord {
      try RecordedLocation(folder.run, opening, in: invocation.settings.recordDirectory).check()
    }
    // Created before changing to the run's directory, because its path may be relative.
    let earlierRuns = EarlierRuns(invocation.settings)
    if let directory = opening.directory, let complaint = WorkingDirectory.change(to: directory) {
      throw Refusal(.usage, complaint.message, help: complaint.help)
    }
    let source = try ResumedFile(folder, opening, first: contents.run.opening)
    let (plan, changes) = try source.plan(acceptingChanges: invocation.acceptsChanges)
    for line in changes.reported { console.errors.write("weft: \(line)\n") }
    try refuseRecordedInputs(opening)
    let inputs: InputValues
    do {
      inputs = try InputCollection.values(
        invocation.settings.inputs, for: plan.workflow.inputs, recorded: opening.inputs)
    } catch {
      throw Refusal(.usage, error.diagnostics)
    }
    let (bound, problems) = plan.bound(to: inputs, run: folder.run, in: folder.path)
    guard problems.isEmpty else { throw Refusal(.usage, problems) }
    var rerunning = try rerunSelection(in: bound, changes, contents.run)
    settleInterrupted(&rerunning, in: bound, contents.run)
    try lookAtFiles(OutputVerification(of: bound, past: contents.run, rerunning: rerunning))
    let leftOut = bound.steps.indices.filter { opening.leftOut.contains(bound.steps[$0].address) }
    try terminateOrphans(of: folder.run, contents.run)
    let secrets = SecretReader(bound.usedSecrets)
    do {
      let session = try RunSession(
        bound.leavingOut(leftOut), folder.run, invocation.settings, inputs,
        Selection(leavingOut: leftOut, of: bound), console, secrets, learningFrom: earlierRuns,
        after: (contents.run, rerunning))
      return try session.follow { secrets throws(CommandError) in
        let recording = try RunRecording.append(
          to: folder, after: contents, bound, inputs, leavingOut: leftOut, rerunning: rerunning,
          invocation, hiding: secrets)
        tellWhatWasPutAside(folder, contents)
        return recording
      }
    } catch {
      throw Refusal(.broken, error.message, help: error.help)
    }
  }

  /// Rejects recorded inputs: completed steps have used their recorded values.
  private func refuseRecordedInputs(_ opening: RecordOpening) throws(Refusal) {
    let recorded = Set(opening.inputs.lazy.filter { $0.value != nil }.map(\.name))
    for argument in invocation.settings.inputs.arguments where recorded.contains(argument.name) {
      throw Refusal(
        .usage, "input \"\(argument.name)\" is recorded with the run, and stays as it was",
        help: "only secret inputs are given again; \"weft run\" starts with others")
    }
  }

  /// Returns the steps to rerun: changed ones, named ones, and their dependents.
  private func rerunSelection(
    in plan: Plan, _ changes: FileChanges, _ past: RecordedRun
  ) throws(Refusal) -> RerunSelection {
    var rerunning = RerunSelection()
    do throws(StepChoice.UnknownStep) {
      rerunning.steps.formUnion(try plan.steps(from: changes.changed.map(\.text) + invocation.from))
      for name in invocation.rerun {
        let named = StepAddress(parsing: name)
        let inside = past.steps.keys.filter { step in named.map(step.isInside) ?? false }
        if named?.hasElement == true, !inside.isEmpty {
          rerunning.addresses.formUnion(inside)
        } else {
          rerunning.steps.formUnion(try plan.stepsLeftOut(by: StepChoice(skip: [name])))
        }
      }
      return rerunning
    } catch {
      throw Refusal(.usage, error.complaint.message, help: error.complaint.help)
    }
  }

  /// Handles steps that were running when an engine was killed and are not idempotent: lists them together, and
  /// reruns them or counts them as done if requested.
  private func settleInterrupted(
    _ rerunning: inout RerunSelection, in plan: Plan, _ past: RecordedRun
  ) {
    let steps = rerunning.interrupted(of: past, in: plan)
    guard !steps.isEmpty else { return }
    let names = steps.map { "  \(TerminalText.harmless($0.text))\n" }.joined()
    let count = steps.count == 1 ? "1 step was" : "\(steps.count) steps were"
    if invocation.rerunsInterrupted {
      rerunning.addresses.formUnion(steps)
      console.errors.write("weft: \(count) running when weft was killed; running again:\n\(names)")
    } else if invocation.skipsInterrupted {
      rerunning.accepted.formUnion(steps)
      console.errors.write(
        "weft: \(count) running when weft was killed; counted as done:\n\(names)")
    } else {
      console.errors.write(
        "weft: warning: \(count) running when weft was killed; how far they got is unknown:\n\(names)"
          + "   = help: check what they did, then: weft resume "
          + "\(past.opening.map { "\($0.run) " } ?? "")--rerun-interrupted\n")
    }
  }

  /// Checks the outputs of completed steps that other steps will use.
  private func lookAtFiles(_ files: OutputVerification) throws(Refusal) {
    let changes = files.changes(in: nil)
    guard !changes.isEmpty else { return }
    if invocation.acceptsChanges {
      for change in changes { console.errors.write("weft: warning: \(change.message)\n") }
      return
    }
    let more = changes.count > 10 ? "; and \(changes.count - 10) more" : ""
    let step = ShellWord.quoted(changes[0].step.text)
    throw Refusal(
      .rejected, changes.prefix(10).map(\.message).joined(separator: "; ") + more,
      help: "--rerun \(step) makes it again; --accept-changes goes on with what is there"
    )
  }

  // MARK: Orphans

  /// Terminates orphans of a killed engine before anything starts.
  private func terminateOrphans(of run: RunID, _ past: RecordedRun) throws(Refusal) {
    defer { RunSearch.clear() }
    let orphans = OrphanedProcesses(of: run, past: past)
    guard !orphans.processes.isEmpty else { return }
    let end = orphans.end()
    if !end.ended.isEmpty {
      console.errors.write(
        "weft: ended what was still running: \(OrphanedProcesses.names(end.ended))\n")
    }
    // A step must never run twice at the same time, so its processes must be gone.
    guard !end.orphans.isEmpty || !orphans.processes.isEmpty else { return }
    throw Refusal(
      .broken,
      "run \(run) cannot be gone on with while something of it is alive: "
        + OrphanedProcesses.names(end.orphans), help: OrphanedProcesses.help)
  }
}

extension ResumeInvocation {
  fileprivate var asksForNothingAgain: Bool {
    rerun.isEmpty && from.isEmpty && !acceptsChanges && !rerunsInterrupted
  }
}

extension Plan {
  /// Returns these steps and groups, and their dependents.
  fileprivate func steps(from names: [String]) throws(StepChoice.UnknownStep) -> [Int] {
    guard !names.isEmpty else { return [] }
    let others = Set(try stepsLeftOut(by: StepChoice(from: names)))
    return steps.indices.filter { !others.contains($0) }
  }
}
