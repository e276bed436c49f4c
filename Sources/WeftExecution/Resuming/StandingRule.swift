import WeftDefinition
import WeftPlanning

/// Whether a group had started in an earlier part of a run.
enum PastBeginning {
  case begun
  case skipped(SkipReason)

  /// Why it does not start now.
  var skip: SkipReason? {
    if case .skipped(let reason) = self { reason } else { nil }
  }
}

/// Decides what of an earlier part of a run stands in a plan, and so is not done again (SPEC §7).
///
/// A step stands if it has succeeded or its failure was tolerated. Inside of a group that has ended well, and of
/// what was run for many, everything stands as it ended: the losers of a race too. What a group had done before
/// it was tried again has not happened. What is done finally, and what cleans up, is done again.
struct StandingRule: Sendable {
  let plan: Plan
  let past: RecordedRun
  let anew: StepsAnew
  /// For each node, those that wait for it.
  private let dependents: [Int: [Int]]

  init(plan: Plan, past: RecordedRun, anew: StepsAnew = StepsAnew()) {
    (self.plan, self.past, self.anew) = (plan, past, anew)
    dependents = plan.dependents
  }

  // MARK: Steps

  /// How a step ended, if that stands.
  func end(of task: StepTask) -> RecordedStep? {
    end(ofStep: task.index, in: task.frame, isCleanup: task.isCleanup)
  }

  private func end(
    ofStep index: Int, in frame: Frame, isCleanup: Bool = false
  ) -> RecordedStep? {
    let step = plan.steps[index]
    guard let end = recorded(index, in: frame), end.isOver || end.leftOut != nil else {
      return nil
    }
    let around = surroundings(ofGroup: step.group, in: frame)
    if let stands = outermostDone(of: around) { return stands ? end : nil }
    guard !isCleanup, !isFinal(step.group), end.hasSucceeded else { return nil }
    let isMissed = !isWhole(end, step) || isCleaned(step.node, in: frame, since: end.number)
    return isMissed && isNeeded(step.node, in: frame) ? nil : end
  }

  /// What is recorded of a step, unless it is to be done again, or has become void.
  private func recorded(_ index: Int, in frame: Frame) -> RecordedStep? {
    let step = plan.steps[index]
    let address = frame.address(of: step.address)
    guard !anew.contains(index, address), let known = past.steps[address],
      isValid(known.number, in: step.group, frame)
    else { return nil }
    return known
  }

  /// Whether all is recorded that expressions read of a step.
  private func isWhole(_ end: RecordedStep, _ step: PlannedStep) -> Bool {
    guard case .finished(let end, let kept) = end.state else { return true }
    let reads = plan.values.reads(ofNode: step.node)
    // What a request was answered is in no record.
    if case .http = step.step.action { return reads.isEmpty }
    return kept.answers(reads, end)
  }

  /// Why a step is not just started again: nobody knows how far it came, or it has succeeded and nobody knows
  /// what it handed on.
  func doubt(about task: StepTask) -> StepFailure? {
    guard !task.isCleanup, !isFinal(task.step.group), task.step.makesAttempts,
      !task.step.step.isMadeAgain,
      let known = recorded(task.index, in: task.frame)
    else { return nil }
    if known.isInDoubt { return .cutOff(task.address) }
    return known.hasSucceeded && !isWhole(known, task.step) ? .notKept(task.address) : nil
  }

  /// Until when a step waits that had begun to.
  func waitEnd(of task: StepTask) -> WallTime? {
    guard let known = recorded(task.index, in: task.frame), !known.hasSucceeded else { return nil }
    return known.waitsUntil
  }

  // MARK: Groups

  /// Whether a group has ended well, and that stands.
  func stands(_ task: GroupTask) -> Bool {
    stands(Surrounding(.group(task.index), task.frame, task.address))
  }

  func stands(_ task: FanOutTask) -> Bool { stands(Surrounding(task)) }

  /// How a group ended that has, if that stands.
  func end(of task: GroupTask) -> GroupEnd? {
    guard case .finished(let end)? = past.groups[task.address]?.state, stands(task) else {
      return nil
    }
    return end
  }

  /// Whether something that stands, or is inside of what does, began at all; `nil`: that is to be found out.
  func beginning(of task: GroupTask) -> PastBeginning? {
    beginning(of: Surrounding(.group(task.index), task.frame, task.address))
  }

  func beginning(of task: FanOutTask) -> PastBeginning? { beginning(of: Surrounding(task)) }

  private func beginning(of group: Surrounding) -> PastBeginning? {
    guard stands(group) else { return nil }
    let beginning = beginning(around: group)
    if case .skipped(let reason)? = past.step(group.address, since: beginning)?.state {
      return .skipped(reason)
    }
    if past.group(group.address, since: beginning)?.hasBegun == true { return .begun }
    // A group that never started is told of by its steps.
    let reasons = steps(in: group).lazy.compactMap { index -> SkipReason? in
      let address = group.frame.address(of: plan.steps[index].address)
      guard let known = past.step(address, since: beginning) else { return nil }
      if case .skipped(let reason) = known.state { return reason }
      return known.leftOut
    }
    return reasons.first.map { .skipped($0) } ?? .begun
  }

  /// Whether an element was never begun in what stands: the whole was over before.
  func wasLeftOut(_ element: Element, of task: FanOutTask) -> Bool {
    guard stands(task) else { return false }
    let address = StepAddress("\(task.address.text)[\(element.key)]")
    let beginning = beginning(around: Surrounding(task))
    return past.step(address, since: beginning) == nil
      && past.group(address, since: beginning) == nil
  }

  private func stands(_ group: Surrounding) -> Bool {
    outermostDone(of: [group] + surroundings(of: group)) ?? false
  }

  /// For what something is run, as it was found out before.
  func listing(of task: FanOutTask) -> RecordedElements? {
    guard let known = past.groups[task.address], let elements = known.elements,
      !elements.isSecret, isValid(known.number, in: task.group, task.frame),
      !anew.contains(task)
    else { return nil }
    return elements
  }

  // MARK: Clean-up

  /// Whether a step that was started has not been cleaned up after.
  func owesCleanup(_ task: StepTask) -> Bool {
    guard plan.bodies.cleanups[task.step.node] != nil, let known = past.steps[task.address],
      known.hasStarted
    else { return false }
    return !isCleaned(task.step.node, in: task.frame, since: known.number)
  }

  /// Whether a group that was started has not been cleaned up after.
  func owesCleanup(_ task: GroupTask) -> Bool {
    let node = plan.groups[task.index].startNode
    guard plan.bodies.cleanups[node] != nil, let known = past.groups[task.address], known.hasBegun
    else { return false }
    return !isCleaned(node, in: task.frame.aroundAttempts(of: node), since: known.number)
  }

  /// Whether a group stands that has been cleaned up after.
  func isCleaned(_ task: GroupTask) -> Bool {
    guard stands(task), let at = doneSince(task.address) else { return false }
    let node = plan.groups[task.index].startNode
    return isCleaned(node, in: task.frame.aroundAttempts(of: node), since: at)
  }

  /// Whether all that cleans up after a step or group has been done since it ended.
  private func isCleaned(_ node: Plan.NodeIndex, in frame: Frame, since at: UInt64) -> Bool {
    guard let steps = plan.bodies.cleanups[node] else { return false }
    return steps.allSatisfy { step in
      let address = frame.address(of: plan.steps[Int(step)].address)
      return past.steps[address].map { $0.hasSucceeded && $0.number > at } ?? false
    }
  }

  // MARK: What is around

  /// A group around a step, or what it is an element of.
  private struct Surrounding {
    enum Kind: Equatable {
      case group(Int)
      case fanOut(FanOutTask.Member)
    }

    let kind: Kind
    /// In which it stands.
    let frame: Frame
    let address: StepAddress

    init(_ kind: Kind, _ frame: Frame, _ address: StepAddress) {
      (self.kind, self.frame, self.address) = (kind, frame, address)
    }

    init(_ task: FanOutTask) { self.init(.fanOut(task.member), task.frame, task.address) }
  }

  /// The groups around, from the innermost on, and what is run for many; `frame` is one that has them.
  private func surroundings(ofGroup group: Int, in frame: Frame) -> [Surrounding] {
    var found: [Surrounding] = []
    var (group, frame) = (group, frame)
    while true {
      // What is outside of the frame's part is in the one around it.
      while !frame.part.groups.contains(group), let parent = frame.parent {
        if case .element = frame.kind, let address = frame.part.address {
          found.append(
            Surrounding(
              .fanOut(frame.part.memberOfFanOut(in: plan)), parent, parent.address(of: address)))
        }
        frame = parent
      }
      guard group > 0 else { break }
      if let address = plan.groups[group].address, !plan.groups[group].isTopLevel {
        found.append(Surrounding(.group(group), frame, frame.address(of: address)))
      }
      group = plan.groups[group].parent ?? 0
    }
    return found
  }

  private func surroundings(of inner: Surrounding) -> [Surrounding] {
    switch inner.kind {
    case .group(let index):
      surroundings(ofGroup: plan.groups[index].parent ?? 0, in: inner.frame)
    case .fanOut(.group(let index)):
      surroundings(ofGroup: plan.groups[index].parent ?? 0, in: inner.frame)
    case .fanOut(.step(let index)): surroundings(ofGroup: plan.steps[index].group, in: inner.frame)
    }
  }

  /// The number of the record by which a group had ended well; `nil` if it had not.
  private func doneSince(_ address: StepAddress) -> UInt64? {
    guard let known = past.groups[address], case .finished(let end) = known.state,
      end.conclusion == .success
    else { return nil }
    return known.number
  }

  /// Whether it has ended well, and nothing in it is to be done again.
  private func isDone(_ group: Surrounding) -> Bool {
    guard doneSince(group.address) != nil, isFirstTime(group.frame) else { return false }
    return !anew.steps.contains { steps(in: group).contains($0) }
      && !anew.addresses.contains { isInside($0, group) }
  }

  /// Whether the outermost of groups that has ended well stands, and with it all that is in it; `nil`: none has.
  private func outermostDone(of groups: [Surrounding]) -> Bool? {
    groups.last(where: isDone).map { !isUndone($0) }
  }

  /// Whether it has been cleaned up after though something needs it that is still to be done.
  private func isUndone(_ group: Surrounding) -> Bool {
    guard let at = doneSince(group.address), case .group(let index) = group.kind else {
      return false
    }
    let node = plan.groups[index].startNode
    let frame = group.frame.aroundAttempts(of: node)
    return isCleaned(node, in: frame, since: at) && isNeeded(plan.groups[index].endNode, in: frame)
  }

  private func steps(in group: Surrounding) -> Range<Int> {
    switch group.kind {
    case .group(let index), .fanOut(.group(let index)): plan.steps(inGroup: index)
    case .fanOut(.step(let index)): index..<index + 1
    }
  }

  /// Whether an address is of something in a group; one of an element says so by its beginning.
  private func isInside(_ address: StepAddress, _ group: Surrounding) -> Bool {
    address.text.hasPrefix(group.address.text + "[")
      || steps(in: group).contains { group.frame.address(of: plan.steps[$0].address) == address }
  }

  // MARK: What is void

  /// Whether what was recorded then has not been undone since by another attempt of a group around it, and
  /// whether this is the attempt that goes on.
  private func isValid(_ at: UInt64, in group: Int, _ frame: Frame) -> Bool {
    isFirstTime(frame) && at > beginning(of: surroundings(ofGroup: group, in: frame))
  }

  private func beginning(around group: Surrounding) -> UInt64 {
    beginning(of: surroundings(of: group))
  }

  /// The number of the record before which nothing counts in all of these groups.
  private func beginning(of groups: [Surrounding]) -> UInt64 {
    groups.lazy.compactMap { past.groups[$0.address]?.begunBy }.max() ?? 0
  }

  /// Whether no group around is being tried again since the run has been gone on with.
  private func isFirstTime(_ frame: Frame) -> Bool {
    var next: Frame? = frame
    while let frame = next {
      if case .attempt(let number) = frame.kind, number > 1 { return false }
      next = frame.parent
    }
    return true
  }

  private func isFinal(_ group: Int) -> Bool {
    let final = plan.bodies.finallyGroups
    return !final.isEmpty && plan.enclosingGroups(ofGroup: group).contains(where: final.contains)
  }

  // MARK: Who needs it

  /// Whether something waits for a node, however far below, that is not done.
  private func isNeeded(_ node: Plan.NodeIndex, in frame: Frame) -> Bool {
    var (seen, next) = (Set([node]), [node])
    while let node = next.popLast() {
      for dependent in dependents[node] ?? [] where seen.insert(dependent).inserted {
        if !isSettled(dependent, seenFrom: frame) { return true }
        next.append(dependent)
      }
    }
    return false
  }

  /// Whether what a node is there for is done, as far as can be said from here: of what is run for many it is
  /// asked as a whole.
  private func isSettled(_ node: Plan.NodeIndex, seenFrom inner: Frame) -> Bool {
    guard case .step(let index) = plan.nodes[node] else { return true }
    var frame = inner
    while !frame.part.nodes.contains(node), let parent = frame.parent { frame = parent }
    let step = plan.steps[Int(index)]
    if isFinal(step.group) { return true }
    if let loop = outermostLoop(around: Int(index), below: frame) {
      return doneSince(frame.address(of: loop)) != nil
    }
    let address = frame.address(of: step.address)
    guard let known = past.steps[address] else { return false }
    // What its own condition kept from running needs nothing.
    if case .skipped(let reason) = known.state { return !reason.holdsBack }
    return known.hasSucceeded && !anew.contains(Int(index), address)
  }

  /// What is run for many around a step, or the step itself, that a frame is not in.
  private func outermostLoop(around index: Int, below frame: Frame) -> StepAddress? {
    var found: StepAddress?
    let step = plan.steps[index]
    if step.hasControl, step.control.fanOut != nil, !frame.isElement(of: step.node) {
      found = step.address
    }
    for group in plan.enclosingGroups(ofGroup: step.group) where group > 0 {
      let node = plan.groups[group].startNode
      if frame.isElement(of: node) || !frame.part.groups.contains(group) { break }
      if plan.groups[group].step?.control.fanOut != nil { found = plan.groups[group].address }
    }
    return found
  }
}

extension RecordedStep {
  fileprivate var hasStarted: Bool {
    switch state {
    case .finished, .started, .retrying: true
    case .queued, .skipped: false
    }
  }

  /// Whether it had an end, be it that it never started.
  fileprivate var isOver: Bool {
    switch state {
    case .finished, .skipped: true
    case .queued, .started, .retrying: false
    }
  }

  /// Whether it succeeded, or its failure was tolerated.
  fileprivate var hasSucceeded: Bool {
    if case .finished(let end, _) = state { end.conclusion == .success } else { false }
  }
}

extension RecordedGroup {
  fileprivate var hasBegun: Bool {
    switch state {
    case .started, .retrying, .finished: true
    case .listed: false
    }
  }
}

extension StepsAnew {
  fileprivate func contains(_ task: FanOutTask) -> Bool {
    addresses.contains(task.address) || task.part.steps.contains(where: steps.contains)
  }
}

extension Part {
  /// What of the plan is run for many, if this is a part of one element.
  fileprivate func memberOfFanOut(in plan: Plan) -> FanOutTask.Member {
    guard let member, case .groupStart(let group) = plan.nodes[member] else {
      return .step(steps.lowerBound)
    }
    return .group(Int(group))
  }
}

extension Plan {
  /// For each node, those that wait for it.
  fileprivate var dependents: [Int: [Int]] {
    var dependents: [Int: [Int]] = [:]
    for node in nodes.indices {
      for need in dependencies[node] { dependents[Int(need), default: []].append(node) }
    }
    return dependents
  }
}

extension StepFailure {
  fileprivate static func cutOff(_ step: StepAddress) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "is in doubt: it was running when the engine was killed, and nobody knows how far it came",
      help:
        "look what it has done, then go on with --rerun \(step); \"idempotent\": true says that it may always be started again"
    )
  }

  fileprivate static func notKept(_ step: StepAddress) -> StepFailure {
    StepFailure(
      classes: [.inDoubt],
      message:
        "has succeeded, but what others read of it was secret, or an answer to a request, and is not recorded",
      help:
        "go on with --rerun \(step); \"idempotent\": true says that it may always be started again")
  }
}
