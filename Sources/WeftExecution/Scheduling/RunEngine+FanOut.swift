import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A loop, from its start to its end.
extension RunEngine {
  func launchFanOut(
    _ member: FanOutTask.Member, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    var task = FanOutTask(member, of: plan, in: instance, after: results)
    if let reason = whyNotStarted(task, after: results) {
      return Future(value: leaveOut(task, reason))
    }
    let listed = FanOutLister(values, task, recorded: resumePolicy?.listing(of: task)).listing()
    let outer = task.outerScope
    task.scope = state.withLock { $0.scopes.open(in: outer, boundary: .waiting, of: plan) }
    switch listed {
    case .failure(let failure):
      events.publish(.groupStarted(task.address, GroupStart(elements: 0)))
      let fault = Scopes.Fault(address: task.address, failure: failure)
      let empty = FanOutRun(
        FanOutProgress(elements: 0, maxParallel: nil, tolerance: .count(0), onFailure: .stop))
      return Future(value: finish(task, empty, fault, since: time.now))
    case .success(let elements):
      leaveOutFormerElements(of: task, now: elements)
      events.note(.listed(task.address, elements.recorded))
      durations?.listed(task, elements: elements.count, of: plan)
      events.publish(
        .groupStarted(
          task.address,
          GroupStart(elements: elements.count, isRestored: resumePolicy?.isReusable(task) ?? false))
      )
      return run(task, elements)
    }
  }

  /// The reason why a loop does not start; `nil` if it does. Evaluates the condition once, unless it reads the
  /// element: then each element evaluates it.
  private func whyNotStarted(_ task: FanOutTask, after results: NodeResults) -> SkipReason? {
    if let past = resumePolicy?.beginning(of: task) { return past.skip }
    let (texts, isOfElements, group) =
      switch task.member {
      case .step(let index):
        (plan.values.texts(ofStep: index), plan.asksForEachElement(step: index), task.group)
      case .group(let index):
        (plan.values.texts(ofGroup: index), plan.asksForEachElement(group: index), index)
      }
    var condition = StartCondition(texts)
    if let known = condition, isOfElements {
      // Each element decides by itself whether it starts in spite of a failure.
      if known.looksAtFailures {
        return state.withLock { $0.scopes.closure(of: task.outerScope, to: known) }
      }
      condition = nil
    }
    let isSelected = selection.includes(anyOf: task.region.steps)
    let admission = admission(
      condition, of: task.address, in: task.instance, scope: task.outerScope, after: results,
      inGroup: group, startsAlways: isFinal(task.group), isSelected: isSelected
    ) { () throws(StepFailure) in
      guard case .step(let index) = task.member else { return [:] }
      return try StepResolver(values, in: task.instance).variables(ofStep: index)
    }
    switch admission {
    case .start: return nil
    case .skip(let reason): return reason
    case .fail(let failure):
      respond(
        to: state.withLock {
          $0.scopes.failed(
            Scopes.Fault(address: task.address, failure: failure), in: task.outerScope)
        })
      return .dependencyFailed(task.address)
    }
  }

  private func leaveOut(_ task: FanOutTask, _ reason: SkipReason) -> NodeResult {
    schedulePendingCleanup(ofElementsOf: task, reason, scope: task.outerScope)
    var own = NodeValues(outcome: reason.outcome, conclusion: reason.outcome, isGroup: true)
    own.results = []
    values.record(own, ofNode: task.node, in: task.instance)
    durations?.skipped(task.region.steps, in: task.instance, reason)
    events.publish(.stepSkipped(task.address, reason), step: task.place)
    return NodeResult(reason, failedBefore: task.failedBefore)
  }

  // MARK: The end

  func finish(
    _ task: FanOutTask, _ fanOut: FanOutRun, _ failure: Scopes.Fault?, since: Duration
  ) -> NodeResult {
    let (results, hasFailed, withheld) = fanOut.state.withLock {
      ($0.results, $0.progress.hasFailed, $0.withheld)
    }
    let past = resumePolicy?.end(of: task)
    let notStarted = past?.notStarted ?? elementsNotStarted(of: task, fanOut)
    let (verdict, response) = state.withLock { state in
      let fault = failure ?? (hasFailed ? state.scopes.boundaryFault(of: task.scope) : nil)
      let cancelled = state.scopes.cancellation(of: task.scope)
      let isCutShort = !fanOut.isComplete
      let heldBack = isCutShort ? state.scopes.obstacle(in: task.outerScope, after: []) : nil
      state.scopes.close(task.scope)
      if let verdict = past.flatMap(Scopes.Verdict.init) {
        return (verdict, Scopes.Response.nothing)
      }
      if let fault {
        let verdict = Scopes.Verdict(
          outcome: .failure, conclusion: .failure, failure: fault.failure,
          cause: fault.address == task.address ? nil : fault.address, blame: fault.address)
        return (verdict, state.scopes.failed(fault, in: task.outerScope))
      }
      if isCutShort, let cancelled {
        let verdict = Scopes.Verdict(
          outcome: .cancelled, conclusion: .cancelled, blame: cancelled.culprit)
        return (verdict, .nothing)
      }
      if let heldBack, withheld?.conclusion != .cancelled {
        return (Scopes.Verdict(heldBack), .nothing)
      }
      if let withheld {
        let verdict = Scopes.Verdict(
          outcome: withheld.conclusion, conclusion: withheld.conclusion, blame: withheld.blame)
        return (verdict, .nothing)
      }
      return (Scopes.Verdict(outcome: .success, conclusion: .success), .nothing)
    }
    let duration = past?.duration ?? time.now - since
    var own = NodeValues(
      outcome: verdict.outcome, conclusion: verdict.conclusion, attempts: 1, duration: duration,
      isGroup: true)
    own.results = results.sorted { $0.index < $1.index }
    values.record(own, ofNode: task.node, in: task.instance)
    durations?.closed(task.region.steps, in: task.instance)
    events.publish(
      .groupFinished(
        task.address,
        GroupEnd(
          outcome: verdict.outcome, conclusion: verdict.conclusion, failure: verdict.failure,
          cause: verdict.cause, notStarted: notStarted, duration: duration)))
    respond(to: response)
    return NodeResult(
      conclusion: verdict.conclusion, blame: verdict.blame, failedBefore: task.failedBefore)
  }

  private func elementsNotStarted(
    of task: FanOutTask, _ fanOut: FanOutRun
  ) -> ElementsNotStarted? {
    let count = fanOut.state.withLock { $0.progress.notStarted }
    guard count > 0 else { return nil }
    let reason = state.withLock { $0.scopes.obstacle(in: task.scope, after: []) }
    let cleanups = task.region.steps.filter(plan.bodies.cleanupSteps.contains)
    return ElementsNotStarted(
      elements: count, steps: count * (task.region.steps.count - cleanups.count),
      outcome: reason?.outcome ?? .skipped)
  }
}

extension ResumePolicy {
  /// The recorded end of a loop, if it succeeded under an earlier engine and is reusable.
  fileprivate func end(of task: FanOutTask) -> GroupEnd? {
    guard case .finished(let end)? = past.groups[task.address]?.state, isReusable(task) else {
      return nil
    }
    return end
  }
}

extension Scopes.Verdict {
  /// The verdict on a loop that did not run to its end, for this reason.
  fileprivate init(_ reason: SkipReason) {
    let result = NodeResult(reason, failedBefore: false)
    self.init(outcome: reason.outcome, conclusion: reason.outcome, blame: result.blame)
  }
}

extension Scopes {
  /// The reason why nothing may start in a scope, whatever the condition evaluates to for each element.
  fileprivate func closure(of scope: Int, to condition: StartCondition) -> SkipReason? {
    absence(of: scope)
      ?? obstacle(in: scope, after: []).flatMap { condition.isReusable($0) ? nil : $0 }
  }
}
