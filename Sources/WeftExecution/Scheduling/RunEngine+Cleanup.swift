import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A pending cleanup: the cleanup steps of a step or group that was started.
struct Cleanup: Sendable {
  let instance: Instance
  /// Indices in the plan.
  let steps: Range<Int32>
}

/// The end of a group, a nested file or the run: pending cleanups run, then `finally`.
extension RunEngine {
  /// Records that a step or group started, so that its cleanup is pending until the group around it ends.
  func scheduleCleanup(of node: Plan.NodeIndex, in instance: Instance, scope: Int) {
    guard !plan.bodies.cleanups.isEmpty, let steps = plan.bodies.cleanups[node] else { return }
    state.withLock { state in
      state.cleanups[state.scopes.groupScope(around: scope), default: []].append(
        Cleanup(instance: instance, steps: steps))
    }
  }

  /// Schedules the cleanup of a step that an earlier engine started and this one does not, if it is pending.
  func schedulePendingCleanup(of task: StepTask) {
    guard let resumePolicy, resumePolicy.hasPendingCleanup(task) else { return }
    scheduleCleanup(of: task.step.node, in: task.instance, scope: task.scope)
  }

  func schedulePendingCleanup(of task: GroupTask) {
    guard let resumePolicy, resumePolicy.hasPendingCleanup(task) else { return }
    let node = plan.groups[task.index].startNode
    let instance = task.instance.aroundAttempts(of: node)
    scheduleCleanup(of: node, in: instance, scope: instance.scope(around: task.index, of: plan))
  }

  /// Runs the pending cleanups of a group, the last started first, one after another; `nil` if there are none.
  ///
  /// - Parameter members: The results of the group's members, all of which have ended.
  func cleanUp(in scope: Int, after members: [NodeResult]) -> Future<Void, Never>? {
    guard !plan.bodies.cleanups.isEmpty,
      let cleanups = state.withLock({ $0.cleanups.removeValue(forKey: scope) })
    else { return nil }
    let closing = state.withLock { state in
      let closing = state.scopes.openClosing(of: plan, in: scope)
      state.closeAtOnce(closing)
      return closing
    }
    let hasFailed = members.contains(where: \.hasFailed)
    return cleanups.reversed().reduce(Future<Void, Never>(value: ())) { before, cleanup in
      cleanup.steps.reduce(before) { before, step in
        before.flatMap { [self] in
          cleanUp(Int(step), in: cleanup.instance, scope: closing, hasFailed: hasFailed)
        }
      }
    }.map { [self] in
      state.withLock { $0.scopes.close(closing) }
    }
  }

  private func cleanUp(
    _ index: Int, in instance: Instance, scope: Int, hasFailed: Bool
  ) -> Future<Void, Never> {
    let before = NodeResults.one(
      NodeResult(conclusion: .success, blame: nil, failedBefore: hasFailed))
    let task = StepTask(
      index, of: plan, in: instance, scope: scope, isCleanup: true, after: before)
    return Future(launch(task, after: before, startsAlways: true)).map { [self] _ in
      noteLateFailure(in: scope)
    }
  }

  /// Records a failure of `finally` or `cleanup`. It fails the run of its file, and is its cause only if there is no
  /// other.
  private func noteLateFailure(in scope: Int) {
    state.withLock { state in
      guard let fault = state.scopes.boundaryFault(of: scope) else { return }
      state.scopes.failedAtTheEnd(fault, inFile: state.scopes.scopes[scope].file)
    }
  }

  // MARK: The end of the run

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
        state.groups[task.scope]?.timer, state.scopes.firstFault(ofFile: task.scope) != nil
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
      state.closeAtOnce(scope)
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
    let responses = state.withLock { $0.scopes.cancelDetached($0.reasonToEndAtOnce) }
    for response in responses { respond(to: response) }
  }
}

extension RunEngine.State {
  /// The reason for killing the run at once: the signal that cancelled it, or a request. A time limit or a failure
  /// does not ask for that.
  var reasonToEndAtOnce: CancelReason {
    if case .signal(let signal)? = scopes.runCancellation { .signal(signal) } else { .requested }
  }

  /// Cancels a scope for `finally` or cleanups right away if the run is being killed, so that nothing starts in it.
  fileprivate mutating func closeAtOnce(_ scope: Int) {
    if killsAtOnce { _ = scopes.cancel(scope, reasonToEndAtOnce) }
  }
}
