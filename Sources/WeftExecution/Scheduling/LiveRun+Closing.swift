import Synchronization
import WeftDefinition
import WeftFutures
import WeftPlanning
import WeftPlatform

/// Steps that clean up after one that was started.
struct Cleanup: Sendable {
  let frame: Frame
  /// In the plan.
  let steps: Range<Int32>
}

/// What is done when all else has ended: cleaning up, in a group or in the run; and what is done finally.
extension LiveRun {
  /// A step or group has started: what cleans up after it will run when the group around it ends.
  func noteCleanup(of node: Plan.NodeIndex, in frame: Frame, scope: Int) {
    guard !plan.bodies.cleanups.isEmpty, let steps = plan.bodies.cleanups[node] else { return }
    state.withLock { state in
      state.cleanups[state.scopes.groupScope(around: scope), default: []].append(
        Cleanup(frame: frame, steps: steps))
    }
  }

  /// Cleans up after what was started in a group, the last first, one after another; `nil`: nothing is to be
  /// done.
  ///
  /// - Parameter members: How those in the group have ended, all of which it waits for.
  func cleanUp(in scope: Int, after members: [NodeResult]) -> Future<Void, Never>? {
    guard !plan.bodies.cleanups.isEmpty,
      let cleanups = state.withLock({ $0.cleanups.removeValue(forKey: scope) })
    else { return nil }
    let closing = state.withLock { state in
      let closing = state.scopes.openClosing(of: plan)
      state.closeAtOnce(closing)
      return closing
    }
    let hasFailed = members.contains(where: \.hasFailed)
    return cleanups.reversed().reduce(Future<Void, Never>(value: ())) { before, cleanup in
      cleanup.steps.reduce(before) { before, step in
        before.flatMap { [self] in
          cleanUp(Int(step), in: cleanup.frame, scope: closing, hasFailed: hasFailed)
        }
      }
    }.map { [self] in
      state.withLock { state in
        state.scopes.passOnCounts(of: closing, surviving: false)
        state.scopes.close(closing)
      }
    }
  }

  private func cleanUp(
    _ index: Int, in frame: Frame, scope: Int, hasFailed: Bool
  ) -> Future<Void, Never> {
    let before = [
      NodeResult(conclusion: .success, blame: nil, failedBefore: hasFailed)
    ]
    let task = StepTask(
      index, of: plan, in: frame, scope: scope, isCleanup: true, after: before)
    return launch(task, after: before, startsAlways: true).map { [self] _ in
      noteLateFailure(in: scope)
    }
  }

  /// What fails at the end fails the run, and is its cause only if nothing else is.
  private func noteLateFailure(in scope: Int) {
    state.withLock { state in
      if let fault = state.scopes.absorbedFault(of: scope) { state.scopes.failedAtTheEnd(fault) }
    }
  }

  // MARK: The end of the run

  /// All members of the top level have ended.
  func close(after members: [NodeResult]) -> Future<Void, Never> {
    let cleaned = cleanUp(in: 0, after: members) ?? Future(value: ())
    return cleaned.flatMap { [self] in
      let hasFailed = state.withLock { $0.scopes.firstFault != nil }
      return runFinally(ofFile: 0, in: frame, after: members, hasFailed: hasFailed) {
        [self] fault, scope, survives in
        state.withLock { state in
          if let fault { state.scopes.failedAtTheEnd(fault) }
          state.scopes.passOnCounts(of: scope, surviving: survives)
        }
      }
    }
  }

  /// All members of the top level of a file that a step runs have ended, and been cleaned up after.
  func close(_ task: GroupTask, after members: [NodeResult]) -> Future<Void, Never> {
    guard let file = plan.file(runByGroup: task.index) else { return Future(value: ()) }
    // What is done finally has a limit of its own.
    state.withLock { $0.groups[task.scope]?.timer }?.cancel()
    return runFinally(ofFile: file, in: task.frame, after: members, hasFailed: false) {
      [self] fault, scope, survives in
      let response = state.withLock { state in
        state.scopes.passOnCounts(of: scope, surviving: survives, to: task.scope)
        return fault.map { state.scopes.failed($0, in: task.scope) } ?? .nothing
      }
      respond(to: response)
    }
  }

  /// - Parameters:
  ///   - hasFailed: Whether something had failed besides what the members tell of.
  ///   - over: Told what failed in it, its scope, and whether all around it may go on.
  private func runFinally(
    ofFile file: Int, in frame: Frame, after members: [NodeResult], hasFailed: Bool,
    _ over: @escaping @Sendable (Scopes.Fault?, Int, Bool) -> Void
  ) -> Future<Void, Never> {
    guard let index = plan.files[file].finally else { return Future(value: ()) }
    let part = Part(group: index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.open(
        in: nil, absorbing: .holding, groups: part.groups, of: plan, addresses: frame.address(of:))
      state.closeAtOnce(scope)
      return scope
    }
    let inner = Frame(
      .attempt(1), of: part, in: frame,
      firstInstance: frame.instance(ofStep: part.steps.lowerBound), firstScope: scope + 1,
      scope: scope)
    let task = GroupTask(index, of: plan, in: inner)
    let failedBefore = hasFailed || members.contains(where: \.hasFailed)
    return run(task, failedBefore: failedBefore).map { [self] outcome in
      tell(task, outcome)
      let fault = state.withLock { state in
        outcome.verdict.conclusion == .failure ? state.scopes.absorbedFault(of: scope) : nil
      }
      over(fault, scope, outcome.verdict.conclusion == .success)
    }
  }

  /// Whether a group is the one of what is done finally in its file, or in it: there, steps start whatever
  /// has failed.
  func isFinal(_ group: Int) -> Bool {
    let final = plan.bodies.finallyGroups
    return !final.isEmpty && plan.enclosingGroups(ofGroup: group).contains(where: final.contains)
  }

  /// Nothing more is done at the end either.
  func cancelClosing() {
    let responses = state.withLock { $0.scopes.cancelDetached($0.reasonToEndAtOnce) }
    for response in responses { respond(to: response) }
  }
}

extension LiveRun.State {
  /// Whoever ended the run did so also when it is ended at once; a time limit or a failure did not ask for that.
  var reasonToEndAtOnce: CancelReason {
    if case .signal(let signal)? = scopes.runCancellation { .signal(signal) } else { .requested }
  }

  /// Of what is done at the end, nothing is started in a run that is ended at once.
  fileprivate mutating func closeAtOnce(_ scope: Int) {
    if killsAtOnce { _ = scopes.cancel(scope, reasonToEndAtOnce) }
  }
}
