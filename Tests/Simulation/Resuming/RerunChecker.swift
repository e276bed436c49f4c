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
  /// The steps that this part started although they had succeeded.
  private var startedAgain: Set<Subject> = []
  private(set) var violations: [String] = []

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts { check(part) }
  }

  private mutating func check(_ part: RunPart) {
    (restoredGroups, decided, startedAgain) = ([], [], [])
    succeeded = succeeded.filter { step in
      !part.rerunSteps.contains(step.id)
        && !part.rerunAddresses.contains(StepAddress(blueprint.address(of: step)))
    }
    let doubted = part.doubted
    for event in part.events { note(event.kind, doubted) }
    // A part without an end may have been killed before the dependents were decided.
    guard part.end != nil else { return }
    for step in startedAgain {
      let dependents = blueprint.dependents(of: step.id)
      if decided.contains(where: { dependents.contains($0.id) && isBeside($0, step) }) { continue }
      violations.append(
        "\(blueprint.address(of: step)) is started again, and no step that needs it runs")
    }
  }

  private mutating func note(_ kind: RunEvent.Kind, _ doubted: Set<StepAddress>) {
    switch kind {
    case .stepQueued(let address, _, _): decided.insert(subject(address))
    case .stepSkipped(let address, _):
      let subject = subject(address)
      if restoredGroups.isDisjoint(with: blueprint.enclosing(subject)) { decided.insert(subject) }
    case .stepStarted(let address, _, _) where !doubted.contains(address):
      let subject = subject(address)
      decided.insert(subject)
      let member = blueprint.member(subject.id)
      guard succeeded.remove(subject) != nil, member.part == .main, !member.isService else { break }
      startedAgain.insert(subject)
    case .stepFinished(let address, let end) where end.conclusion == .success:
      succeeded.insert(subject(address))
    case .groupStarted(let address, let start):
      if start.isRestored {
        restoredGroups.insert(subject(address))
      } else {
        decided.insert(subject(address))
      }
    case .groupRetrying(let address, _):
      let group = subject(address)
      succeeded = succeeded.filter { !blueprint.enclosing($0).contains(group) }
    default: break
    }
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
