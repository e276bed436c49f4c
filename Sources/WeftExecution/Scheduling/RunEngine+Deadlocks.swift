import Synchronization
import WeftDefinition
import WeftDiagnostics
import WeftEvents
import WeftPlanning
import WeftPlatform

/// Fails a step that waits for slots of a pool which services keep that end only after it. Resources are pools, too.
///
/// The planner reports those that are certain. Whether others wait for ever depends on conditions, on the number of
/// elements, on the order in which groups get their slots, and on the machine.
extension RunEngine {
  /// Watches a step that may wait for slots which services keep.
  func watchForDeadlock(of task: StepTask) {
    guard plan.bodies.services.keepPools, task.step.takesPools else { return }
    let begins = state.withLock { state in
      guard state.deadlockDetector == nil else { return false }
      state.deadlockDetector = DeadlockDetector()
      return true
    }
    if begins { checkForDeadlock() }
  }

  private func checkForDeadlock() {
    // The waiting steps are read before the running ones: a step goes from the former to the latter.
    let (waiting, happened) = (slots.lackingOnlyPools(), events.changeCount)
    let isOver = slots.waiting().isEmpty
    let isDeadlock = state.withLock { state -> Bool? in
      guard !isOver, state.left == nil else {
        // The next step that waits starts the watch again.
        state.deadlockDetector = nil
        return nil
      }
      let isStill = !waiting.isEmpty && state.areOnlyServicesUp
      return state.deadlockDetector?.check(isStill: isStill, happened: happened)
    }
    guard let isDeadlock else { return }
    let timer = time.schedule(after: DeadlockDetector.interval) { [weak self] in
      self?.checkForDeadlock()
    }
    state.withLock { $0.deadlockTimer = timer }
    if isDeadlock, let (step, lack) = waiting.first { fail(waiting: step, lack) }
  }

  private func fail(waiting step: Int, _ lack: SlotQueue.Lacking) {
    guard case .pool(let index) = lack.lack else { return }
    let pool = slots.name(ofPool: index)
    state.withLock { state in
      let services = lack.holders.compactMap { state.services[$0]?.address }
      state.deadlocked[step] = .deadlock(pool, keptBy: services)
    }
    slots.refuse(CollectionOfOne(step))
  }

  /// The failure of a step that would wait for ever; `nil` if it may wait.
  func takeDeadlock(of task: StepTask) -> StepFailure? {
    guard plan.bodies.services.keepPools else { return nil }
    return state.withLock { $0.deadlocked.removeValue(forKey: task.instanceNumber) }
  }
}

extension RunEngine.State {
  /// Whether nothing runs or waits for a time or an answer, except for services that are up.
  fileprivate var areOnlyServicesUp: Bool {
    running.isEmpty && pauses.isEmpty && approvals.requests.isEmpty && !killsAtOnce
      && services.values.allSatisfy { $0.stop != nil && !$0.isStopping }
  }
}

/// Decides when steps wait for ever: nothing but services has run for a while, and nothing has happened. The while
/// covers work that is passing from one step to the next, such as a lookup in the cache.
struct DeadlockDetector: Sendable, Hashable {
  static let interval = Duration.milliseconds(250)
  private static let patience = 8

  private var stillSince: UInt64?
  private var checks = 0

  /// - Parameters:
  ///   - isStill: Whether nothing runs except for services, and every waiting step lacks slots of a pool.
  ///   - happened: The number of events so far, without output and progress.
  mutating func check(isStill: Bool, happened: UInt64) -> Bool {
    guard isStill, stillSince == happened else {
      (stillSince, checks) = (isStill ? happened : nil, 0)
      return false
    }
    checks += 1
    return checks >= DeadlockDetector.patience
  }
}

extension StepFailure {
  fileprivate static func deadlock(_ pool: String, keptBy services: [StepAddress]) -> StepFailure {
    let names = QuotedList(services.map(\.text), conjunction: "and")
    let isResource = CountedResource(pool: pool) != nil
    return StepFailure(
      classes: [.limit],
      message: "would wait for ever for \(CountedResource.noun(ofPool: pool)): \(names) "
        + "\(services.count == 1 ? "keeps" : "keep") \(isResource ? "some" : "its slots"), and "
        + "\(services.count == 1 ? "ends" : "end") only after this step",
      help: (isResource ? "request less in \"resources\"" : "give the pool more slots")
        + ", or put a group around a service and the steps that use it")
  }
}
