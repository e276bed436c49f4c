import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// The values of the steps and groups of a run: expressions of a step are evaluated before it starts, and its
/// outputs after it has succeeded.
extension RunEngine {
  /// An attempt with its evaluated action and the file for its outputs, or with the reason why it cannot start.
  func makeAttempt(_ task: StepTask) -> Attempt {
    precondition(
      task.step.kind.makesAttempts, "\(task.address) is to be attempted and runs nothing")
    var resolved = ResolvedStep(
      asWritten: task.step, directory: plan.workingDirectory(of: task.step))
    var failure: StepFailure?
    if StepResolver.isNeeded(ofStep: task.index, in: plan) {
      failure = StepResolver(values, in: task.instance).resolve(
        task.index, attempt: task.attempt, &resolved)
    }
    // Nothing runs, so values of other steps may be missing.
    if rehearsal != nil { failure = nil }
    if task.isCleanup, resolved.timeout == nil { resolved.timeout = WorkflowLimits.cleanupTimeout }
    var file: String?
    if failure == nil, rehearsal == nil, task.step.outputs.contains(where: { $0.value == nil }) {
      do {
        file = try values.folder.makeFile(forStep: task.instanceNumber, attempt: task.attempt)
        file.map { resolved.evaluatedTexts.append((RunEngine.outputFileVariable, $0)) }
      } catch {
        failure = StepFailure(
          classes: [.spawn],
          message: "did not start: the file for its outputs cannot be created: \(error)",
          help: "it is created in the directory for temporary files, which TMPDIR sets")
      }
    }
    if task.polling == nil { logs.beginAttempt(of: task.instanceNumber) }
    values.failures?.forget(task.address)
    let output = StepOutputSink(
      step: task.instanceNumber, address: task.address, limit: resolved.logLimit, of: self,
      capture: values.capture(of: task.step, running: resolved),
      isBuffered: rehearsal == nil && task.step.outputs.contains(where: \.isSecret),
      keepsLog: task.ticket != nil,
      watcher: plan.bodies.services.isEmpty ? nil : LineWatcher(resolved.command?.service))
    return Attempt(
      task, of: self, resolved: consume resolved, outputFile: file, obstacle: failure,
      output: output)
  }

  /// The evaluator for a request's expressions about its responses.
  func questions(of task: StepTask) -> ResponseEvaluator {
    ResponseEvaluator(
      StepScope(
        values: values, instance: task.instance, group: task.step.group, attempt: task.attempt),
      plan.values.texts(ofStep: task.index), of: task.address, attempt: task.attempt)
  }

  static let outputFileVariable = "WEFT_OUTPUT"

  /// Whether an attempt has outputs, or an expression reads its result.
  func producesValues(_ attempt: Attempt) -> Bool {
    !attempt.step.outputs.isEmpty || !plan.values.reads(ofNode: attempt.step.node).isEmpty
  }

  /// Evaluates the outputs of an attempt. It fails if they cannot be evaluated.
  func collectOutputs(of attempt: Attempt, _ end: inout AttemptEnd) -> NodeValues {
    if case .rehearsed(let known) = end.status { return nodeValues(of: known, attempt.step.node) }
    let declared = !attempt.step.outputs.isEmpty
    defer { attempt.outputFile.map(Descriptor.remove) }
    var own = nodeValues(of: attempt, end)
    guard declared, hasSucceeded(attempt, end) else { return own }
    do throws(StepFailure) {
      let collector = OutputCollector(values, in: attempt.instance)
      let written = try collector.written(in: attempt.outputFile, by: attempt.step)
      if attempt.task.ticket != nil { own.written = written }
      own.outputs = try collector.outputs(
        ofStep: attempt.index, own: own, written: written, attempt: attempt.number)
    } catch {
      end.status.fail(error)
    }
    return own
  }

  private func hasSucceeded(_ attempt: Attempt, _ end: AttemptEnd) -> Bool {
    switch end.status {
    case .ended(let exit):
      StepFailure.judging(exit, successCodes: attempt.resolved.successCodes) == nil
    case .returned, .answered: true
    case .timedOut, .stalled, .stopped, .failed, .misdelivered, .pollsAgain, .rehearsed: false
    }
  }

  /// The result of an attempt. All of it is secret if one of the step's secrets is unknown.
  func nodeValues(of attempt: Attempt, _ end: AttemptEnd) -> NodeValues {
    let capture = attempt.output.capture
    let isWithheld = attempt.output.isWithheld
    let text = { [values] (stream: OutputCapture.Stream?) in
      stream.map { stream in
        CapturedText(
          stream, isSecret: isWithheld || values.secrets.mask.contains(stream.bytes),
          spool: values.spool)
      }
    }
    let since = state.withLock { $0.running[attempt.instanceNumber]?.since }
    var own = NodeValues(
      outcome: .success, conclusion: .success, attempts: attempt.number,
      duration: since.map { time.now - $0 } ?? .zero, exit: end.status.exit,
      stdout: text(capture?.stdout), stderr: text(capture?.stderr),
      returned: returned(by: end), shape: attempt.step.kind.rules.result)
    own.answer = end.request?.answer.map { answer in
      ResponseValues(
        answer, keepsBody: plan.values.reads(ofNode: attempt.step.node).contains(.stdout),
        mask: secrets.hidesAnything ? secrets.mask : nil, isSecret: isWithheld, spool: values.spool)
    }
    if isWithheld { own.returned?.isSecret = true }
    return own
  }

  /// The value that an action has returned; secret if it contains a secret, as for the output of a program.
  private func returned(by end: AttemptEnd) -> ScopedValue? {
    guard case .returned(let value) = end.status else { return nil }
    return ScopedValue(ExpressionValue(value), isSecret: secrets.areIn(value.description))
  }

  /// Stores the result of the step for expressions.
  func record(_ own: NodeValues, _ end: StepEnd, of task: StepTask) {
    var own = own
    own.outcome = end.outcome
    own.conclusion = end.conclusion
    own.attempts = end.attempts
    own.duration = end.duration
    // A service had none when it was ready.
    own.exit = end.exit
    if end.outcome != .success { own.outputs = [] }
    values.record(own, ofNode: task.step.node, in: task.instance)
  }
}

extension AttemptEnd.Status {
  /// Fails the attempt, whatever its program returned.
  mutating func fail(_ failure: StepFailure) {
    self = exit.map { .misdelivered($0, failure) } ?? .failed(failure)
  }

  /// The exit of the program; `nil` if it did not start.
  var exit: ProgramExit? {
    switch self {
    case .ended(let exit), .misdelivered(let exit, _): exit
    case .rehearsed(let known): known.end.exit
    case .timedOut(_, let exit), .stalled(_, let exit), .stopped(let exit): exit
    case .failed, .returned, .answered, .pollsAgain: nil
    }
  }
}

extension ReportedOutput {
  init(_ output: OutputValue) {
    // A literal `nil` would be JSON's null.
    self.init(name: output.name, value: output.isSecret ? .none : .some(output.value.json))
  }
}

/// Groups, and the run as a whole.
extension RunEngine {
  /// The outputs of a group that succeeded, including tolerated failures; for a race, those of the winner.
  func outputs(
    of task: GroupTask, _ verdict: Scopes.Verdict, winner: Plan.NodeIndex?,
    lasting duration: Duration, attempts: Int
  ) -> Result<[OutputValue], StepFailure> {
    guard verdict.outcome == .success else { return .success([]) }
    var evaluatedOutputs: [OutputValue] = []
    if let winner { evaluatedOutputs = task.instance.result(ofNode: winner)?.outputs ?? [] }
    if let file = plan.file(runByGroup: task.index) {
      let topLevel = plan.groups[plan.files[file].topLevel].startNode
      evaluatedOutputs = task.instance.result(ofNode: topLevel)?.outputs ?? []
    }
    guard plan.groups[task.index].step?.outputs.isEmpty == false else {
      return .success(evaluatedOutputs)
    }
    var own = NodeValues(
      outcome: .success, conclusion: .success, attempts: attempts, duration: duration,
      shape: .group)
    own.winner = winner.map(plan.localAddress(of:))
    return Result { () throws(StepFailure) in
      let declared = try OutputCollector(values, in: task.instance).outputs(
        ofGroup: task.index, own: own)
      return evaluatedOutputs.filter { one in !declared.contains { $0.name == one.name } }
        + declared
    }
  }

  /// Stores the result of the group for expressions.
  ///
  /// - Parameter attempts: Those of an earlier engine if it has been restored; `nil` for those of this one.
  func recordGroup(
    _ task: GroupTask, _ verdict: Scopes.Verdict, _ outputs: Result<[OutputValue], StepFailure>,
    winner: Plan.NodeIndex? = nil, lasting duration: Duration, attempts: Int? = nil,
    isUnknown: Bool = false
  ) {
    var own = NodeValues(
      outcome: verdict.outcome, conclusion: verdict.conclusion, attempts: attempts ?? task.attempt,
      duration: duration, outputs: (try? outputs.get()) ?? [], shape: .group)
    own.isUnknown = isUnknown
    // As the file calls it, whichever element or attempt this is.
    own.winner = winner.map(plan.localAddress(of:))
    values.record(own, ofNode: plan.groups[task.index].startNode, in: task.instance)
  }

  /// The outputs of the run, unless it has failed or was cancelled.
  func outputsOfRun() -> Result<[ReportedOutput], StepFailure> {
    // A cancellation with nothing left to cancel has no effect.
    let isLost = state.withLock { state in
      state.scopes.firstFault != nil
        || state.scopes.runCancellation != nil && events.counts.cancelled > 0
    }
    guard !isLost, !plan.workflow.outputs.isEmpty else { return .success([]) }
    let outputs = Result { () throws(StepFailure) in
      try OutputCollector(values, in: instance).outputsOfRun().map(ReportedOutput.init)
    }
    // A prediction does not know all values.
    if case .failure = outputs, configuration.rehearsal != nil { return .success([]) }
    return outputs
  }
}

/// The values kept between runs.
extension RunEngine {
  /// Computes the next state of a run that has succeeded, and keeps it.
  ///
  /// - Returns: The reason why that is not possible.
  func keepState() -> StepFailure? {
    guard !plan.workflow.state.isEmpty, rehearsal == nil else { return nil }
    do throws(StepFailure) {
      try configuration.keepState?(OutputCollector(values, in: instance).nextState())
      return nil
    } catch {
      return error
    }
  }
}

/// The secret outputs of a step: they only become known after the step has written its log.
extension RunEngine {
  /// Masks the secret outputs of an attempt whose log is buffered, even if it has failed. If one of them cannot
  /// be evaluated or masked, the text that it is evaluated from is withheld, because the secret may be in it.
  func learnSecrets(of attempt: Attempt, _ end: AttemptEnd) {
    let own = nodeValues(of: attempt, end)
    let collector = OutputCollector(values, in: attempt.instance)
    guard !collector.hideSecretOutputs(of: attempt, own) else { return }
    let reads = plan.values.reads(ofNode: attempt.step.node)
    let readsStderr = reads.contains(.stderr)
    attempt.output.withhold(standardErrorToo: readsStderr || !reads.contains(.stdout))
  }
}

extension OutputCollector {
  /// Masks from now on the outputs that a step declares to be secret.
  ///
  /// - Returns: Whether all of them are known.
  fileprivate func hideSecretOutputs(of attempt: Attempt, _ own: NodeValues) -> Bool {
    let secret = attempt.step.step.outputs.filter(\.isSecret)
    var isKnown = true
    if secret.contains(where: { $0.value == nil }) {
      // The file is read for its values, which masks them.
      isKnown =
        isEmpty(attempt.outputFile)
        || (try? written(in: attempt.outputFile, by: attempt.step)) != nil
    }
    guard
      var scope = try? StepResolver(values, in: instance).scope(
        ofStep: attempt.index, attempt: attempt.number)
    else { return false }
    scope.own = (own, attempt.step.address)
    let texts = values.plan.values.texts(ofStep: attempt.index)
    for declaration in secret {
      guard let text = declaration.value else { continue }
      var value = ExpressionValue.string(text)
      if let planned = texts.first(at: .output(declaration.name)) {
        guard let evaluation = try? planned.template.evaluate(in: scope) else {
          isKnown = false
          continue
        }
        value = evaluation.value
      }
      values.secrets.add(everyTextIn: value)
      let json = value.json
      let faults = ValueSchema().faults(of: json, secretBytes: OutputFile.secretBytes(of: json))
      if !faults.isEmpty { isKnown = false }
    }
    return isKnown
  }

  private func isEmpty(_ path: String?) -> Bool {
    guard let path else { return true }
    return (try? OutputFile.bytes(at: path))?.isEmpty == true
  }
}
