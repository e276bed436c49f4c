import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform
import WeftRecord

/// `weft run`: checks the file, runs it, displays it, and reports how it ended.
struct RunCommand {
  private let invocation: RunInvocation
  private let console: Console

  init(_ invocation: RunInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let file = CheckedFile(path: invocation.file, below: invocation.directory)
    console.errors.write(file.diagnostics)
    guard let plan = file.plan else { return file.exitCode(isStrict: invocation.isStrict) }
    if invocation.isStrict, file.hasWarnings {
      console.complain(CommandError("nothing was started: --strict wants a file without warnings"))
      return .failure
    }
    let inputs: InputValues
    do {
      inputs = try InputCollection.values(
        invocation.inputs, for: plan.workflow.inputs, allowsMissing: invocation.isDryRun)
    } catch {
      console.errors.write(error.diagnostics)
      return .usage
    }
    let id = invocation.isDryRun ? nil : RunID.make(at: WallClock.now)
    let directory = id.flatMap { id in
      invocation.recording == .none
        ? nil : StateDirectory.folderPath(of: id, in: invocation.recordDirectory)
    }
    let (bound, problems) = plan.bound(to: inputs, run: id, in: directory)
    guard problems.isEmpty else {
      console.errors.write(problems)
      return .usage
    }
    do throws(StepChoice.UnknownStep) {
      let leftOut = try bound.stepsLeftOut(by: invocation.choice)
      guard let id else {
        let expected = CachePrediction.expecting(
          bound.leavingOut(leftOut), inputs, state: invocation.recordDirectory)
        console.output.write(EarlierRuns(invocation).expected(expected), as: .tree)
        return .success
      }
      return run(bound, id, inputs, leavingOut: leftOut)
    } catch {
      console.complain(error.complaint)
      return .usage
    }
  }

  private func run(
    _ plan: Plan, _ id: RunID, _ inputs: InputValues, leavingOut leftOut: [Int]
  ) -> ExitCode {
    // Shows warnings before the steps' output.
    console.errors.flush()
    // Created before anything else is opened, so that descriptors of secrets cannot be mistaken for others.
    let secrets = SecretReader(plan.usedSecrets)
    do {
      let session = try RunSession(
        plan.leavingOut(leftOut), id, invocation, inputs,
        Selection(leavingOut: leftOut, of: plan), console, secrets,
        learningFrom: EarlierRuns(invocation))
      let code = try session.follow { secrets throws(CommandError) in
        try RunRecording.make(
          plan, id, invocation, inputs, leavingOut: leftOut, hiding: secrets)
      }
      if invocation.recording != .none { RunCleaning(invocation).clean(after: id, console) }
      return code
    } catch {
      console.complain(error)
      return .usage
    }
  }
}
