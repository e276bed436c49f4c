import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks a run that was killed and resumed against the guarantees of SPEC §7, by the events of all its parts.
struct ResumeChecker {
  private let blueprint: Blueprint
  /// The number of the latest lifecycle event, counted over all parts.
  private var number = 0
  /// The steps that have succeeded or were tolerated, and groups, each with its time.
  private var succeeded: [Spot: Int] = [:]
  private var doneGroups: [Spot: Int] = [:]
  /// Those that failed: steps in them that did not run for a reason outside are still to run.
  private var tolerated: Set<Spot> = []
  /// Groups that are reported again although they ended in an earlier part.
  private var restoredGroups: Set<Spot> = []
  /// The latest start of each step and group.
  private var begun: [Spot: Int] = [:]
  /// The latest retry of each group.
  private var retried: [Spot: Int] = [:]
  /// The latest successful cleanup of each step or group.
  private var cleaned: [Spot: Int] = [:]
  /// The steps that this part reports as in doubt. They are reported as started, but are not run.
  private var doubted: Set<StepAddress> = []
  private(set) var violations: [String] = []
  /// The number of steps reused.
  private(set) var restored = 0

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts {
      forget(part)
      doubted = part.doubted
      for event in part.events { note(event.kind) }
    }
    violations += parts.flatMap(\.remains)
    if parts.last?.end == nil { violations.append("the run does not end") }
  }

  /// Treats what the engine is asked to rerun as not done.
  private mutating func forget(_ part: RunPart) {
    let addressed = Set(part.rerunAddresses.map(spot).flatMap { [$0] + cleaned(by: $0) })
    for spot in Array(succeeded.keys)
    where part.rerunSteps.contains(spot.id)
      || part.rerunAddresses.contains(StepAddress(blueprint.address(of: spot)))
    {
      succeeded[spot] = nil
    }
    for group in Array(doneGroups.keys)
    where addressed.contains(where: { $0 == group || blueprint.enclosing($0).contains(group) })
      || part.rerunSteps.contains(where: { blueprint.isInside($0, group.id) })
    {
      doneGroups[group] = nil
    }
  }

  /// The step or group that a cleanup step belongs to.
  private func cleaned(by spot: Spot) -> [Spot] {
    guard case .cleanup(let cleaned) = blueprint.member(spot.id).part else { return [] }
    return [Spot(id: cleaned, keys: spot.keys)]
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    number += 1
    switch kind {
    case .stepStarted(let address, _):
      let spot = spot(address)
      if !doubted.contains(address) { requireMayStart(spot, address) }
      begun[spot] = number
      succeeded[spot] = nil
    case .stepFinished(let address, let end) where end.conclusion == .success:
      let spot = spot(address)
      succeeded[spot] = number
      if case .cleanup(let id) = blueprint.member(spot.id).part {
        cleaned[Spot(id: id, keys: spot.keys)] = number
      }
    case .stepRestored(let address, let end):
      restored += 1
      let spot = spot(address)
      if end.conclusion == .success, succeeded[spot] == nil {
        violations.append("\(address) stands and has not succeeded")
      }
      if isReplaced(spot, since: succeeded[spot] ?? number), !isLastCleanup(spot) {
        violations.append("\(address) stands though its group was tried again since")
      }
    case .groupStarted(let address, let start):
      restoredGroups.remove(spot(address))
      if start.isRestored {
        restoredGroups.insert(spot(address))
      } else {
        begin(spot(address), address)
      }
    case .groupRetrying(let address, _): retried[spot(address)] = number
    case .groupFinished(let address, let end):
      let group = spot(address)
      if restoredGroups.contains(group) { return }
      doneGroups[group] = end.conclusion == .success ? number : nil
      if end.outcome == .success { tolerated.remove(group) } else { tolerated.insert(group) }
    default: break
    }
  }

  private func spot(_ address: StepAddress) -> Spot {
    guard let spot = blueprint.spot(called: address.text) else {
      preconditionFailure("nobody is called \(address)")
    }
    return spot
  }

  private mutating func requireMayStart(_ spot: Spot, _ address: StepAddress) {
    let member = blueprint.member(spot.id)
    if case .cleanup(let cleaned) = member.part {
      // Once complete, cleanup runs again only if its step or group has begun again. If it does, its first step shows
      // that.
      guard blueprint.cleanups(of: cleaned).first == spot.id else { return }
      let begun = begun[Spot(id: cleaned, keys: spot.keys)] ?? 0
      let isDone = blueprint.cleanups(of: cleaned).allSatisfy { id in
        succeeded[Spot(id: id, keys: spot.keys)].map {
          $0 > begun && !isVoid(spot, since: $0)
        } ?? false
      }
      if isDone, blueprint.enclosing(spot).contains(where: self.isDone) {
        violations.append("\(address) is started again after its success")
      }
      return
    }
    guard !member.isClosing || blueprint.enclosing(spot).contains(where: isDone) else { return }
    if let at = succeeded[spot], !member.isClosing, !isVoid(spot, since: at),
      !isUndone(spot, since: at)
    {
      violations.append("\(address) is started again after its success")
    }
    for group in blueprint.enclosing(spot) where !tolerated.contains(group) {
      guard let at = doneGroups[group], !isVoid(group, since: at), !isUndone(group, since: at)
      else { continue }
      violations.append("\(address) is started in \(group.id), which had ended well")
    }
  }

  /// Begins a group. It may begin again only if it had not succeeded, or if something in it was cleaned up since.
  private mutating func begin(_ group: Spot, _ address: StepAddress) {
    begun[group] = number
    guard let at = doneGroups.removeValue(forKey: group), !isVoid(group, since: at),
      !isUndone(group, since: at),
      !tolerated.contains(where: { $0 == group || blueprint.enclosing($0).contains(group) }),
      !cleaned.contains(where: { $1 > at && blueprint.enclosing($0).contains(group) })
    else { return }
    violations.append("\(address) begins again, and had ended well")
  }

  private func isDone(_ group: Spot) -> Bool { doneGroups[group] != nil }

  /// Whether an enclosing group was retried since.
  private func isVoid(_ spot: Spot, since at: Int) -> Bool {
    ([spot] + blueprint.enclosing(spot)).contains { (retried[$0] ?? 0) > at }
  }

  /// Whether that retry was made, or is still to be made: an enclosing scope may have ended before it could be.
  private func isReplaced(_ spot: Spot, since at: Int) -> Bool {
    ([spot] + blueprint.enclosing(spot)).contains { group in
      guard let retry = retried[group], retry > at else { return false }
      return !blueprint.enclosing(group).contains { (doneGroups[$0] ?? 0) > retry }
    }
  }

  /// Whether a cleanup step has succeeded since the last start of its step or group, and no retry of an enclosing
  /// group has invalidated that.
  private func isLastCleanup(_ spot: Spot) -> Bool {
    guard case .cleanup(let cleaned) = blueprint.member(spot.id).part else { return false }
    return begun[Spot(id: cleaned, keys: spot.keys)] ?? 0 < succeeded[spot] ?? 0
  }

  /// Whether it, or an enclosing group, was cleaned up since.
  private func isUndone(_ spot: Spot, since at: Int) -> Bool {
    ([spot] + blueprint.enclosing(spot)).contains { (cleaned[$0] ?? 0) > at }
  }
}

extension RunPart {
  fileprivate var doubted: Set<StepAddress> {
    Set(
      events.compactMap { event in
        guard case .stepFinished(let address, let end) = event.kind,
          end.failure?.classes.contains(.inDoubt) == true
        else { return nil }
        return address
      })
  }
}
