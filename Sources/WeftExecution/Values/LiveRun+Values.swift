import Synchronization
import WeftDefinition
import WeftExpressions
import WeftJSON
import WeftPlanning
import WeftPlatform

/// What values mean for the nodes of a run: a step is resolved before it starts, and hands on its outputs
/// when it has succeeded.
extension LiveRun {
  /// What an attempt is to do, and the file for its outputs; or why there can be none.
  func prepare(
    _ index: Int, running command: Command, attempt: Int
  ) -> (resolved: ResolvedStep, outputFile: String?, failure: StepFailure?) {
    var (resolved, failure) = StepResolver(values).resolve(index, running: command)
    guard failure == nil, plan.steps[index].step.outputs.contains(where: { $0.value == nil }) else {
      return (resolved, nil, failure)
    }
    do {
      let file = try values.folder.makeFile(forStep: index, attempt: attempt)
      resolved.handedOver.append((LiveRun.outputFileVariable, file))
      return (resolved, file, nil)
    } catch {
      let failure = StepFailure(
        classes: [.spawn],
        message: "did not start: the file for its outputs cannot be made: \(error)",
        help: "it is made in the directory for temporary files, which TMPDIR names")
      return (resolved, nil, failure)
    }
  }

  private static let outputFileVariable = "WEFT_OUTPUT"

  /// An attempt's end with the outputs that it hands on. One whose outputs cannot be had has failed.
  func collectOutputs(
    of attempt: Attempt, _ end: AttemptEnd
  ) -> (end: AttemptEnd, values: NodeValues?) {
    let declared = !attempt.step.step.outputs.isEmpty
    defer { attempt.outputFile.map(Descriptor.remove) }
    guard declared || plan.values.reads(ofNode: attempt.step.node) != [] else { return (end, nil) }
    var own = nodeValues(of: attempt, end)
    guard declared, case .ended(let exit) = end.status,
      StepFailure.judging(exit, successCodes: attempt.resolved.command.successCodes) == nil
    else { return (end, own) }
    do throws(StepFailure) {
      let collector = OutputCollector(values)
      let written = try collector.written(in: attempt.outputFile, by: attempt.step)
      own.outputs = try collector.outputs(
        ofStep: attempt.index, own: own, written: written, attempt: attempt.number)
      return (end, own)
    } catch {
      var end = end
      end.status = .misdelivered(exit, error)
      return (end, own)
    }
  }

  private func nodeValues(of attempt: Attempt, _ end: AttemptEnd) -> NodeValues {
    let capture = attempt.output.capture
    let text = { [values] (stream: OutputCapture.Stream?) in
      stream.map { stream in
        CapturedText(
          stream, isSecret: values.secrets.mask.contains(stream.bytes), spool: values.spool)
      }
    }
    let since = state.withLock { $0.running[attempt.index]?.since }
    return NodeValues(
      outcome: .success, conclusion: .success, attempts: attempt.number,
      duration: since.map { time.now - $0 } ?? .zero, exit: end.status.exit,
      stdout: text(capture?.stdout), stderr: text(capture?.stderr))
  }

  /// Keeps what others read of the step.
  func record(_ own: NodeValues?, _ end: StepEnd, of step: PlannedStep) {
    guard var own else { return }
    own.outcome = end.outcome
    own.conclusion = end.conclusion
    own.duration = end.duration
    if end.outcome != .success { own.outputs = [] }
    values.record(own, ofNode: step.node)
  }

  /// What a step resolves that has no command of its own.
  private static let noCommand = Command(.script(""))

  /// Computes a step that runs nothing.
  func compute(_ index: Int) -> NodeResult {
    let step = plan.steps[index]
    events.publish(.stepStarted(step.address, attempt: 1), step: index)
    let since = time.now
    var own = NodeValues(outcome: .success, conclusion: .success, attempts: 1)
    let (resolved, obstacle) = StepResolver(values).resolve(index, running: LiveRun.noCommand)
    var failure: StepFailure?
    do throws(StepFailure) {
      if let obstacle { throw obstacle }
      own.outputs = try OutputCollector(values).outputs(ofStep: index, own: own, attempt: 1)
    } catch {
      failure = error
    }
    let isTolerated = failure.map { resolved.allowFailure.tolerates($0.classes) } ?? false
    let end = StepEnd(
      outcome: failure == nil ? .success : .failure,
      conclusion: failure == nil || isTolerated ? .success : .failure, attempts: 1, exit: nil,
      failure: failure, duration: time.now - since, outputs: own.outputs.map(HandedOn.init))
    let response = state.withLock { state in
      state.counts.add(end)
      guard end.conclusion == .failure, let failure else { return Scopes.Response.nothing }
      return state.scopes.stepFailed(step, failure)
    }
    record(own, end, of: step)
    events.publish(.stepFinished(step.address, end), step: index)
    respond(to: response)
    return NodeResult(of: step, end)
  }
}

extension AttemptEnd.Status {
  /// How the program ended; `nil` if it did not start.
  var exit: ProgramExit? {
    switch self {
    case .ended(let exit), .misdelivered(let exit, _): exit
    case .timedOut(_, let exit), .stalled(_, let exit), .stopped(let exit): exit
    case .failed: nil
    }
  }
}

extension HandedOn {
  init(_ output: OutputValue) {
    // A literal `nil` would be JSON's null.
    self.init(name: output.name, value: output.isSecret ? .none : .some(output.value.json))
  }
}

/// Groups, and the run as a whole.
extension LiveRun {
  /// What a group hands on, if all in it succeeded or was tolerated.
  func outputs(
    ofGroup index: Int, _ verdict: Scopes.Verdict, lasting duration: Duration
  ) -> Result<[OutputValue], StepFailure> {
    guard verdict.outcome == .success, plan.groups[index].step?.outputs.isEmpty == false else {
      return .success([])
    }
    let own = NodeValues(
      outcome: .success, conclusion: .success, attempts: 1, duration: duration, isGroup: true)
    return Result { () throws(StepFailure) in
      try OutputCollector(values).outputs(ofGroup: index, own: own)
    }
  }

  /// Keeps what others read of the group.
  func recordGroup(
    _ index: Int, _ verdict: Scopes.Verdict, _ outputs: Result<[OutputValue], StepFailure>,
    lasting duration: Duration
  ) {
    let own = NodeValues(
      outcome: verdict.outcome, conclusion: verdict.conclusion, attempts: 1, duration: duration,
      outputs: (try? outputs.get()) ?? [], isGroup: true)
    values.record(own, ofNode: plan.groups[index].startNode)
  }

  /// What the run hands on, if it is going to have succeeded.
  func outputsOfRun() -> Result<[HandedOn], StepFailure> {
    // A cancellation that found nothing left to cancel has not happened.
    let isLost = state.withLock { state in
      state.scopes.firstFault != nil
        || state.scopes.runCancellation != nil && state.counts.cancelled > 0
    }
    guard !isLost, !plan.workflow.outputs.isEmpty else { return .success([]) }
    return Result { () throws(StepFailure) in
      try OutputCollector(values).outputsOfRun().map(HandedOn.init)
    }
  }
}
