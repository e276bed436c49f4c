import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// `weft graph`: prints the plan.
struct GraphCommand {
  private let invocation: GraphInvocation
  private let console: Console

  init(_ invocation: GraphInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let file = CheckedFile(path: invocation.file, below: invocation.directory)
    Kept.untilExit(file)
    console.errors.write(file.diagnostics)
    guard let plan = file.plan else { return file.exitCode(isStrict: false) }
    do {
      let inputs = try InputCollection.values(
        invocation.inputs, for: plan.workflow.inputs, allowsMissing: true)
      let (bound, problems) = plan.bound(to: inputs, run: nil)
      guard problems.isEmpty else {
        console.errors.write(problems)
        return .usage
      }
      return write(bound, inputs)
    } catch {
      console.errors.write(error.diagnostics)
      return .usage
    }
  }

  private func write(_ plan: Plan, _ inputs: InputValues) -> ExitCode {
    do throws(StepChoice.UnknownStep) {
      let leftOut = try plan.stepsLeftOut(by: invocation.choice)
      let place = RecordPlace.path(invocation.stateDirectory)
      let expected = CachePrediction.expecting(plan.leavingOut(leftOut), inputs, state: place)
      console.output.write(EarlierRuns(in: place).expected(expected), as: invocation.format)
      return .success
    } catch {
      console.complain(error.complaint)
      return .usage
    }
  }
}
