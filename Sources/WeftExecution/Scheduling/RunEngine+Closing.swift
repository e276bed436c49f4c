import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The end of the run, or of a nested file: pending cleanups, then `finally`.
extension RunEngine {
  /// Ends the run after all members of the top level have ended: pending cleanups, then `finally`.
  func close(after members: [NodeResult]) -> Future<Void, Never> {
    let cleaned = cleanUp(in: 0, after: members) ?? Future(value: ())
    return cleaned.flatMap { [self] in
      let hasFailed = state.withLock { $0.scopes.firstFault != nil }
      return runFinally(of: FileRun(file: 0, instance: instance, scope: 0), hasFailed: hasFailed)
    }
  }

  /// Runs `finally` of a nested file, whose members have ended.
  func close(_ task: GroupTask) -> Future<Void, Never> {
    guard let file = plan.file(runByGroup: task.index) else { return Future(value: ()) }
    // `finally` has a time limit of its own.
    let (timer, hasFailed) = state.withLock { state in
      (
        state.groups.timer(task.scope), state.scopes.firstFault(ofFile: task.scope) != nil
      )
    }
    timer?.cancel()
    let run = FileRun(file: file, instance: task.instance, scope: task.scope)
    return runFinally(of: run, hasFailed: hasFailed).map { [self] in
      respond(to: state.withLock { $0.scopes.endClosing(ofFile: task.scope) })
    }
  }

  /// A file that is being run: the workflow itself, or one that a step runs.
  private struct FileRun {
    let file: Int
    let instance: Instance
    /// The scope of the step that runs the file; 0 for the workflow.
    let scope: Int
  }

  private func runFinally(of file: FileRun, hasFailed: Bool) -> Future<Void, Never> {
    guard let index = plan.files[file.file].finally else { return Future(value: ()) }
    let region = PlanRegion(group: index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.open(
        in: nil, boundary: .holding, groups: region.groups, of: plan, inFile: file.scope,
        addresses: file.instance.address(of:))
      state.closeImmediately(scope)
      return scope
    }
    let inner = Instance(
      .attempt(1), of: region, in: file.instance,
      firstInstance: file.instance.instanceNumber(ofStep: region.steps.lowerBound),
      firstScope: scope + 1,
      scope: scope)
    let task = GroupTask(index, of: plan, in: inner)
    return run(task, failedBefore: hasFailed).map { [self] outcome in
      report(task, outcome)
      let survives = outcome.verdict.conclusion == .success
      state.withLock { state in
        if !survives, let fault = state.scopes.boundaryFault(of: scope) {
          state.scopes.failedAtTheEnd(fault, inFile: file.scope)
        }
      }
    }
  }

  /// Whether a group is the `finally` group of its file, or inside it: steps there start whatever has failed.
  func isFinal(_ group: Int) -> Bool {
    let final = plan.bodies.finallyGroups
    return !final.isEmpty && plan.enclosingGroups(ofGroup: group).contains(where: final.contains)
  }

  /// Cancels `finally` and cleanups too.
  func cancelClosing() {
    let responses = state.withLock { $0.scopes.cancelDetached($0.immediateCancelReason) }
    for response in responses { respond(to: response) }
  }
}

extension RunEngine.State {
  /// The reason for killing the run at once: the signal that cancelled it, or a request. A time limit or a failure
  /// does not ask for that.
  var immediateCancelReason: CancelReason {
    if case .signal(let signal)? = scopes.runCancellation { .signal(signal) } else { .requested }
  }

  /// Cancels a scope for `finally` or cleanups right away if the run is being killed, so that nothing starts in it.
  mutating func closeImmediately(_ scope: Int) {
    if killsAtOnce { _ = scopes.cancel(scope, immediateCancelReason) }
  }
}

/// Makes the events of this engine agree with the journal when the run ends: each recorded step either counts as it
/// ended, or its record is marked as outdated.
extension RunEngine {
  /// Reports the steps that succeeded under an earlier engine and have no event under this one: cleanups that were
  /// not repeated, and members of loops and groups that were skipped as a whole. Every other step without an event is
  /// recorded as outdated.
  func settleSteps() {
    let reported = events.reportedSteps
    guard let resumePolicy else {
      return recordOutdated(reported.void)
    }
    let recorded = resumePolicy.recorded
    var missed: [(address: StepAddress, number: UInt64, end: StepEnd)] = []
    var outdated = reported.void
    let planned = Set(plan.steps.map(\.address) + plan.groups.compactMap(\.address))
    var retried = recorded.groups.mapValues(\.startedBy).filter { $0.value > 0 }
    for group in reported.retriedGroups { retried[group] = .max }
    var attempts = LaterAttempts(plan, since: retried, exemptingCleanup: false)
    let former = state.withLock { $0.formerElements }
    let isVoid = { (step: RecordedStep, address: StepAddress) in
      resumePolicy.isVoid(address, step.number) || former.contains(where: address.isInside)
    }
    for (address, step) in recorded.steps where !reported.current.contains(address) {
      if case .finished(let end, _) = step.state, step.hasSucceeded,
        !reported.void.contains(address), planned.contains(address.outermostLoop ?? address),
        !isVoid(step, address), !attempts.isVoid(address, reported: step.number)
      {
        missed.append((address, step.number, end))
      } else if !recorded.isInDoubt(address) || isVoid(step, address) {
        outdated.insert(address)
      }
    }
    for step in missed.sorted(by: { $0.number < $1.number }) {
      events.publish(
        .stepRestored(step.address, step.end), step: logOwners.planIndex(of: step.address))
    }
    recordOutdated(outdated)
  }

  private func recordOutdated(_ steps: Set<StepAddress>) {
    let sorted = steps.sorted { $0.text < $1.text }
    for start in stride(from: 0, to: sorted.count, by: 256) {
      events.record(.outdated(Array(sorted[start..<min(start + 256, sorted.count)])))
    }
  }
}
