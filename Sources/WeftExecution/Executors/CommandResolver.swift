import Synchronization
import WeftDefinition
import WeftEvents
import WeftPlanning
import WeftPlatform

/// Combines the layers of settings around a step into the command line, environment and directory of its
/// program.
///
/// Environments are built once for each group and shared by its steps. The layers, from the outermost: the
/// engine's own environment, filtered by the step's `envPolicy` and without the sources of secrets; the `env`
/// of the workflow, of each group and of the step; and the variables that identify the attempt:
/// `WEFT_RUN_ID WEFT_STEP WEFT_ATTEMPT`, and `WEFT_ENGINE`, by which other processes can check whether the
/// engine is still alive. They also serve to find processes again.
final class CommandResolver: Sendable {
  private typealias Variables = [(name: String, value: String?)]

  private let plan: Plan
  private let run: RunID
  private let engine: String
  private let startDirectory: String?
  private let runDirectory: String?
  private let outermost: EnvironmentBlock
  private let environments = Mutex<[SharedLayers: EnvironmentBlock]>([:])

  /// The layers that several steps share.
  private struct SharedLayers: Hashable {
    let group: Int
    /// The steps' own policy, whatever the group's is.
    let policy: EnvironmentPolicy
  }

  init(
    plan: Plan, run: RunID, cookie: EngineCookie, runDirectory: String? = nil,
    startDirectory: String?,
    inheriting outermost: EnvironmentBlock
  ) {
    self.plan = plan
    self.run = run
    self.runDirectory = runDirectory
    engine = RunCookie.thisEngine(cookie)
    self.startDirectory = startDirectory
    self.outermost = outermost.hiding(plan.declaredSecrets)
  }

  /// The program of an attempt, without its input.
  func program(for attempt: Attempt) throws(EnvironmentError) -> ChildProgram {
    let resolved = attempt.resolved
    var program = ChildProgram(
      attempt.command.arguments(shell: plan.shell(of: attempt.step)),
      environment: try environment(of: resolved, for: attempt.task),
      directory: directory(of: resolved))
    program.timeout = resolved.timeout
    return program
  }

  /// The step's working directory; `nil` for the current directory of the process.
  func directory(of step: ResolvedStep) -> String? {
    guard let written = step.workingDirectory else { return startDirectory }
    guard let startDirectory, !written.hasPrefix("/") else { return written }
    return startDirectory + "/" + written
  }

  /// The environment of the step's next attempt.
  func environment(
    of resolved: ResolvedStep, for task: StepTask
  ) throws(EnvironmentError) -> EnvironmentBlock {
    let shared = try environment(
      of: SharedLayers(
        group: task.step.group, policy: plan.environmentPolicy(of: task.step)),
      resolved.groupEnvironments,
      isShared: task.instance.parent == nil || resolved.groupEnvironments.isEmpty)
    let own = resolved.environment
    var step: Variables = [
      (RunCookie.step, task.address.text),
      (RunCookie.idempotencyKey, IdempotencyKey.text(of: task.address.text, inRun: run.text)),
    ]
    for (name, value) in resolved.handedOver { step.append((name, value)) }
    // The variables that most steps share are in the shared layers already.
    if own.isEmpty, task.attempt == 1 { return try shared.setting(step) }
    return try shared.setting(
      own.map { ($0.key, $0.value) } + whereabouts(inAttempt: task.attempt) + step)
  }

  /// The environment that the steps of a group share.
  ///
  /// - Parameter resolved: The variables that groups set by expressions. They are the same for all steps
  ///   inside, because everything they read had ended before the first of these steps began.
  /// - Parameter isShared: Whether it is the same for all steps of the group, not only for those of one element
  ///   or one attempt.
  private func environment(
    of layers: SharedLayers, _ resolved: [Int: [String: String?]], isShared: Bool
  ) throws(EnvironmentError) -> EnvironmentBlock {
    if isShared, let known = environments.withLock({ $0[layers] }) { return known }
    let parent = plan.layer(around: layers.group)
    let outer: EnvironmentBlock =
      if let parent {
        try environment(
          of: SharedLayers(group: parent, policy: layers.policy), resolved, isShared: isShared)
      } else {
        outermost.restricted(by: layers.policy)
      }
    let own = resolved[layers.group] ?? plan.settings(ofGroup: layers.group).environment
    let environment =
      own.isEmpty && parent != nil
      ? outer
      : try outer.setting(own.map { ($0.key, $0.value) } + whereabouts(inAttempt: 1)).flattened()
    if isShared { environments.withLock { $0[layers] = environment } }
    return environment
  }

  /// The variables that identify the run; set after those of a file, so that no file can override them.
  private func whereabouts(inAttempt number: Int) -> Variables {
    [
      (RunCookie.run, run.text), (RunCookie.attempt, String(number)),
      (RunCookie.engine, engine),
      // Removed rather than inherited from an enclosing run.
      (RunCookie.directory, runDirectory),
    ]
  }

  /// Entries that are in the environments of all programs of this engine, and of no others.
  var cookie: [String] { ["\(RunCookie.run)=\(run.text)", "\(RunCookie.engine)=\(engine)"] }

  /// Entries that are in the environments of all programs of an attempt.
  func cookie(of step: StepAddress, attempt number: Int) -> [String] {
    cookie + [
      "\(RunCookie.step)=\(step.text)", "\(RunCookie.attempt)=\(number)",
    ]
  }
}
