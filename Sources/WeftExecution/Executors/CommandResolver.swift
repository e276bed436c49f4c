import Synchronization
import WeftDefinition
import WeftPlanning
import WeftPlatform

/// Puts together what a step's program is started with: the layers of settings around it become one
/// command line, one environment, one directory.
///
/// Environments are laid out once for each group and shared by its steps. The layers, from the outermost:
/// the engine's own environment, the workflow's `env`, each group's, the step's, and the variables by
/// which a program can tell where it runs: `WEFT_RUN_ID WEFT_STEP WEFT_ATTEMPT`.
final class CommandResolver: Sendable {
  private let plan: Plan
  private let startDirectory: String?
  private let outermost: EnvironmentBlock
  private let environments = Mutex<[Int: EnvironmentBlock]>([:])

  init(plan: Plan, startDirectory: String?, inheriting outermost: EnvironmentBlock) {
    self.plan = plan
    self.startDirectory = startDirectory
    self.outermost = outermost
  }

  /// The program of an attempt, without its input.
  func program(for attempt: Attempt) throws(EnvironmentProblem) -> ChildProgram {
    let settings = attempt.step.step.settings
    var variables = settings.environment.map { (name: $0.key, value: $0.value) }
    variables += [
      ("WEFT_RUN_ID", attempt.run.text), ("WEFT_STEP", attempt.step.address.text),
      ("WEFT_ATTEMPT", String(attempt.number)),
    ]
    let environment = try environment(ofGroup: attempt.step.group).setting(variables)
    var program = ChildProgram(
      plan.arguments(of: attempt.step), environment: environment,
      directory: directory(of: attempt.step))
    program.timeout = attempt.step.step.timeout
    return program
  }

  /// The step's working directory; `nil` where the process stands.
  func directory(of step: PlannedStep) -> String? {
    guard let written = plan.workingDirectory(of: step) else { return startDirectory }
    guard let startDirectory, !written.hasPrefix("/") else { return written }
    return startDirectory + "/" + written
  }

  private func environment(ofGroup group: Int) throws(EnvironmentProblem) -> EnvironmentBlock {
    if let known = environments.withLock({ $0[group] }) { return known }
    let planned = plan.groups[group]
    let outer: EnvironmentBlock =
      if let parent = planned.parent { try environment(ofGroup: parent) } else { outermost }
    let settings = planned.step?.settings ?? plan.workflow.settings
    let variables = settings.environment.map { (name: $0.key, value: $0.value) }
    let environment = variables.isEmpty ? outer : try outer.setting(variables).flattened()
    environments.withLock { $0[group] = environment }
    return environment
  }
}
