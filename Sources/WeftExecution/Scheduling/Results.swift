import WeftDefinition
import WeftDiagnostics
package import WeftEvents
import WeftPlanning
package import WeftPlatform

/// Conversions between the results of nodes, steps and the run. ``RunEngine`` uses them when a step is skipped or ends,
/// and when the run ends.
extension NodeResult {
  /// The meaning of a step's end for its dependents.
  ///
  /// - Parameter failedBefore: Whether a direct or indirect dependency had failed.
  static func of(_ address: StepAddress, _ end: StepEnd, failedBefore: Bool) -> NodeResult {
    let causingStep: StepAddress? =
      switch end.conclusion {
      case .success: nil
      case .failure, .skipped: address
      case .cancelled: end.cancellation?.causingStep
      }
    return NodeResult(
      conclusion: end.conclusion, causingStep: causingStep, failedBefore: failedBefore)
  }

  /// The meaning of a skip for dependents.
  init(_ reason: SkipReason, failedBefore: Bool) {
    let causingStep: StepAddress? =
      switch reason {
      case .dependencyFailed(let address), .heldBack(let address): address
      case .cancelled(let reason): reason.causingStep
      case .condition, .notSelected: nil
      }
    self.init(
      conclusion: reason.outcome, causingStep: causingStep,
      blocksDependents: reason.blocksDependents,
      failedBefore: failedBefore)
  }
}

extension CancelReason {
  /// The step or group that caused the cancellation; `nil` if it came from outside the run.
  var causingStep: StepAddress? {
    switch self {
    case .groupTimeout(let address, _), .failure(let address), .raceWon(let address, _),
      .joined(let address):
      address
    case .requested, .filesChanged, .signal, .runTimeout, .recordLost: nil
    }
  }
}

extension RunEnd {
  /// The end of a run, once all its steps have ended. A cancellation that found nothing left to cancel does not
  /// count.
  init(
    of scopes: Scopes, _ counts: OutcomeCounts, duration: Duration,
    outputs: Result<[ReportedOutput], StepFailure>, leftovers: [LeftoverProcess],
    unkillable: [LeftoverProcess]
  ) {
    let cancellation =
      counts.cancelled > 0 || scopes.cancellationHasActed ? scopes.runCancellation : nil
    let fault = scopes.firstFault
    var outcome: Outcome =
      if cancellation != nil { .cancelled } else if fault != nil { .failure } else { .success }
    var (failure, evaluatedOutputs) = (nil as StepFailure?, [ReportedOutput]())
    if outcome == .success {
      switch outputs {
      case .success(let outputs): evaluatedOutputs = outputs
      case .failure(let reason): (failure, outcome) = (reason, .failure)
      }
    }
    self.init(
      outcome: outcome, firstFailure: fault?.address, cancellation: cancellation,
      duration: duration, counts: counts, failure: failure, outputs: evaluatedOutputs,
      leftovers: leftovers, unkillable: unkillable)
  }
}

extension RunStart {
  init(
    of plan: Plan, run: RunID, maxParallel: Int, containment: WeftEvents.ContainmentLevel?,
    resumption: Int
  ) {
    self.init(
      run: run, workflow: plan.workflow.name, file: plan.workflow.source.value?.path,
      startedAt: .now, stepCount: plan.steps.count,
      groupCount: plan.groups.count { !$0.isTopLevel }, maxParallel: maxParallel,
      engineProcess: ThisProcess.id, containment: containment, resumption: resumption)
  }
}

extension RunID {
  /// A new id for a run that starts at this moment.
  package static func make(at moment: Timestamp) -> RunID {
    // 2026-11-20T23:36:05.123Z
    let text = Array(moment.description.utf8)
    let isDigit = { (byte: UInt8) in (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
    let digits = text.prefix(19).filter(isDigit).map { Character(UnicodeScalar($0)) }
    let random = String(UInt32.random(in: 0...0xFF_FFFF), radix: 16)
    let suffix = String(repeating: "0", count: 6 - random.count) + random
    return RunID(String(digits.prefix(8)) + "-" + String(digits.suffix(6)) + "-" + suffix)
  }
}

extension StepEnd {
  /// The end of the same attempt, cancelled before the next one.
  func cancelled(for reason: CancelReason) -> StepEnd {
    var end = StepEnd(
      outcome: .cancelled, conclusion: .cancelled, attempts: attempts, exit: exit,
      cancellation: reason, duration: duration, usage: usage, outputBytes: outputBytes,
      outputTruncated: outputTruncated, logBytes: logBytes, leftovers: leftovers)
    end.host = host
    return end
  }
}

extension Plan {
  /// Whether a group is the `finally` group of its file, or inside it: steps there start whatever has failed.
  func isFinal(_ group: Int) -> Bool {
    let final = bodies.finallyGroups
    return !final.isEmpty && enclosingGroups(ofGroup: group).contains(where: final.contains)
  }

  /// The last node of the step or group that begins at this node: a group's end, or the step itself.
  func closingNode(of node: NodeIndex) -> NodeIndex {
    if case .groupStart(let group) = nodes[node] { groups[Int(group)].endNode } else { node }
  }
}

/// Decides whether an attempt succeeded, failed or was cancelled, from its ``AttemptEnd``, and whether a failure is
/// tolerated. ``RunEngine`` calls it at the end of each attempt, before it decides about a retry.
extension StepEnd {
  /// Determines the end of a step from its last attempt.
  ///
  /// - Parameter reason: The reason why the step was asked to stop; `nil` if it was not. An attempt that was stopped
  ///   without one counts as stopped on request.
  static func judging(
    _ attempt: Attempt, _ end: AttemptEnd, cancelledFor reason: CancelReason?, duration: Duration,
    logBytes: Int, outputs: [ReportedOutput]
  ) -> StepEnd {
    var exit: ProgramExit?
    var failure: StepFailure?
    var cancellation: CancelReason?
    switch end.status {
    case .ended(let programExit):
      exit = programExit
      failure = StepFailure.judging(
        programExit, successCodes: attempt.resolved.successCodes)
    case .timedOut(let limit, let programExit):
      exit = programExit
      failure = .timedOut(after: limit)
    case .stalled(let limit, let programExit):
      exit = programExit
      failure = .stalled(after: limit)
    case .stopped(let programExit):
      exit = programExit
      cancellation = reason ?? .requested
    case .returned, .answered: break
    case .rehearsed(let known): (exit, failure) = (known.end.exit, known.end.failure)
    case .pollsAgain: preconditionFailure("\(attempt.address) has not ended")
    case .failed(let reason): failure = reason
    case .misdelivered(let programExit, let reason): (exit, failure) = (programExit, reason)
    }
    let (outcome, conclusion) = attempt.resolved.allowFailure.judge(failure, cancellation)
    var judged = StepEnd(
      outcome: outcome, conclusion: conclusion, attempts: attempt.number, exit: exit,
      failure: failure, cancellation: cancellation, duration: duration,
      outputBytes: attempt.output.writtenBytes, outputTruncated: attempt.output.isCut,
      logBytes: UInt64(logBytes), outputs: outputs, leftovers: end.leftovers,
      unkillable: end.unkillable)
    judged.take(from: end)
    if judged.hasRequestInDoubt, !attempt.task.step.step.isMadeAgain, let request = judged.http {
      judged.failure?.addHelp(
        "the \(request.method) request may have been processed; resuming the run sends it again only with "
          + (conclusion == .success ? attempt.address.rerunOption : "--rerun-interrupted"))
    }
    judged.ranBecause = attempt.task.ticket?.reason
    return judged
  }
}

extension FailureTolerance {
  /// The outcome of a step's last attempt, and the conclusion that it counts as.
  func judge(
    _ failure: StepFailure?, _ cancellation: CancelReason?
  ) -> (outcome: Outcome, conclusion: Outcome) {
    if let failure { return (.failure, tolerates(failure.classes) ? .success : .failure) }
    let outcome: Outcome = cancellation == nil ? .success : .cancelled
    return (outcome, outcome)
  }
}

extension StepEnd {
  /// Takes the parts of an attempt's end that do not depend on its outcome.
  mutating func take(from end: AttemptEnd) {
    boxedUsage = end.boxedUsage
    host = end.host
    if end.isOfRequest { http = end.request?.summary }
  }
}

extension StepFailure {
  static func stalled(after limit: Duration) -> StepFailure {
    StepFailure(
      classes: [.stall],
      message: "wrote nothing for "
        + "\(DurationText.text(of: limit)), so it was stopped"
    )
  }

  /// The failure that an exit status means; `nil` if it means success.
  static func judging(_ exit: ProgramExit, successCodes: [Int]) -> StepFailure? {
    switch exit {
    case .code(let code):
      guard !successCodes.contains(code) else { return nil }
      return StepFailure(classes: [.exit(code), .exit], message: "exited with code \(code)")
    case .signal(let name):
      return StepFailure(
        classes: [.signal(name), .signal], message: "was ended by signal \(name)")
    }
  }
}
