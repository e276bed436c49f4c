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
    return cleaned.flatMap { [self] in runFinally(after: members) }
  }

  private func runFinally(after members: [NodeResult]) -> Future<Void, Never> {
    guard let index = plan.bodies.finallyGroup else { return Future(value: ()) }
    let part = Part(group: index, of: plan)
    let scope = state.withLock { state in
      let scope = state.scopes.open(in: nil, absorbing: .holding, groups: part.groups, of: plan)
      state.closeAtOnce(scope)
      return scope
    }
    let inner = Frame(
      .attempt(1), of: part, in: frame, firstInstance: part.steps.lowerBound,
      firstScope: scope + 1, scope: scope)
    let task = GroupTask(index, of: plan, in: inner)
    let hasFailed =
      members.contains(where: \.hasFailed) || state.withLock { $0.scopes.firstFault != nil }
    return run(task, failedBefore: hasFailed).map { [self] outcome in
      tell(task, outcome)
      state.withLock { state in
        if outcome.verdict.conclusion == .failure,
          let fault = state.scopes.absorbedFault(of: scope)
        {
          state.scopes.failedAtTheEnd(fault)
        }
        state.scopes.passOnCounts(of: scope, surviving: outcome.verdict.conclusion == .success)
      }
    }
  }

  /// Whether a group is the one of what is done finally, or in it: there, steps start whatever has failed.
  func isFinal(_ group: Int) -> Bool {
    guard let final = plan.bodies.finallyGroup else { return false }
    return group == final || plan.enclosingGroups(ofGroup: group).contains(final)
  }

  /// Nothing more is done at the end either.
  func cancelClosing() {
    let responses = state.withLock { $0.scopes.cancelDetached($0.reasonToEndAtOnce) }
    for response in responses { respond(to: response) }
  }
}

extension LiveRun.State {
  fileprivate var reasonToEndAtOnce: CancelReason { scopes.runCancellation ?? .requested }

  /// Of what is done at the end, nothing is started in a run that is ended at once.
  fileprivate mutating func closeAtOnce(_ scope: Int) {
    if killsAtOnce { _ = scopes.cancel(scope, reasonToEndAtOnce) }
  }
}
