import Synchronization
import WeftDefinition
import WeftEvents
import WeftFutures
package import WeftPlanning
import WeftPlatform

/// Measures how long the steps of a run take, and estimates the remaining time from earlier runs.
final class RunDurations: Sendable {
  private struct State {
    var measures: RunMeasures
    /// `nil` if there are no earlier runs.
    var remaining: RemainingWork?
    /// The services that are ready, by instance: their ends do not count.
    var ready: Set<Int> = []
    /// The instances whose present attempt an earlier engine began: this one does not see how long it takes.
    var adopted: Set<Int> = []
  }

  private let state: Mutex<State>

  init(of plan: Plan, _ selection: Selection) {
    let remaining = plan.expectedDurations.map {
      RemainingWork($0, of: plan, where: selection.includes)
    }
    state = Mutex(
      State(measures: RunMeasures(stepCount: plan.steps.count), remaining: remaining))
  }

  var measures: RunMeasures { state.withLock { $0.measures } }

  func remaining(at now: Duration, slots: Int) -> Duration? {
    state.withLock { $0.remaining?.remaining(at: now, slots: slots) }
  }

  // MARK: Updates

  func started(_ task: StepTask, at now: Duration) {
    state.withLock { state in
      state.adopted.remove(task.instanceNumber)
      state.remaining?.started(task.index, as: task.instanceNumber, at: now)
    }
  }

  func adopted(_ task: StepTask) {
    state.withLock { _ = $0.adopted.insert(task.instanceNumber) }
  }

  func paused(_ task: StepTask) { state.withLock { $0.remaining?.paused(task.instanceNumber) } }

  /// Records that a service is ready for the first time: whatever needs it waits only until then.
  func becameReady(_ task: StepTask, _ end: StepEnd) {
    ended(task, end, as: .ran)
    state.withLock { _ = $0.ready.insert(task.instanceNumber) }
  }

  func ended(_ task: StepTask, _ end: StepEnd, as kind: RunEngine.EndKind) {
    let isMeasured = kind == .ran && end.outcome == .success && task.step.canBeMeasured
    state.withLock { state in
      if state.ready.remove(task.instanceNumber) != nil { return }
      let isWhole = state.adopted.remove(task.instanceNumber) == nil
      state.measures.ended(task.index, after: isMeasured && isWhole ? end.duration : nil)
      state.remaining?.ended(task.index, as: task.instanceNumber)
    }
  }

  func skipped(_ task: StepTask, _ reason: SkipReason) {
    state.withLock { state in
      if reason.isCondition, !task.instance.isInElement { state.measures.excluded(task.index) }
      state.remaining?.ended(task.index, as: task.instanceNumber)
    }
  }

  /// Records that all steps of a region are skipped.
  func skipped(_ steps: Range<Int>, in instance: Instance, _ reason: SkipReason) {
    guard !instance.isInElement else { return }
    state.withLock { state in
      if reason.isCondition { for step in steps { state.measures.excluded(step) } }
      state.remaining?.closed(steps)
    }
  }

  func listed(_ task: LoopTask, elements: Int, of plan: Plan) {
    // For a loop inside another loop's element, the number of its other instances is unknown.
    guard !task.instance.isInElement else { return }
    let once = task.region.steps.filter { plan.isPerElement($0, of: task.member) }
    state.withLock { state in
      for step in once { state.remaining?.listed(step..<step + 1, elements: elements) }
    }
  }

  /// Records that a loop or a retried group has ended, with all its steps.
  func closed(_ steps: Range<Int>, in instance: Instance) {
    guard !instance.isInElement else { return }
    state.withLock { $0.remaining?.closed(steps) }
  }

  func repeated(_ steps: Range<Int>, in instance: Instance) {
    guard !instance.isInElement else { return }
    state.withLock { $0.remaining?.repeated(steps) }
  }
}

extension SkipReason {
  fileprivate var isCondition: Bool { if case .condition = self { true } else { false } }
}

extension Plan {
  /// Whether no loop between the step and the outer loop multiplies the step's executions.
  fileprivate func isPerElement(_ index: Int, of member: PlanMember) -> Bool {
    guard case .group(let outer) = member else { return true }
    let step = steps[index]
    return !step.isLoop
      && allEnclosingGroups(ofGroup: step.group).prefix { $0 != outer }
        .allSatisfy { !groups[$0].isLoop }
  }
}

/// Durations of a run, for its caller.
extension RunEngine {
  /// The durations measured in this run; `nil` if measuring was not requested.
  package var measures: RunMeasures? { durations?.measures }

  /// The least time the run still takes, if its steps take as long as in earlier runs; `nil` if earlier runs
  /// say too little, or if no further steps are started.
  package var remainingTime: Duration? {
    guard let durations, !completion.isSettled,
      state.withLock({ $0.scopes.obstacle(in: 0, after: []) }) == nil
    else {
      return nil
    }
    return durations.remaining(at: time.now, slots: maxParallel)
  }
}
