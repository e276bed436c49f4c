import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExecution
import WeftPlanning
import WeftPlatform

/// `weft why`: whether a step would run, and what has changed since its most similar result.
struct WhyCommand {
  private let invocation: WhyInvocation
  private let console: Console

  init(_ invocation: WhyInvocation, _ console: Console) {
    self.invocation = invocation
    self.console = console
  }

  func execute() -> ExitCode {
    let file = CheckedFile(path: invocation.file, below: invocation.directory)
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
      return report(bound, inputs)
    } catch {
      console.errors.write(error.diagnostics)
      return .usage
    }
  }

  private func report(_ plan: Plan, _ inputs: InputValues) -> ExitCode {
    let known = Set(plan.steps.map(\.address))
    // The plan contains the steps of a loop only once.
    let named = StepAddress(parsing: invocation.step)?.planned(isKnown: known.contains)
    guard let step = plan.steps.first(where: { $0.address == named }) else {
      let nearest = NearestName(plan.steps.map(\.address.text)).nearest(to: invocation.step)
      console.complain(
        CommandError(
          "\"\(invocation.step)\" is not a step of this workflow",
          help: nearest.map { "did you mean \"\($0)\"?" }
            ?? "\"weft graph FILE\" shows how steps are called"))
      return .usage
    }
    guard step.isCached else {
      console.complain(
        CommandError(
          "step \"\(step.address)\" has no \"cache\", and is always run",
          help: "say what it reads and makes: \"cache\": { \"inputs\": […], \"outputs\": […] }"))
      return .usage
    }
    let forecaster: CacheForecaster
    do {
      forecaster = try CachePrediction.forecaster(
        for: plan, inputs, state: RecordPlace.path(invocation.stateDirectory))
    } catch {
      console.complain(CommandError("the directory cannot be looked at: \(error)"))
      return .broken
    }
    guard let forecast = forecaster.forecasts[step.node] else {
      console.output.write("\"\(step.address)\" would not be run: nothing asks for it\n")
      return .success
    }
    let text = WhyText(
      step: step.address, forecast: forecast, explanation: forecaster.explanations[step.node])
    for line in text.lines { console.output.write(TerminalText.harmless(line) + "\n") }
    return .success
  }
}
