import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A loop, from its start to its end.
extension RunEngine {
  func launchLoop(
    _ member: PlanMember, in instance: Instance, after results: NodeResults
  ) -> Future<NodeResult, Never> {
    var task = LoopTask(member, of: plan, in: instance, after: results)
    var listed: Result<LoopListing, StepFailure>
    switch admission(of: task, after: results) {
    case .skip(let reason): return Future(value: skipAll(task, reason))
    case .fail(let failure): listed = .failure(failure)
    case .start:
      listed = LoopLister(values, task, recorded: resumePolicy?.listing(of: task)).listing()
      if case .failure = listed, let known = rehearsedListing(of: task) { listed = known }
    }
    let outer = task.outerScope
    task.scope = state.withLock { $0.scopes.open(in: outer, boundary: .waiting, of: plan) }
    switch listed {
    case .failure(let failure):
      let isRestored = resumePolicy?.isReusable(task) ?? false
      events.publish(
        .groupStarted(task.address, GroupStart(elements: 0, isRestored: isRestored)))
      let fault = Scopes.Failure(address: task.address, failure: failure)
      let empty = LoopRun(
        LoopProgress(elements: 0, maxParallel: nil, tolerance: .count(0), onFailure: .stop))
      return Future(value: finish(task, empty, fault, since: time.now))
    case .success(var elements):
      if rehearsal?.lifts(limitOf: task.address) == true { elements.maxParallel = nil }
      skipFormerElements(of: task, now: elements)
      // The plan counts the steps of an element once.
      let size = task.region.steps.count
      events.record(.listed(task.address, elements.recorded(stepCount: size)))
      durations?.listed(task, elements: elements.count, of: plan)
      state.withLock { $0.retryBudget.add(steps: max(0, elements.count - 1) * size) }
      events.publish(
        .groupStarted(
          task.address,
          GroupStart(elements: elements.count, isRestored: resumePolicy?.isReusable(task) ?? false))
      )
      return run(task, elements)
    }
  }

  /// Decides whether a loop starts. Evaluates the condition once, unless it reads the element: then each element evaluates
  /// it.
  private func admission(of task: LoopTask, after results: NodeResults) -> Admission {
    if let recorded = resumePolicy?.beginning(of: task) {
      if let failure = resumePolicy?.failureAtStart(of: task) { return .fail(failure) }
      return recorded.skip.map(Admission.skip) ?? .start(.none)
    }
    let goesOn =
      resumePolicy?.goesOn(task, isJoined: isJoined(around: task.outerScope)) ?? false
    var condition = StartCondition(plan.texts(of: task.member))
    if let known = condition, plan.isEvaluatedPerElement(task.member) {
      // Each element decides by itself whether it starts in spite of a failure.
      if known.looksAtFailures {
        let closure = state.withLock { state in
          goesOn
            ? state.scopes.absence(of: task.outerScope)
            : state.scopes.closure(of: task.outerScope, to: known)
        }
        return closure.map(Admission.skip) ?? .start(.none)
      }
      condition = nil
    }
    return admission(
      of: task.member, at: task.address, in: task.instance, scope: task.outerScope, if: condition,
      after: results, startsAlways: plan.isFinal(task.group),
      isSelected: configuration.selection.includes(anyOf: task.region.steps),
      goesOn: goesOn)
  }

  private func skipAll(_ task: LoopTask, _ reason: SkipReason) -> NodeResult {
    schedulePendingCleanup(ofElementsOf: task, reason, scope: task.outerScope)
    var own = NodeValues.skipped(reason, .group)
    own.results = []
    values.record(own, ofNode: task.node, in: task.instance)
    durations?.skipped(task.region.steps, in: task.instance, reason)
    events.publish(.stepSkipped(task.address, reason), step: task.place)
    return NodeResult(reason, failedBefore: task.failedBefore)
  }

  // MARK: The end

  func finish(
    _ task: LoopTask, _ fanOut: LoopRun, _ failure: Scopes.Failure?, since: Duration
  ) -> NodeResult {
    let (results, hasFailed, withheld) = fanOut.state.withLock {
      ($0.results, $0.progress.hasFailed, $0.withheld)
    }
    let recorded = resumePolicy?.end(of: task)
    let notStarted = recorded?.notStarted ?? elementsNotStarted(of: task, fanOut)
    let (verdict, response) = state.withLock { state in
      let fault = failure ?? (hasFailed ? state.scopes.boundaryFault(of: task.scope) : nil)
      let cancelled = state.scopes.cancellation(of: task.scope)
      let isCutShort = !fanOut.isComplete
      let heldBack = isCutShort ? state.scopes.obstacle(in: task.outerScope, after: []) : nil
      state.scopes.close(task.scope)
      if let verdict = recorded.flatMap(Scopes.Verdict.init) {
        return (verdict, Scopes.Response.nothing)
      }
      if let fault {
        let verdict = Scopes.Verdict(failing: task.address, by: fault)
        return (verdict, state.scopes.failed(fault, in: task.outerScope))
      }
      if isCutShort, let cancelled {
        return (Scopes.Verdict(.cancelled, by: cancelled.causingStep), .nothing)
      }
      if let heldBack, withheld?.conclusion != .cancelled {
        return (Scopes.Verdict(heldBack), .nothing)
      }
      if let withheld {
        return (Scopes.Verdict(withheld.conclusion, by: withheld.causingStep), .nothing)
      }
      return (Scopes.Verdict(.success), .nothing)
    }
    let duration = recorded?.duration ?? time.now - since
    var own = NodeValues(
      outcome: verdict.outcome, conclusion: verdict.conclusion, attempts: 1, duration: duration,
      shape: .group)
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
      conclusion: verdict.conclusion, causingStep: verdict.causingStep,
      failedBefore: task.failedBefore)
  }

  private func elementsNotStarted(
    of task: LoopTask, _ fanOut: LoopRun
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

extension Scopes {
  /// The reason why nothing may start in a scope, whatever the condition evaluates to for each element.
  fileprivate func closure(of scope: Int, to condition: StartCondition) -> SkipReason? {
    absence(of: scope)
      ?? obstacle(in: scope, after: []).flatMap { condition.isReusable($0) ? nil : $0 }
  }
}

/// The elements of a loop. Each gets an instance of its own, opened when ``LoopProgress`` has room for it.
extension RunEngine {
  func run(
    _ task: LoopTask, _ elements: LoopListing
  ) -> Future<NodeResult, Never> {
    let fanOut = LoopRun(
      LoopProgress(
        elements: elements.count, maxParallel: elements.maxParallel,
        tolerance: elements.tolerance, onFailure: response(inGroup: task.group),
        visitsAll: resumePolicy != nil))
    let over = Promise<NodeResult, Never>(ifDropped: .success(.success))
    let since = time.now
    fanOut.setStarter { [self] in
      startElements(of: task, elements, fanOut)
      guard fanOut.isOverNow else { return }
      fanOut.end()
      over.succeed(finish(task, fanOut, nil, since: since))
    }
    fanOut.start()
    return over.future
  }

  private func startElements(
    of task: LoopTask, _ elements: LoopListing, _ fanOut: LoopRun
  ) {
    guard fanOut.state.withLock({ $0.progress.beginStarting() }) else { return }
    let startsAlways = mayStartDespiteFailure(task) || resumePolicy?.isReusable(task) == true
    while let index = fanOut.state.withLock({ $0.progress.next() }) {
      if let resumePolicy, resumePolicy.wasNeverStarted(elements[index], of: task) {
        return fanOut.state.withLock { $0.progress.skipAll() }
      }
      // A scope in which nothing new may start admits no new element either.
      if !startsAlways, isEnding(task) {
        guard let resumePolicy else { return fanOut.state.withLock { $0.progress.skipAll() } }
        // An element that an earlier engine started is opened anyway: what is done in it is restored, and cleanups may be
        // pending.
        if !resumePolicy.hasStarted(elements[index], of: task) {
          fanOut.state.withLock { $0.progress.skipElement() }
          continue
        }
      }
      start(elements[index], of: elements.count, task, fanOut)
    }
  }

  /// Whether no further element may start. Records that the cancellation of the run took effect, if there is one: elements
  /// that never start emit no events.
  private func isEnding(_ task: LoopTask) -> Bool {
    state.withLock { state in
      if state.scopes.obstacle(in: task.scope, after: []) == nil { return false }
      if state.scopes.cancellation(of: task.scope) != nil {
        state.scopes.recordCancellationEffect()
      }
      return true
    }
  }

  /// Whether each element decides by itself whether to start in spite of a failure.
  private func mayStartDespiteFailure(_ task: LoopTask) -> Bool {
    StartCondition(plan.texts(of: task.member))?.looksAtFailures == true || plan.isFinal(task.group)
  }

  private func start(
    _ element: Element, of count: Int, _ task: LoopTask, _ fanOut: LoopRun
  ) {
    let instance = open(element, of: count, task, fanOut)
    let above = NodeResult(conclusion: .success, causingStep: nil, failedBefore: task.failedBefore)
    var before: NodeResults =
      if let blockingResult = task.blockingResult { [above, blockingResult] } else { .one(above) }
    if !plan.bodies.services.isEmpty {
      // One that the loop needs may have failed since the loop started.
      before = withServices(before, of: task.region.nodes.lowerBound, in: task.instance)
    }
    let future: Future<NodeResult, Never>
    switch task.member {
    case .step(let index): future = Future(launchStep(index, in: instance, after: before))
    case .group(let index): future = launchElement(index, in: instance, after: before)
    }
    // At once, if it can be: otherwise the instances of all elements would be kept until the last one has started.
    if case .success(let result)? = future.outcome {
      return ended(element, instance, result, of: task, fanOut)
    }
    future.whenSettled { [self] result in
      ended(element, instance, result.get(), of: task, fanOut)
    }
  }

  private func launchElement(
    _ index: Int, in instance: Instance, after before: NodeResults
  ) -> Future<NodeResult, Never> {
    if plan.groups[index].step?.control.retry.isEmpty == false {
      return launchRegion(index, in: instance, after: before)
    }
    let task = GroupTask(index, of: plan, in: instance)
    let failedBefore = before.contains(where: \.hasFailed)
    let ending: Future<GroupOutcome, Never>
    switch admission(of: task, after: before) {
    case .skip(let reason): return Future(value: skipAll(task, reason, after: before))
    case .fail(let failure):
      ending = Future(value: failWhole(task, failure, failedBefore: failedBefore))
    case .start: ending = run(task, failedBefore: failedBefore)
    }
    return ending.map { [self] outcome in
      report(task, outcome)
      return outcome.result
    }
  }

  /// - Parameter fanOut: `nil` for an element that is opened only for its cleanup.
  func open(
    _ element: Element, of count: Int, _ task: LoopTask, _ fanOut: LoopRun?
  ) -> Instance {
    let scope = state.withLock { state in
      state.scopes.open(
        in: task.scope, boundary: .holding, groups: task.region.groups, of: plan
      ) { group in
        Instance(unnumbered: .element(element), of: task.region, in: task.instance).address(
          of: group)
      }
    }
    let limits = limits(of: task.region.groups, in: task.instance)
    let steps = task.region.steps
    let order = task.instance.order(ofSteps: steps).piece(element.index, of: count)
    let row = slots.allocate(
      steps.map { step in
        let group = plan.steps[step].group
        return SlotQueue.Copy(
          of: step, order: order.piece(step - steps.lowerBound, of: steps.count).first,
          limit: task.region.groups.contains(group)
            ? limits[group] : task.instance.limit(ofGroup: group, in: plan))
      })
    return Instance(
      .element(element), of: task.region, in: task.instance, firstInstance: row.lowerBound,
      firstScope: scope + 1, scope: scope, limits: limits, fanOut: fanOut, order: order)
  }

  /// The innermost parallel limit around the members of each group in a region; groups inside it get limits of their
  /// own.
  private func limits(of groups: Range<Int>, in outer: Instance) -> [Int: Int] {
    guard groups.contains(where: { plan.groups[$0].maxParallel != nil }) else {
      guard let first = groups.first,
        let limit = outer.limit(ofGroup: plan.groups[first].parent ?? 0, in: plan)
      else { return [:] }
      return Dictionary(uniqueKeysWithValues: groups.map { ($0, limit) })
    }
    var limits: [Int: Int] = [:]
    for group in groups {
      let parent = plan.groups[group].parent ?? 0
      let around = groups.contains(parent) ? limits[parent] : outer.limit(ofGroup: parent, in: plan)
      limits[group] =
        plan.groups[group].maxParallel
        .map { slots.addLimit(slots: $0, inside: around, of: group) } ?? around
    }
    return limits
  }

  private func ended(
    _ element: Element, _ instance: Instance, _ result: NodeResult, of task: LoopTask,
    _ fanOut: LoopRun
  ) {
    let hasFailed = result.conclusion == .failure
    // Before the loop may be over: another element that ends now would read the values of all.
    keep(element, instance, result, of: task, fanOut)
    let (exceeds, fault) = state.withLock { state in
      let fault = state.scopes.boundaryFault(of: instance.scope)
      if let fault { state.scopes.record(fault, in: task.scope) }
      let exceeds = fanOut.state.withLock { fanOut in
        fanOut.record(result)
        return fanOut.progress.ended(
          hasFailed: hasFailed, isTolerable: fault?.isDoubt != true)
      }
      return (exceeds, fault)
    }
    close(instance, hasFailed: hasFailed)
    if exceeds, let fault {
      respond(to: state.withLock { $0.scopes.hold(task.scope, because: fault.address) })
    }
    fanOut.start()
  }

  /// Stores the values of an element that expressions read.
  private func keep(
    _ element: Element, _ instance: Instance, _ result: NodeResult, of task: LoopTask,
    _ fanOut: LoopRun
  ) {
    guard !plan.values.reads(ofNode: task.node).isEmpty else { return }
    let own =
      instance.result(ofNode: task.node)
      ?? NodeValues(outcome: result.conclusion, conclusion: result.conclusion)
    let kept = ElementResult(index: element.index, key: element.key, values: own)
    fanOut.state.withLock { $0.results.append(kept) }
  }

  /// Closes the instance of an element that has ended. Its instance numbers are reused, unless the element failed, has
  /// cleanup steps, or wrote to a log.
  private func close(_ instance: Instance, hasFailed: Bool) {
    let region = instance.region
    let hasCleanup = region.nodes.contains { plan.bodies.cleanups[$0] != nil }
    state.withLock { $0.scopes.close(instance.scope, groups: region.groups) }
    let row = instance.firstInstance..<instance.firstInstance + region.steps.count
    // A subscriber that has fallen behind reads the output from the log.
    guard !hasFailed, !hasCleanup, !logs.hold(row) else { return logOwners.keep(row) }
    logOwners.forget(row)
    let own = region.groups.filter { plan.groups[$0].maxParallel != nil }
    slots.deallocate(row, limits: own.compactMap { instance.limits[$0] })
  }
}

extension LoopRun {
  /// Whether the loop is over; true only once.
  fileprivate var isOverNow: Bool {
    state.withLock { state in
      guard state.progress.isOver, !state.isOver else { return false }
      state.isOver = true
      return true
    }
  }

  var isComplete: Bool { state.withLock { $0.progress.isComplete } }
}
