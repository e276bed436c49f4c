import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that each part of a run starts a step again after its success only if a step that depends on it has yet to run.
///
/// ``ResumeChecker`` knows which of them may start at all, and ``ServiceChecker`` which services do.
struct RerunChecker {
  private let blueprint: Blueprint
  /// The steps that have succeeded, over all parts.
  private var succeeded: Set<Subject> = []
  /// The groups that this part restored.
  private var restoredGroups: Set<Subject> = []
  /// The steps and groups that this part did not restore.
  private var decided: Set<Subject> = []
  /// The steps and groups that a condition skipped in this part and before it: they have yet to run only if it may be true
  /// now.
  private var conditional: Set<Subject> = []
  /// The steps and groups whose latest end is that a condition skipped them, over all parts.
  private var skippedByCondition: Set<Subject> = []
  /// Those of them before this part.
  private var needless: Set<Subject> = []
  /// The steps that this part started although they had succeeded.
  private var startedAgain: Set<Subject> = []
  private(set) var violations: [String] = []

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts { check(part) }
  }

  private mutating func check(_ part: RunPart) {
    (restoredGroups, decided, conditional, startedAgain) = ([], [], [], [])
    needless = skippedByCondition
    succeeded = succeeded.filter { step in
      !part.rerunSteps.contains(step.id)
        && !part.rerunAddresses.contains(StepAddress(blueprint.address(of: step)))
    }
    let doubted = part.doubted
    for event in part.events { note(event.kind, doubted) }
    // A part without an end may have been killed before the dependents were decided.
    guard part.end != nil else { return }
    for step in startedAgain {
      if decided.contains(where: { depends($0, on: step) && mayRun($0, without: step) }) {
        continue
      }
      violations.append(
        "\(blueprint.address(of: step)) is started again, and no step that needs it runs")
    }
  }

  private mutating func note(_ kind: RunEvent.Kind, _ doubted: Set<StepAddress>) {
    switch kind {
    case .stepQueued(let address, _, _):
      decided.insert(subject(address))
      // From now on it is to run again, also in the next part.
      note(start: subject(address))
    case .stepSkipped(let address, let reason):
      let subject = subject(address)
      // A group is skipped as a whole.
      let skipped = [subject] + inside(subject)
      if case .condition = reason {
        skippedByCondition.formUnion(skipped)
      } else {
        skippedByCondition.subtract(skipped)
      }
      guard restoredGroups.isDisjoint(with: blueprint.enclosing(subject)) else { break }
      decided.formUnion(skipped)
      if case .condition = reason { conditional.formUnion(needless.intersection(skipped)) }
    case .stepStarted(let address, _, _) where !doubted.contains(address):
      let subject = subject(address)
      decided.insert(subject)
      skippedByCondition.remove(subject)
      note(start: subject)
    case .stepFinished(let address, let end) where end.conclusion == .success:
      succeeded.insert(subject(address))
    case .groupStarted(let address, let start):
      if start.isRestored {
        restoredGroups.insert(subject(address))
      } else {
        let group = subject(address)
        decided.insert(group)
        skippedByCondition.remove(group)
        // The number of elements was not known before.
        if start.elements == 0 { decided.formUnion(inside(group)) }
      }
    case .groupFinished(let address, let end):
      // The loop was to run the other elements, too.
      if end.notStarted != nil, !restoredGroups.contains(subject(address)) {
        decided.formUnion(inside(subject(address)))
      }
    case .groupRetrying(let address, _):
      let group = subject(address)
      succeeded = succeeded.filter { !blueprint.enclosing($0).contains(group) }
      skippedByCondition = skippedByCondition.filter { !blueprint.enclosing($0).contains(group) }
    default: break
    }
  }

  private mutating func note(start subject: Subject) {
    let member = blueprint.member(subject.id)
    guard succeeded.remove(subject) != nil, member.part == .main, !member.isService else { return }
    startedAgain.insert(subject)
  }

  private func inside(_ group: Subject) -> [Subject] {
    blueprint.members.keys.filter { blueprint.isInside($0, group.id) }
      .map { Subject(id: $0, keys: group.keys) }
  }

  private func depends(_ subject: Subject, on step: Subject) -> Bool {
    blueprint.dependents(of: step.id).contains(subject.id) && isBeside(subject, step)
  }

  /// Whether a step or group of this part has yet to run if another step does not start again: if a condition skipped it,
  /// it calls `cancelled()`, or something before it has yet to run.
  private func mayRun(_ subject: Subject, without step: Subject) -> Bool {
    guard conditional.contains(subject) else { return true }
    let conditions = ([subject] + blueprint.enclosing(subject)).map {
      blueprint.member($0.id).condition
    }
    return conditions.contains { $0?.statuses.contains(.cancelled) == true }
      || decided.contains { $0 != step && $0 != subject && depends(subject, on: $0) }
  }

  /// Whether two steps are in the same element of each loop around both.
  private func isBeside(_ one: Subject, _ other: Subject) -> Bool {
    let loops = zip(blueprint.member(one.id).loops, blueprint.member(other.id).loops)
    let shared = loops.prefix { $0 == $1 }.count
    return one.keys.prefix(shared).elementsEqual(other.keys.prefix(shared))
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }
}
