import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Pending cleanup of groups and of the run: the cleanup steps of everything that started, the latest first.
struct Closing {
  /// Pending cleanup by group; `nil` for the run.
  private var pending: [Subject?: [Subject]] = [:]
  /// The failures of `finally` and cleanup steps.
  private(set) var causingSteps: [StepAddress] = []

  mutating func addPending(_ cleanups: [Subject], in group: Subject?) {
    pending[group, default: []].insert(contentsOf: cleanups, at: 0)
  }

  /// Adds a service that has started: it ends before what started before it, except for what needs it.
  mutating func addPending(_ service: Subject, in group: Subject?, after needs: (Subject) -> Bool) {
    let last = pending[group]?.lastIndex(where: needs)
    pending[group, default: []].insert(service, at: last.map { $0 + 1 } ?? 0)
  }

  /// Removes a service that ended before its turn.
  mutating func remove(_ service: Subject, in group: Subject?) {
    pending[group]?.removeAll { $0 == service }
  }

  func next(in group: Subject?) -> Subject? { pending[group]?.first }
  mutating func takeNext(in group: Subject?) { pending[group]?.removeFirst() }
  mutating func failed(_ causingStep: StepAddress) { causingSteps.append(causingStep) }
}

extension RunChecker {
  /// Adds its cleanup steps to the pending cleanup, since it has started.
  mutating func recordStart(_ subject: Subject) {
    let member = blueprint.member(subject.id)
    defer {
      if member.isService {
        closing.addPending(subject, in: groupAround(subject)) { [blueprint] in
          blueprint.cleanup($0, needs: subject)
        }
      }
    }
    let count = member.step.control.cleanup.count
    guard count > 0, !blueprint.isWholeLoop(subject) else { return }
    let ids =
      count == 1 ? ["\(subject.id).cleanup"] : (1...count).map { "\(subject.id).cleanup.\($0)" }
    closing.addPending(ids.map { Subject(id: $0, keys: subject.keys) }, in: groupAround(subject))
  }

  /// Checks that a cleanup step that ended or was skipped was the next one.
  mutating func cleaned(_ subject: Subject) {
    guard isCleanup(subject) else { return }
    let group = groupAround(subject)
    let next = closing.next(in: group)
    require(next == subject, "\(name(subject)) cleans up, and not \(next.map(name) ?? "nobody")")
    if next == subject { closing.takeNext(in: group) }
  }

  mutating func requireCleaned(in group: Subject?) {
    let next = closing.next(in: group)
    require(next == nil, "\(name(group)) ends, and \(next.map(name) ?? "") has not cleaned up")
  }

  /// Checks that `finally` starts when everything else has ended.
  mutating func requireEverythingEnded() {
    requireCleaned(in: nil)
    for subject in states.keys where blueprint.member(subject.id).part != .finally {
      let phase = state(subject).phase
      require(
        phase == .ended || phase == .waiting, "finally starts before the end of \(name(subject))")
    }
  }
}
