import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftExpressions
import WeftPlanning
import WeftPlatform

/// The values that expressions of a run can read: inputs, and those results of steps and groups that some
/// expression reads. Written once for each step and group, when it has ended.
final class RunValues: Sendable {
  let plan: Plan
  let run: RunID
  /// The absolute path of the run directory; `nil` for a run without a journal.
  let directory: String?
  /// The inputs of the main workflow; those of nested workflows are in the instances.
  private let inputs: RunInputs
  let secrets: RunSecrets
  /// The environment outside every `env`.
  let process: EnvironmentBlock
  let spool = CaptureSpool()
  /// The folder of the steps' output files.
  let folder: OutputFolder
  /// The base of relative patterns of `hashFiles` and of relative files.
  let startDirectory: String?
  /// `nil` if no expression reads `run.failures`.
  let failures: FailureNotes?

  init(
    plan: Plan, run: RunID, directory: String? = nil, inputs: InputValues, secrets: RunSecrets,
    process: EnvironmentBlock, startDirectory: String?
  ) {
    self.plan = plan
    self.run = run
    self.directory = directory
    self.inputs = RunInputs(inputs)
    arguments = inputs.arguments
    state = RunInputs(inputs.state)
    self.secrets = secrets
    self.process = process
    self.startDirectory = startDirectory
    folder = OutputFolder(of: run)
    failures =
      !plan.bodies.finallyGroups.isEmpty && plan.values.read(.failures) ? FailureNotes() : nil
  }

  /// The arguments of the run.
  let arguments: [String]
  /// The values kept by earlier runs.
  let state: RunInputs

  /// The inputs of a file, as an instance sees them.
  ///
  /// - Throws: The reason why they could not be evaluated.
  func inputs(ofFile file: Int, in instance: Instance) throws(EvaluationError) -> RunInputs {
    if file == 0 { return inputs }
    let reason: StepFailure?
    switch instance.inputs(ofFile: file) {
    case .success(let inputs)?: return inputs
    case .failure(let failure)?: reason = failure
    case nil: reason = nil
    }
    let path = plan.files[file].workflow.source.value?.path ?? "the file"
    throw .notKnown("the inputs of \(path)", because: reason)
  }

  func record(_ values: NodeValues, ofNode node: Plan.NodeIndex, in instance: Instance) {
    guard !plan.values.reads(ofNode: node).isEmpty else { return }
    instance.record(values, ofNode: node)
  }

  /// The capture for a step's output, if expressions read it; never for output to a terminal.
  func capture(of step: PlannedStep, running resolved: ResolvedStep) -> OutputCapture? {
    let reads = plan.values.reads(ofNode: step.node)
    if reads.isEmpty { return nil }
    guard reads.contains(.stdout) || reads.contains(.stderr),
      resolved.command?.usesTerminal == false
    else { return nil }
    return OutputCapture(reads)
  }
}

extension EvaluationError {
  /// A value that would be known if what it comes from had succeeded, or had run at all.
  static func notKnown(_ what: String, because reason: StepFailure? = nil) -> EvaluationError {
    .scope(
      code: "W0339",
      message: "\(what) are not known" + (reason.map { ": \($0.message)" } ?? ""),
      help: reason?.help)
  }
}

/// A text that may be secret.
struct ScopedText: Sendable, Hashable {
  var text: String
  var isSecret = false
}

/// The inputs or the state of a run as expression values.
struct RunInputs: Sendable {
  private let values: [(key: String, value: ScopedValue)]

  init(_ values: [(key: String, value: ScopedValue)] = []) {
    self.values = values
  }

  init(_ inputs: InputValues) { self.init(inputs.entries) }

  init(_ entries: [InputValues.Entry]) {
    self.init(
      entries.map { entry in
        (entry.name.text, ScopedValue(ExpressionValue(entry.value), isSecret: entry.isSecret))
      })
  }

  /// `null` for an undeclared name. Names are case-insensitive.
  subscript(name: String) -> ScopedValue {
    if let exact = values.first(where: { $0.key == name }) { return exact.value }
    let folded = name.lowercased()
    return values.first { $0.key.lowercased() == folded }?.value ?? ScopedValue(.null)
  }

  var all: ScopedValue {
    ScopedValue(
      .object(values.map { ($0.key, $0.value.value) }),
      isSecret: values.contains { $0.value.isSecret })
  }
}

/// The failures of a run for `run.failures`, with the last lines of the steps that failed.
final class FailureNotes: Sendable {
  /// The most failures that are listed.
  static let limit = 50

  private struct State {
    /// The last lines of steps that run or have failed.
    var tails: [StepAddress: OutputTail] = [:]
    var failures: (@Sendable () -> [RunFailure])?
  }

  private let state = Mutex(State())

  /// - Parameter failures: The failures at the time of the call, the cause of the run's failure first.
  func follow(_ failures: @escaping @Sendable () -> [RunFailure]) {
    state.withLock { $0.failures = failures }
  }

  func append(_ lines: [StepOutput], of step: StepAddress) {
    state.withLock { state in
      for line in lines where line.ending != .transient {
        state.tails[step, default: OutputTail()].append(line.bytes)
      }
    }
  }

  /// Forgets the lines of a step that begins an attempt, or has not failed.
  func forget(_ step: StepAddress) { state.withLock { $0.tails[step] = nil } }

  /// The value of `run.failures` in a file.
  ///
  /// - Parameter caller: The step that runs the file; `nil` for the file of the run. Other failures are none of the file's.
  func value(inFileOf caller: StepAddress?) -> ExpressionValue {
    let (tails, failures) = state.withLock { ($0.tails, $0.failures) }
    let visible = (failures?() ?? []).filter { $0.address.isInFile(of: caller) }
    return .array(
      visible.prefix(FailureNotes.limit).map { failure in
        let lines = tails[failure.address]?.lines ?? []
        return .object([
          ("step", .string(failure.address.local(inFileOf: caller).text)),
          ("class", failure.failure.classes.first.map { .string($0.name) } ?? .null),
          ("message", .string(failure.failure.message)),
          ("lastLines", .array(lines.map { .string(String(decoding: $0, as: UTF8.self)) })),
        ])
      })
  }
}

extension RunEngine {
  /// The failures so far that count, the cause of the run's failure first.
  func failuresSoFar() -> [RunFailure] {
    let cause = state.withLock { $0.scopes.firstFault?.address }
    let failures = events.failures
    return failures.filter { $0.address == cause } + failures.filter { $0.address != cause }
  }
}
