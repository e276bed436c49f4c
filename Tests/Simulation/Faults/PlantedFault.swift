import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// A wrong decision, made or reported by the real engine, for the checkers to find.
///
/// The engine knows nothing of these faults: either its input is wrong, or its events are changed on the way. Faults
/// in its own decisions are planted in a copy of it: `.ci/planted-faults.py`.
enum PlantedFault: String, CaseIterable {
  // An executor that interferes with the engine's slots.
  case slotNotReturned, elementRunTwice
  // A workflow different from the one that the checkers use: the engine itself decides wrongly.
  case poolOverdrawn, groupLimitExceeded, raceWithTwoWinners, retryTooMany
  case noFinallyAfterCancel, successAfterFailure, failureHoldsNobodyBack, restartTooMany
  case errorCountsAsTrue, resourceNotCounted, computedLimitIgnored, outputErrorIgnored
  // Events different from those the engine reported.
  case skipWithoutItsReason, lostFinish, lostReadiness, cleanupInWrongOrder, errorNotReported

  /// The workflow that the engine runs instead.
  func workflow(_ workflow: Workflow) -> Workflow {
    var changed = workflow
    switch self {
    case .poolOverdrawn: for index in changed.pools.indices { changed.pools[index].slots += 1 }
    case .failureHoldsNobodyBack: changed.onFailure = .continue
    case .noFinallyAfterCancel:
      for index in changed.finally.indices where changed.finally[index].control.condition == nil {
        changed.finally[index].control.condition = "!cancelled()"
      }
    case .groupLimitExceeded, .raceWithTwoWinners, .retryTooMany, .successAfterFailure,
      .restartTooMany:
      changed.body.members = changed.body.members.map(step)
      changed.finally = changed.finally.map(step)
    case .slotNotReturned, .skipWithoutItsReason, .lostFinish, .lostReadiness, .elementRunTwice,
      .cleanupInWrongOrder, .errorNotReported:
      break
    case .errorCountsAsTrue, .resourceNotCounted, .computedLimitIgnored,
      .outputErrorIgnored:
      changed.body.members = changed.body.members.map(step)
      changed.finally = changed.finally.map(step)
    }
    return changed
  }

  private func step(_ step: Step) -> Step {
    var step = step
    if self == .retryTooMany {
      step.control.retry = step.control.retry.map { policy in
        var policy = policy
        policy.max += 1
        return policy
      }
    }
    if self == .restartTooMany, case .run(var command) = step.action, command.service != nil {
      command.service?.restarts += 1
      step.action = .run(command)
    }
    if self == .resourceNotCounted, case .run(var command) = step.action {
      command.resources = nil
      step.action = .run(command)
    }
    if self == .outputErrorIgnored {
      step.outputs.removeAll { $0.name == RandomError.output }
    }
    if self == .computedLimitIgnored { step.$timeout.expression = nil }
    if self == .successAfterFailure, let condition = step.control.condition {
      step.control.condition = Condition(
        condition.text.replacing("success()", with: "(success() || failure())"))
    }
    if self == .errorCountsAsTrue, let condition = step.control.condition {
      step.control.condition = Condition(condition.text.replacing("'oops'", with: "'true'"))
    }
    guard case .group(var group) = step.action else { return step }
    if self == .groupLimitExceeded, let limit = group.maxParallel { group.maxParallel = limit + 1 }
    if self == .raceWithTwoWinners, group.order == .race { group.order = .parallel }
    group.members = group.members.map(self.step)
    step.action = .group(group)
    return step
  }

  /// The executor of the attempts.
  func executor(_ world: ScriptedWorld) -> any StepExecutor {
    switch self {
    case .slotNotReturned, .elementRunTwice: MeddlingExecutor(self, world)
    default: world
    }
  }

  // MARK: Reported events

  /// Changes the reported events, and renumbers them so that the numbers do not reveal the fault.
  func events(_ events: [RunEvent]) -> [RunEvent] {
    var kinds = events.map(\.kind)
    switch self {
    case .lostFinish:
      if let index = kinds.lastIndex(where: \.isFinish) {
        return renumbered(events, excluding: index)
      }
    case .lostReadiness:
      if let index = kinds.lastIndex(where: \.isReadiness) {
        return renumbered(events, excluding: index)
      }
    case .skipWithoutItsReason:
      for (index, kind) in kinds.enumerated() {
        guard case .stepSkipped(let step, _) = kind else { continue }
        kinds[index] = .stepSkipped(step, .dependencyFailed(step))
      }
    case .errorNotReported:
      // As a loop of groups did once: it succeeded without running anything.
      for (index, kind) in kinds.enumerated() {
        guard case .groupFinished(let group, let end) = kind, end.failsAtStart else { continue }
        kinds[index] = .groupFinished(
          group,
          GroupEnd(
            outcome: .success, conclusion: .success, failure: nil, cause: nil,
            duration: end.duration))
      }
    case .cleanupInWrongOrder: kinds = swappingCleanups(in: kinds)
    default: break
    }
    return zip(events, kinds).map {
      RunEvent(sequence: $0.sequence, elapsed: $0.elapsed, kind: $1)
    }
  }

  private func renumbered(_ events: [RunEvent], excluding index: Int) -> [RunEvent] {
    var events = events
    events.remove(at: index)
    return events.enumerated().map { number, event in
      RunEvent(sequence: UInt64(number + 1), elapsed: event.elapsed, kind: event.kind)
    }
  }

  private func swappingCleanups(in kinds: [RunEvent.Kind]) -> [RunEvent.Kind] {
    let cleaning = kinds.compactMap { kind -> StepAddress? in
      guard case .stepQueued(let step, _, _) = kind, step.text.contains("cleanup") else {
        return nil
      }
      return step
    }
    guard cleaning.count > 1 else { return kinds }
    return kinds.map { $0.swapping(cleaning[0], cleaning[1]) }
  }
}

extension RunEvent.Kind {
  fileprivate var isReadiness: Bool { if case .stepReady = self { true } else { false } }
  fileprivate var isFinish: Bool { if case .stepFinished = self { true } else { false } }

  fileprivate func swapping(_ one: StepAddress, _ other: StepAddress) -> RunEvent.Kind {
    let swapped = { (step: StepAddress) in step == one ? other : step == other ? one : step }
    return switch self {
    case .stepQueued(let step, let pools, let reason):
      .stepQueued(swapped(step), waitingFor: pools, because: reason)
    case .stepStarted(let step, let attempt, _): .stepStarted(swapped(step), attempt: attempt)
    case .stepRetrying(let step, let retry): .stepRetrying(swapped(step), retry)
    case .stepFinished(let step, let end): .stepFinished(swapped(step), end)
    case .stepSkipped(let step, let reason): .stepSkipped(swapped(step), reason)
    default: self
    }
  }
}
