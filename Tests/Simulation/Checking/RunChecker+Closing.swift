import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Pending cleanup of groups and of the run: the cleanup steps of everything that started, the latest first.
struct Closing {
  /// Pending cleanup by group; `nil` for the run.
  private var owed: [Spot?: [Spot]] = [:]
  /// The failures of `finally` and cleanup steps.
  private(set) var culprits: [StepAddress] = []

  mutating func owe(_ cleanups: [Spot], in group: Spot?) {
    owed[group, default: []].insert(contentsOf: cleanups, at: 0)
  }

  func next(in group: Spot?) -> Spot? { owed[group]?.first }
  mutating func takeNext(in group: Spot?) { owed[group]?.removeFirst() }
  mutating func failed(_ culprit: StepAddress) { culprits.append(culprit) }
}

extension RunChecker {
  /// Adds its cleanup steps to the pending cleanup, since it has started.
  mutating func noteStart(_ spot: Spot) {
    let member = blueprint.member(spot.id)
    let count = member.step.control.cleanup.count
    guard count > 0, !blueprint.isWholeLoop(spot) else { return }
    let ids = count == 1 ? ["\(spot.id).cleanup"] : (1...count).map { "\(spot.id).cleanup.\($0)" }
    closing.owe(ids.map { Spot(id: $0, keys: spot.keys) }, in: groupAround(spot))
  }

  /// Checks that a cleanup step that ended or was skipped was the next one.
  mutating func cleaned(_ spot: Spot) {
    guard isCleanup(spot) else { return }
    let group = groupAround(spot)
    let next = closing.next(in: group)
    require(next == spot, "\(name(spot)) cleans up, and not \(next.map(name) ?? "nobody")")
    if next == spot { closing.takeNext(in: group) }
  }

  mutating func requireCleaned(in group: Spot?) {
    let next = closing.next(in: group)
    require(next == nil, "\(name(group)) ends, and \(next.map(name) ?? "") has not cleaned up")
  }

  /// Checks that `finally` starts when everything else has ended.
  mutating func requireEverythingEnded() {
    requireCleaned(in: nil)
    for spot in states.keys where blueprint.member(spot.id).part != .finally {
      let phase = state(spot).phase
      require(
        phase == .ended || phase == .waiting, "finally starts before the end of \(name(spot))")
    }
  }
}
