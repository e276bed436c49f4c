import Weft
import WeftCaching
import WeftPlatform

/// `weft graph`: prints the plan.
struct GraphCommand: Subcommand {
  private let file: FileOperand
  private let format: PlanFormat
  private let choice: StepChoice

  init(_ parsed: ParsedArguments) throws(UsageError) {
    format = try parsed.word(of: .graphFormat) ?? .tree
    file = try FileOperand(parsed)
    choice = parsed.choice
  }

  func execute(_ console: Console) throws(CommandFailure) -> ExitCode {
    console.output.write(try file.preview(console).plan(choosing: choice), as: format)
    return .success
  }
}

/// The plan of a run that is not started.
struct PlanPreview {
  /// The plan, with the values that are known before a run.
  let plan: Plan
  let inputs: InputValues
  /// The state directory.
  let state: String

  /// Returns the plan with its selection, predictions about cached steps, and durations of earlier runs.
  func plan(choosing choice: StepChoice) throws(CommandFailure) -> Plan {
    var plan = plan
    do { plan = plan.excluding(try plan.stepsExcluded(by: choice)) } catch {
      throw CommandFailure(error)
    }
    if plan.steps.contains(where: \.isCached), let forecaster = try? forecaster(of: plan) {
      plan = plan.expecting(cached: forecaster.forecasts)
    }
    guard let key = WorkflowKey(plan) else { return plan }
    return plan.expecting(FileRunStore(directory: state).history(of: key))
  }

  func forecaster(of plan: Plan) throws(SystemError) -> CacheForecaster {
    try CacheForecaster(
      plan, inputs, StepCache.existing(StepCache.path(in: state)), stateDirectory: state)
  }
}
