import Synchronization
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftPlanning
import WeftPlatform

/// A step or a group that is run once for each of many elements: each is a frame of its own.
struct FanOutTask: Sendable {
  enum Member: Sendable {
    case step(Int)
    case group(Int)
  }

  let member: Member
  let frame: Frame
  let part: Part
  let address: StepAddress
  /// The step, or the group by its start.
  let node: Plan.NodeIndex
  /// The group that it is in.
  let group: Int
  /// The scope around it, and its own, which is there once it has started.
  let outerScope: Int
  var scope = 0
  let fanOut: FanOut
  let failedBefore: Bool
  /// What a node is after that holds back those who wait for success; each element asks, if it looks for itself.
  let hindrance: NodeResult?

  /// Where the report has it as a whole; `nil` of a group, and of what the plan does not know by its address.
  var place: Int? {
    guard case .step(let index) = member, !frame.isInElement else { return nil }
    return index
  }

  init(_ member: Member, of plan: Plan, in frame: Frame, after results: [NodeResult]) {
    self.member = member
    self.frame = frame
    failedBefore = results.contains(where: \.hasFailed)
    hindrance = results.first(where: \.holdsBack)
    let control: StepControl?
    switch member {
    case .step(let index):
      part = Part(step: index, of: plan)
      group = plan.steps[index].group
      control = plan.steps[index].control
    case .group(let index):
      part = Part(group: index, of: plan)
      group = plan.groups[index].parent ?? 0
      control = plan.groups[index].step?.control
    }
    guard let node = part.member, let planned = part.address, let fanOut = control?.fanOut else {
      preconditionFailure("what is run for many elements says for which")
    }
    self.node = node
    self.fanOut = fanOut
    address = frame.address(of: planned)
    outerScope = frame.scope(ofGroup: group)
  }
}

extension LiveRun {
  func launchFanOut(
    _ member: FanOutTask.Member, in frame: Frame, after results: [NodeResult]
  ) -> Future<NodeResult, Never> {
    var task = FanOutTask(member, of: plan, in: frame, after: results)
    if let reason = whyNotStarted(task, after: results) {
      return Future(value: leaveOut(task, reason))
    }
    let listed = FanOutLister(values, task).listing()
    let outer = task.outerScope
    task.scope = state.withLock { $0.scopes.open(in: outer, absorbing: .waiting, of: plan) }
    switch listed {
    case .failure(let failure):
      events.publish(.groupStarted(task.address, GroupStart(elements: 0)))
      let fault = Scopes.Fault(address: task.address, failure: failure)
      let empty = FanOutRun(
        FanOutProgress(elements: 0, maxParallel: nil, tolerance: .count(0), onFailure: .stop))
      return Future(value: finish(task, empty, fault, since: time.now))
    case .success(let elements):
      events.publish(.groupStarted(task.address, GroupStart(elements: elements.count)))
      return run(task, elements)
    }
  }

  /// The condition is looked at once, unless it asks about the element: then each element does.
  private func whyNotStarted(_ task: FanOutTask, after results: [NodeResult]) -> SkipReason? {
    let (texts, isOfElements, group) =
      switch task.member {
      case .step(let index):
        (plan.values.texts(ofStep: index), plan.asksForEachElement(step: index), task.group)
      case .group(let index):
        (plan.values.texts(ofGroup: index), plan.asksForEachElement(group: index), index)
      }
    var condition = StartCondition(texts)
    if let known = condition, isOfElements {
      // Whether it starts in spite of a failure, each element finds out.
      if known.looksAtFailures {
        return state.withLock { $0.scopes.closure(of: task.outerScope, to: known) }
      }
      condition = nil
    }
    let isSelected = selection.includes(anyOf: task.part.steps)
    let admission = admission(
      condition, of: task.address, in: task.frame, scope: task.outerScope, after: results,
      inGroup: group, startsAlways: isFinal(task.group), isSelected: isSelected
    ) { () throws(StepFailure) in
      guard case .step(let index) = task.member else { return [:] }
      return try StepResolver(values, in: task.frame).variables(ofStep: index)
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
    state.withLock { $0.scopes.count(in: task.outerScope) { $0.add(reason) } }
    var own = NodeValues(outcome: reason.outcome, conclusion: reason.outcome, isGroup: true)
    own.results = []
    values.record(own, ofNode: task.node, in: task.frame)
    events.publish(.stepSkipped(task.address, reason), step: task.place)
    return NodeResult(reason, failedBefore: task.failedBefore)
  }

  // MARK: Elements

  private func run(
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
    // What lets nothing new start lets no new element start either.
    if state.withLock({ $0.scopes.obstacle(in: task.scope, after: []) }) != nil,
      !mayStartInSpite(task)
    {
      fanOut.state.withLock { $0.progress.close() }
    }
    while let index = fanOut.state.withLock({ $0.progress.next() }) {
      start(elements[index], of: task, fanOut)
    }
  }

  /// Whether the elements look for themselves whether they start in spite of a failure.
  private func mayStartInSpite(_ task: FanOutTask) -> Bool {
    let texts =
      switch task.member {
      case .step(let index): plan.values.texts(ofStep: index)
      case .group(let index): plan.values.texts(ofGroup: index)
      }
    return StartCondition(texts)?.looksAtFailures == true || isFinal(task.group)
  }

  private func start(_ element: Element, of task: FanOutTask, _ fanOut: FanOutRun) {
    let frame = open(element, of: task, fanOut)
    let above = NodeResult(conclusion: .success, blame: nil, failedBefore: task.failedBefore)
    let before = [above] + (task.hindrance.map { [$0] } ?? [])
    let future: Future<NodeResult, Never>
    switch task.member {
    case .step(let index): future = launchStep(index, in: frame, after: before)
    case .group(let index): future = launchElement(index, in: frame, after: before)
    }
    future.whenSettled { [self] result in
      ended(element, frame, result.get(), of: task, fanOut)
    }
  }

  private func launchElement(
    _ index: Int, in frame: Frame, after before: [NodeResult]
  ) -> Future<NodeResult, Never> {
    if plan.groups[index].step?.control.retry.isEmpty == false {
      return launchRepeated(index, in: frame, after: before)
    }
    let task = GroupTask(index, of: plan, in: frame)
    if let reason = whyNotStarted(task, after: before) {
      return Future(value: leaveOut(task, reason, after: before))
    }
    return run(task, failedBefore: before.contains(where: \.hasFailed)).map { [self] outcome in
      tell(task, outcome)
      return outcome.result
    }
  }

  private func open(_ element: Element, of task: FanOutTask, _ fanOut: FanOutRun) -> Frame {
    // Addresses are made with a frame that has no numbers yet.
    let naming = Frame(
      .element(element), of: task.part, in: task.frame, firstInstance: 0, firstScope: 0, scope: 0)
    let scope = state.withLock { state in
      state.scopes.open(
        in: task.scope, absorbing: .holding, groups: task.part.groups, of: plan,
        addresses: naming.address(of:))
    }
    let limits = limits(of: task.part.groups, in: task.frame)
    let row = slots.seat(
      task.part.steps.map { step in
        let group = plan.steps[step].group
        return SlotQueue.Copy(
          of: step, order: SlotQueue.Seat.order(inFile: step) | UInt64(element.index),
          limit: task.part.groups.contains(group)
            ? limits[group] : task.frame.limit(ofGroup: group, in: plan))
      })
    return Frame(
      .element(element), of: task.part, in: task.frame, firstInstance: row.lowerBound,
      firstScope: scope + 1, scope: scope, limits: limits, fanOut: fanOut)
  }

  /// For each group of a part the innermost limit around its members; those inside get limits of their own.
  private func limits(of groups: Range<Int>, in outer: Frame) -> [Int: Int] {
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
    _ element: Element, _ frame: Frame, _ result: NodeResult, of task: FanOutTask,
    _ fanOut: FanOutRun
  ) {
    let hasFailed = result.conclusion == .failure
    let (exceeds, fault) = state.withLock { state in
      let fault = state.scopes.absorbedFault(of: frame.scope)
      state.scopes.passOnCounts(of: frame.scope, surviving: !hasFailed)
      if let fault { state.scopes.note(fault, in: task.scope) }
      let exceeds = fanOut.state.withLock { fanOut in
        fanOut.note(result)
        return fanOut.progress.ended(hasFailed: hasFailed)
      }
      return (exceeds, fault)
    }
    keep(element, frame, result, of: task, fanOut)
    close(frame, hasFailed: hasFailed)
    if exceeds, let fault {
      respond(to: state.withLock { $0.scopes.hold(task.scope, because: fault.address) })
    }
    fanOut.start()
  }

  /// What others read of an element.
  private func keep(
    _ element: Element, _ frame: Frame, _ result: NodeResult, of task: FanOutTask,
    _ fanOut: FanOutRun
  ) {
    guard !plan.values.reads(ofNode: task.node).isEmpty else { return }
    let own =
      frame.result(ofNode: task.node)
      ?? NodeValues(outcome: result.conclusion, conclusion: result.conclusion)
    let kept = ElementResult(index: element.index, key: element.key, values: own)
    fanOut.state.withLock { $0.results.append(kept) }
  }

  /// Nothing of an element is left, but what of it is still to be cleaned up or may be asked for.
  private func close(_ frame: Frame, hasFailed: Bool) {
    let part = frame.part
    let hasCleanup = part.nodes.contains { plan.bodies.cleanups[$0] != nil }
    state.withLock { $0.scopes.close(frame.scope, groups: part.groups) }
    let row = frame.firstInstance..<frame.firstInstance + part.steps.count
    // Who has not kept up with the events reads from the log what was written.
    guard !hasFailed, !hasCleanup, !logs.hold(row) else { return }
    forgetLogs(of: frame)
    let own = part.groups.filter { plan.groups[$0].maxParallel != nil }
    slots.unseat(row, limits: own.compactMap { frame.limits[$0] })
  }

  // MARK: The end

  private func finish(
    _ task: FanOutTask, _ fanOut: FanOutRun, _ failure: Scopes.Fault?, since: Duration
  ) -> NodeResult {
    let (results, hasFailed, withheld) = fanOut.state.withLock {
      ($0.results, $0.progress.hasFailed, $0.withheld)
    }
    let (verdict, response) = state.withLock { state in
      let fault = failure ?? (hasFailed ? state.scopes.absorbedFault(of: task.scope) : nil)
      let cancelled = state.scopes.cancellation(of: task.scope)
      let survives = fault == nil
      state.scopes.passOnCounts(of: task.scope, surviving: survives)
      let isCutShort = !fanOut.isComplete
      let heldBack = isCutShort ? state.scopes.obstacle(in: task.outerScope, after: []) : nil
      state.scopes.close(task.scope)
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
    let duration = time.now - since
    var own = NodeValues(
      outcome: verdict.outcome, conclusion: verdict.conclusion, attempts: 1, duration: duration,
      isGroup: true)
    own.results = results.sorted { $0.index < $1.index }
    values.record(own, ofNode: task.node, in: task.frame)
    events.publish(
      .groupFinished(
        task.address,
        GroupEnd(
          outcome: verdict.outcome, conclusion: verdict.conclusion, failure: verdict.failure,
          cause: verdict.cause, duration: duration)))
    respond(to: response)
    return NodeResult(
      conclusion: verdict.conclusion, blame: verdict.blame, failedBefore: task.failedBefore)
  }
}

extension FanOutRun {
  /// Whether it has become over, which it does once.
  fileprivate var isOverNow: Bool {
    state.withLock { state in
      guard state.progress.isOver, !state.isOver else { return false }
      state.isOver = true
      return true
    }
  }

  fileprivate var isComplete: Bool { state.withLock { $0.progress.isComplete } }
}

extension Scopes.Verdict {
  /// Of what was not carried through, for a reason.
  fileprivate init(_ reason: SkipReason) {
    let result = NodeResult(reason, failedBefore: false)
    self.init(outcome: reason.outcome, conclusion: reason.outcome, blame: result.blame)
  }
}

extension Scopes {
  /// Why nothing may start in a scope, whatever each element's condition comes to.
  fileprivate func closure(of scope: Int, to condition: StartCondition) -> SkipReason? {
    absence(of: scope)
      ?? obstacle(in: scope, after: []).flatMap { condition.stands($0) ? nil : $0 }
  }
}
