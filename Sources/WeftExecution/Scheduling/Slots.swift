import Synchronization
import WeftFutures
import WeftPlanning

/// Hands out job slots as futures: what ``SlotQueue`` decides becomes the settling of promises.
final class Slots: Sendable {
  enum Answer: Sendable {
    /// The step holds a slot until it is released.
    case granted
    /// The step waited when its turn was called off.
    case refused
  }

  private struct State {
    var queue: SlotQueue
    var promises: [Int: Promise<Answer, Never>] = [:]
    /// Whether a grant is on its way that will see new requests, too.
    var grantIsComing = false

    mutating func takePromises(of steps: [Int]) -> [Promise<Answer, Never>] {
      steps.map { promises.removeValue(forKey: $0)! }
    }
  }

  private let state: Mutex<State>

  init(plan: Plan, maxParallel: Int) {
    state = Mutex(State(queue: SlotQueue(plan: plan, slots: maxParallel)))
  }

  /// Waits for a slot of the run and of every limited group around the step.
  ///
  /// It is not given before everything that became ready together is waiting, so that the best of all
  /// comes first and not the first of all.
  func acquire(_ step: Int) -> Future<Answer, Never> {
    let promise = Promise<Answer, Never>(ifDropped: .success(.refused))
    let isFirst = state.withLock { state in
      state.promises[step] = promise
      state.queue.request(step)
      defer { state.grantIsComing = true }
      return !state.grantIsComing
    }
    if isFirst { afterwards { [self] in grant() } }
    return promise.future
  }

  /// Gives a step's slots back, once everything that its end has made ready is waiting too.
  func release(_ step: Int) {
    afterwards { [self] in
      state.withLock { $0.queue.release(step) }
      grant()
    }
  }

  /// Turns away the steps of a range that are waiting.
  func refuse(_ range: Range<Int>) {
    let refused = state.withLock { state in
      let waiting = state.queue.waiting(in: range)
      for step in waiting { state.queue.withdraw(step) }
      return state.takePromises(of: waiting)
    }
    for promise in refused { promise.succeed(.refused) }
    grant()
  }

  private func grant() {
    let granted = state.withLock { state in
      state.grantIsComing = false
      return state.takePromises(of: state.queue.grant())
    }
    for promise in granted { promise.succeed(.granted) }
  }
}

extension SlotQueue {
  /// The limits of a plan: one for each group with `maxParallel`, beside the run's own.
  init(plan: Plan, slots: Int) {
    var limitOfGroup: [Int: Int] = [:]
    var sizes: [Int] = []
    for (index, group) in plan.groups.enumerated().dropFirst() {
      guard let size = group.maxParallel else { continue }
      limitOfGroup[index] = sizes.count
      sizes.append(size)
    }
    self.init(
      slots: slots, groupLimits: sizes,
      chains: plan.groups.indices.map { group in
        plan.enclosingGroups(ofGroup: group).compactMap { limitOfGroup[$0] }
      },
      steps: plan.steps.map { (plan.stepsBelow[$0.node], Int32($0.group)) })
  }
}
