import Synchronization
import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftExpressions
package import WeftPlanning
package import WeftPlatform

/// Combines the layers of settings around a step into the command line, environment and directory of its
/// program.
///
/// Environments are built once for each group and shared by its steps. The layers, from the outermost: the
/// engine's own environment, filtered by the step's `envPolicy` and without the sources of secrets; the env files and
/// then the `env` of the workflow, of each group and of the step; and the variables that identify the attempt:
/// `WEFT_RUN_ID WEFT_STEP WEFT_ATTEMPT WEFT_PROGRESS`, and `WEFT_ENGINE`, by which other processes can check whether the
/// engine is still alive. They also serve to find processes again. For a run with a trace, `TRACEPARENT` is last.
package final class CommandResolver: Sendable {
  private typealias Variables = [(name: String, value: String?)]

  private let plan: Plan
  private let run: RunID
  private let engine: String
  private let startDirectory: String?
  private let runDirectory: String?
  private let trace: RunTrace?
  private let outermost: EnvironmentBlock
  private let environments = Mutex<[SharedLayers: EnvironmentBlock]>([:])

  /// The layers that several steps share.
  private struct SharedLayers: Hashable {
    let group: Int
    /// The steps' own policy, whatever the group's is.
    let policy: EnvironmentPolicy
  }

  package init(
    plan: Plan, run: RunID, cookie: EngineCookie, runDirectory: String? = nil,
    startDirectory: String?,
    inheriting outermost: EnvironmentBlock, trace: RunTrace? = nil
  ) {
    self.plan = plan
    self.run = run
    self.runDirectory = runDirectory
    self.trace = trace
    engine = RunCookie.thisEngine(cookie)
    self.startDirectory = startDirectory
    self.outermost = outermost.hiding(plan.declaredSecrets)
  }

  /// The resolver for programs of this machine.
  convenience init(
    plan: Plan, run: RunID, cookie: EngineCookie, configuration: EngineConfiguration
  ) {
    self.init(
      plan: plan, run: run, cookie: cookie, runDirectory: configuration.journal.runDirectory,
      startDirectory: configuration.startDirectory,
      inheriting: configuration.environment ?? .inheritedWithoutJobs(),
      trace: configuration.trace)
  }

  /// The program of an attempt, without its input.
  ///
  /// - Parameter progress: The path of the file in which it may report its progress.
  package func program(
    for attempt: Attempt, progress: String? = nil
  ) throws(EnvironmentError) -> ChildProgram {
    let resolved = attempt.resolved
    var environment = try environment(of: resolved, for: attempt.task, progress: progress)
    // Only here: neither cache keys nor expressions read it.
    if let trace {
      environment = try environment.setting(
        trace.attempt(ofInstance: attempt.instanceNumber).variables)
    }
    var program = ChildProgram(
      attempt.command.arguments(shell: plan.shell(of: attempt.step)), environment: environment,
      directory: directory(of: resolved))
    program.timeout = resolved.timeout
    return program
  }

  /// The step's working directory; `nil` for the current directory of the process.
  func directory(of step: ResolvedStep) -> String? {
    step.directory(from: startDirectory)
  }

  /// The environment of the step's next attempt.
  func environment(
    of resolved: ResolvedStep, for task: StepTask, progress: String? = nil
  ) throws(EnvironmentError) -> EnvironmentBlock {
    let shared = try environment(
      of: SharedLayers(
        group: task.step.group, policy: plan.environmentPolicy(of: task.step)),
      resolved.groupEnvironments,
      isShared: task.instance.parent == nil || resolved.groupEnvironments.isEmpty)
    let own = resolved.environment
    var step: Variables = [
      (RunCookie.step, task.address.text),
      (RunCookie.idempotencyKey, run.idempotencyKey(of: task.address)),
      // Never that of a step of an enclosing run.
      (RunCookie.progress, progress),
    ]
    for (name, value) in resolved.evaluatedTexts { step.append((name, value)) }
    // The variables that most steps share are in the shared layers already.
    let files = task.step.environmentFiles
    if own.isEmpty, files.isEmpty, task.attempt == 1 { return try shared.setting(step) }
    return try shared.setting(
      layer(of: files, own) + whereabouts(inAttempt: task.attempt) + step)
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
    let settings = plan.settings(ofGroup: layers.group)
    let own = resolved[layers.group] ?? settings.environment
    let environment =
      own.isEmpty && settings.environmentFiles.isEmpty && parent != nil
      ? outer
      : try outer.setting(layer(of: settings.environmentFiles, own) + whereabouts(inAttempt: 1))
        .flattened()
    if isShared { environments.withLock { $0[layers] = environment } }
    return environment
  }

  /// The variables of one layer: of its env files, and then its own, which win. Files that were not read, as for
  /// simulated runs, have none.
  private func layer(of files: [EnvironmentFile], _ own: [String: String?]) -> Variables {
    var variables: Variables = (plan.fileVariables[files] ?? [:]).map { ($0.key, $0.value) }
    for (name, value) in own { variables.append((name, value)) }
    return variables
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

  /// The environment of a program that the engine runs for itself, such as `ssh`: its own, and the entries by which the
  /// program is found again.
  func ownEnvironment(_ entries: [String]) throws(EnvironmentError) -> EnvironmentBlock {
    try outermost.setting(
      entries.map { entry in
        let parts = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        return (String(parts[0]), String(parts[1]))
      })
  }

  /// Entries that are in the environments of all programs of this engine, and of no others.
  var cookie: [String] { ["\(RunCookie.run)=\(run.text)", "\(RunCookie.engine)=\(engine)"] }

  /// Finds the programs of a step, also those that earlier engines of the run have started.
  func cookieOfAllAttempts(of step: StepAddress) -> ProcessCookie {
    ProcessCookie(["\(RunCookie.run)=\(run.text)", "\(RunCookie.step)=\(step.text)"])
  }

  /// Entries that are in the environments of all programs of an attempt.
  func cookie(of step: StepAddress, attempt number: Int) -> [String] {
    cookie + [
      "\(RunCookie.step)=\(step.text)", "\(RunCookie.attempt)=\(number)",
    ]
  }
}

/// A value that the system cannot pass to a program, as an argument or in a variable. The failure names the
/// expression that it came from, since authors of the file do not know a `WEFT_VALUE_1`.
struct UnpassableValue {
  private enum Place {
    /// Counted from the program's name.
    case argument(Int)
    case variable(String)
  }

  private enum Failure {
    case tooLong(bytes: Int, limit: Int)
    case nul
  }

  /// The source of the value, in a text of the file.
  private struct Origin {
    let text: PlannedText
    let part: SourceRange
    let written: String

    init(_ expression: Expression, in text: PlannedText) {
      self.text = text
      part = expression.range
      written = "${{ \(shortened(expression.text)) }}"
    }

    /// Uses a text as a whole.
    init(_ text: PlannedText) {
      if let expression = text.template.onlyExpression {
        self = Origin(expression, in: text)
      } else {
        self.text = text
        part = SourceRange(start: 0, end: text.template.text.utf8.count)
        written = quoted(text.template.text)
      }
    }
  }

  private let place: Place
  private let fault: Failure

  /// `nil` if the obstacle is a different one.
  init?(_ obstacle: AttemptStartError) {
    switch obstacle {
    case .notStarted(.argumentTooLong(let index, let size, let limit)):
      (place, fault) = (.argument(index), .tooLong(bytes: size, limit: limit))
    case .notStarted(.variableTooLong(let name, let size, let limit)):
      // The system counts NAME=VALUE.
      let own = name.utf8.count + 1
      (place, fault) = (.variable(name), .tooLong(bytes: size - own, limit: limit - own))
    case .notStarted(.nulInArgument(let index)): (place, fault) = (.argument(index), .nul)
    case .environment(.nulInValue(let name)): (place, fault) = (.variable(name), .nul)
    case .notStarted, .environment, .input, .log, .timedOut, .stalled: return nil
    }
  }

  /// `nil` if the value is literal in the file, or comes from elsewhere.
  func failure(of attempt: Attempt, in plan: Plan) -> StepFailure? {
    guard let origin = origin(in: attempt, plan) else { return nil }
    let place = plan.place(of: origin.part, in: origin.text).map { " (\($0))" } ?? ""
    switch fault {
    case .tooLong(let bytes, let limit):
      return StepFailure(
        classes: [.limit],
        message: "did not start: \(origin.written) has \(bytes) bytes, but the system accepts less "
          + "than \(limit) \(vessel)\(place)",
        help: "pass it on \"stdin\", or in a file that the program reads")
    case .nul:
      return StepFailure(
        classes: [.spawn],
        message: "did not start: \(origin.written) contains a NUL character, which cannot be "
          + "passed \(vessel)\(place)",
        help: "pass such bytes on \"stdin\" or in a file")
    }
  }

  private var vessel: String {
    switch place {
    case .argument: "in one argument"
    case .variable: "in one variable"
    }
  }

  private func origin(in attempt: Attempt, _ plan: Plan) -> Origin? {
    let texts = plan.values.texts(ofStep: attempt.index)
    switch place {
    case .argument(let index):
      let site = TextSite.argument(attempt.resolved.position(ofArgument: index))
      return texts.first(at: site).map { Origin($0) }
    case .variable(let name):
      if let script = texts.first(at: .script),
        let value = plan.values.script(ofStep: attempt.index)?.variables.first(where: {
          $0.isNamed(name)
        })
      {
        return Origin(value.expression, in: script)
      }
      return layer(setting: name, around: attempt, texts, plan)
        .first(at: .variable(name)).map { Origin($0) }
    }
  }

  /// The texts of the innermost layer that sets the variable.
  private func layer(
    setting name: String, around attempt: Attempt, _ own: ArraySlice<PlannedText>, _ plan: Plan
  ) -> ArraySlice<PlannedText> {
    if attempt.step.settings.environment[name] != nil { return own }
    let group = plan.enclosingGroups(ofGroup: attempt.step.group).first {
      plan.settings(ofGroup: $0).environment[name] != nil
    }
    return group.map { plan.values.texts(ofGroup: $0) } ?? []
  }
}

extension EnvironmentBlock {
  /// The variables of the engine's own environment that the policy keeps.
  func restricted(by policy: EnvironmentPolicy) -> EnvironmentBlock {
    switch policy {
    case .inherit: self
    case .clean: filtered(EnvironmentPolicy.isKept)
    }
  }

  /// This environment without the variables that are the sources of secrets.
  func hiding(_ secrets: [SecretDeclaration]) -> EnvironmentBlock {
    let names = Set(
      secrets.compactMap { secret -> String? in
        guard case .environment(let name) = secret.source else { return nil }
        return name
      })
    return names.isEmpty ? self : filtered { !names.contains($0) }
  }
}

extension EnvironmentBlock {
  /// The process's own environment without the jobserver of an enclosing make: its descriptors do not reach the
  /// programs of steps, and a make among those would warn about that, or take slots that are not its own.
  static func inheritedWithoutJobs() -> EnvironmentBlock {
    let all = EnvironmentBlock.inherited()
    guard let flags = all["MAKEFLAGS"] else { return all }
    let kept = MakeFlags(flags).withoutJobs
    return (try? all.setting([("MAKEFLAGS", kept)]).flattened()) ?? all
  }
}
