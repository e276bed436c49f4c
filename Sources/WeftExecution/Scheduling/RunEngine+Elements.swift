import Synchronization
import WeftDefinition
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// The elements of a loop. Each gets a frame of its own, opened when ``FanOutProgress`` has room for it.
extension RunEngine {
  func run(
    _ task: FanOutTask, _ elements: FanOutListing
  ) -> Future<NodeResult, Never> {
    let fanOut = FanOutRun(
      FanOutProgress(
        elements: elements.count, maxParallel: elements.maxParallel,
        tolerance: elements.tolerance, onFailure: response(inGroup: task.group)))
    let over = Promise<NodeResult, Never>(ifDropped: .success(.success))
    let since = time.now
    fanOut.whenThereIsRoom { [self] in
      startElements(of: task, elements, fanOut)
      guard fanOut.isOverNow else { return }
      fanOut.end()
      over.succeed(finish(task, fanOut, nil, since: since))
    }
    fanOut.start()
    return over.future
  }

  private func startElements(
    of task: FanOutTask, _ elements: FanOutListing, _ fanOut: FanOutRun
  ) {
    guard fanOut.state.withLock({ $0.progress.beginStarting() }) else { return }
    // A scope in which nothing new may start admits no new element either.
    let isEnding =
      state.withLock { $0.scopes.obstacle(in: task.scope, after: []) } != nil
      && !mayStartInSpite(task) && resumePolicy?.isReusable(task) != true
    if isEnding { noteIfElementsAreLeft(of: task, fanOut) }
    if isEnding, resumePolicy == nil { fanOut.state.withLock { $0.progress.close() } }
    while let index = fanOut.state.withLock({ $0.progress.next() }) {
      if let resumePolicy, resumePolicy.wasLeftOut(elements[index], of: task) {
        fanOut.state.withLock { $0.progress.leaveOut() }
        return
      }
      // An element that an earlier engine started is opened anyway, for its pending cleanups.
      if isEnding, let resumePolicy, !resumePolicy.mayHavePendingCleanup(elements[index], of: task)
      {
        fanOut.state.withLock { $0.progress.passOver() }
        continue
      }
      start(elements[index], of: elements.count, task, fanOut)
    }
  }

  /// Records that the cancellation of the run took effect if elements are left: those that never start emit no
  /// events.
  private func noteIfElementsAreLeft(of task: FanOutTask, _ fanOut: FanOutRun) {
    guard fanOut.state.withLock({ $0.progress.hasElementsLeft }) else { return }
    state.withLock { state in
      if state.scopes.cancellation(of: task.scope) != nil { state.scopes.noteIfCancelled() }
    }
  }

  /// Whether each element decides by itself whether to start in spite of a failure.
  private func mayStartInSpite(_ task: FanOutTask) -> Bool {
    let texts =
      switch task.member {
      case .step(let index): plan.values.texts(ofStep: index)
      case .group(let index): plan.values.texts(ofGroup: index)
      }
    return StartCondition(texts)?.looksAtFailures == true || isFinal(task.group)
  }

  private func start(
    _ element: Element, of count: Int, _ task: FanOutTask, _ fanOut: FanOutRun
  ) {
    let instance = open(element, of: count, task, fanOut)
    let above = NodeResult(conclusion: .success, blame: nil, failedBefore: task.failedBefore)
    let before: NodeResults =
      if let hindrance = task.hindrance { [above, hindrance] } else { .one(above) }
    let future: Future<NodeResult, Never>
    switch task.member {
    case .step(let index): future = Future(launchStep(index, in: instance, after: before))
    case .group(let index): future = launchElement(index, in: instance, after: before)
    }
    future.whenSettled { [self] result in
      ended(element, instance, result.get(), of: task, fanOut)
    }
  }

  private func launchElement(
    _ index: Int, in instance: Instance, after before: NodeResults
  ) -> Future<NodeResult, Never> {
    if plan.groups[index].step?.control.retry.isEmpty == false {
      return launchRepeated(index, in: instance, after: before)
    }
    let task = GroupTask(index, of: plan, in: instance)
    if let reason = whyNotStarted(task, after: before) {
      return Future(value: leaveOut(task, reason, after: before))
    }
    return run(task, failedBefore: before.contains(where: \.hasFailed)).map { [self] outcome in
      report(task, outcome)
      return outcome.result
    }
  }

  /// - Parameter fanOut: `nil` for an element that is opened only for its cleanup.
  func open(
    _ element: Element, of count: Int, _ task: FanOutTask, _ fanOut: FanOutRun?
  ) -> Instance {
    let scope = state.withLock { state in
      state.scopes.open(
        in: task.scope, boundary: .holding, groups: task.region.groups, of: plan
      ) { group in
        // A temporary frame, without numbers: only its address matters.
        Instance(
          .element(element), of: task.region, in: task.instance, firstInstance: 0, firstScope: 0,
          scope: 0
        ).address(of: group)
      }
    }
    let limits = limits(of: task.region.groups, in: task.instance)
    let steps = task.region.steps
    let order = task.instance.order(ofSteps: steps).piece(element.index, of: count)
    let row = slots.seat(
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
        plan.groups[group].maxParallel.map { slots.addLimit(slots: $0, inside: around) } ?? around
    }
    return limits
  }

  private func ended(
    _ element: Element, _ instance: Instance, _ result: NodeResult, of task: FanOutTask,
    _ fanOut: FanOutRun
  ) {
    let hasFailed = result.conclusion == .failure
    let (exceeds, fault) = state.withLock { state in
      let fault = state.scopes.boundaryFault(of: instance.scope)
      if let fault { state.scopes.note(fault, in: task.scope) }
      let exceeds = fanOut.state.withLock { fanOut in
        fanOut.note(result)
        return fanOut.progress.ended(
          hasFailed: hasFailed, isTolerable: fault?.isDoubt != true)
      }
      return (exceeds, fault)
    }
    keep(element, instance, result, of: task, fanOut)
    close(instance, hasFailed: hasFailed)
    if exceeds, let fault {
      respond(to: state.withLock { $0.scopes.hold(task.scope, because: fault.address) })
    }
    fanOut.start()
  }

  /// Stores the values of an element that expressions read.
  private func keep(
    _ element: Element, _ instance: Instance, _ result: NodeResult, of task: FanOutTask,
    _ fanOut: FanOutRun
  ) {
    guard !plan.values.reads(ofNode: task.node).isEmpty else { return }
    let own =
      instance.result(ofNode: task.node)
      ?? NodeValues(outcome: result.conclusion, conclusion: result.conclusion)
    let kept = ElementResult(index: element.index, key: element.key, values: own)
    fanOut.state.withLock { $0.results.append(kept) }
  }

  /// Closes the frame of an element that has ended. Its instance numbers are reused, unless the element failed, has
  /// cleanup steps, or wrote to a log.
  private func close(_ instance: Instance, hasFailed: Bool) {
    let region = instance.region
    let hasCleanup = region.nodes.contains { plan.bodies.cleanups[$0] != nil }
    state.withLock { $0.scopes.close(instance.scope, groups: region.groups) }
    let row = instance.firstInstance..<instance.firstInstance + region.steps.count
    // A subscriber that has fallen behind reads the output from the log.
    guard !hasFailed, !hasCleanup, !logs.hold(row) else { return keepLogs(of: row) }
    forgetLogs(of: row)
    let own = region.groups.filter { plan.groups[$0].maxParallel != nil }
    slots.unseat(row, limits: own.compactMap { instance.limits[$0] })
  }
}

extension FanOutRun {
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
