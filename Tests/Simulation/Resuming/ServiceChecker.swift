import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that each part of a run starts a service again if, and only if, a step that needs it has yet to run, or is
/// still to be cleaned up.
struct ServiceChecker {
  private let blueprint: Blueprint
  /// The services that have been ready and have not failed since, over all parts.
  private var done: Set<Subject> = []
  /// The groups that have succeeded, over all parts.
  private var doneGroups: Set<Subject> = []
  /// The services that this part started although they were done.
  private var startedAgain: Set<Subject> = []
  /// The services that this part restored.
  private var restored: Set<Subject> = []
  /// The services that were done, and that this part skipped for a decision which an earlier part made.
  private var lost: Set<Subject> = []
  /// The groups that are reported again although they ended in an earlier part.
  private var restoredGroups: Set<Subject> = []
  /// The steps and groups that this part did not restore, or cleaned up after.
  private var decided: Set<Subject> = []
  private(set) var violations: [String] = []

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts { check(part) }
  }

  private mutating func check(_ part: RunPart) {
    (startedAgain, restored, lost, restoredGroups, decided) = ([], [], [], [], [])
    done = done.filter { service in
      !part.rerunSteps.contains(service.id)
        && !part.rerunAddresses.contains(StepAddress(blueprint.address(of: service)))
    }
    let doubted = part.doubted
    for event in part.events {
      if case .stepStarted(let address, _, _) = event.kind, doubted.contains(address) {
        decide(address)
      } else {
        note(event.kind)
      }
    }
    // A part without an end may have been killed before the users were decided.
    guard part.end != nil else { return }
    for service in startedAgain
    where !decided.contains(where: { blueprint.need($0, service) }) && areRestored(usersOf: service)
    {
      violations.append("\(name(service)) is started again, and nothing needs it")
    }
  }

  /// Whether every step that needs a service is restored in this part, by itself or with a group around it. A race that
  /// was won has steps that are not reported.
  private func areRestored(usersOf service: Subject) -> Bool {
    let users = blueprint.services.filter { $1.contains(service.id) }.keys.filter {
      blueprint.member($0).members.isEmpty && blueprint.member($0).part == .main
    }
    return users.allSatisfy { id in
      restored.contains { $0.id == id && $0.keys.starts(with: service.keys) }
        || restoredGroups.contains {
          blueprint.isInside(id, $0.id) && $0.keys.starts(with: service.keys)
        }
    }
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    switch kind {
    case .stepQueued(let address, _, _):
      decide(address)
      // From now on it is to run again, also in the next part.
      let subject = subject(address)
      if done.remove(subject) != nil { startedAgain.insert(subject) }
    case .stepSkipped(let address, let reason):
      decide(address)
      let subject = subject(address)
      if done.remove(subject) != nil || startedAgain.contains(subject), reason.isDecided,
        !restoredGroups.isDisjoint(with: blueprint.enclosing(subject))
      {
        lost.insert(subject)
      }
    case .stepStarted(let address, _, _):
      decide(address)
      let subject = subject(address)
      requireServices(of: subject)
      if done.remove(subject) != nil { startedAgain.insert(subject) }
    case .stepReady(let address, _): done.insert(subject(address))
    // It has ended, and `restart` starts it again.
    case .stepRetrying(let address, _): done.remove(subject(address))
    case .stepFinished(let address, let end) where end.conclusion != .success:
      done.remove(subject(address))
    case .stepRestored(let address, _): restored.insert(subject(address))
    case .groupStarted(let address, let start):
      if start.isRestored {
        restoredGroups.insert(subject(address))
      } else {
        let group = subject(address)
        decided.insert(group)
        // A group that a cleanup has undone runs again as a whole.
        if doneGroups.remove(group) != nil {
          done = done.filter { !blueprint.enclosing($0).contains(group) }
        }
      }
    case .groupFinished(let address, let end):
      if end.conclusion == .success { doneGroups.insert(subject(address)) }
    case .groupRetrying(let address, _):
      let group = subject(address)
      done = done.filter { !blueprint.enclosing($0).contains(group) }
      restored = restored.filter { !blueprint.enclosing($0).contains(group) }
    default: break
    }
  }

  /// Counts a step as decided in this part, or the step or group that it cleans up.
  private mutating func decide(_ address: StepAddress) {
    let subject = subject(address)
    decided.insert(subject)
    if case .cleanup(let cleaned) = blueprint.member(subject.id).part {
      decide(all: Subject(id: cleaned, keys: subject.keys))
    }
    // The groups around it may be cleaned up.
    for group in blueprint.enclosing(subject)
    where !restoredGroups.contains(group) && !blueprint.cleanups(of: group.id).isEmpty {
      decide(all: group)
    }
  }

  /// Counts a step or group that is cleaned up as decided: that needs what its members need.
  private mutating func decide(all cleaned: Subject) {
    decided.insert(cleaned)
    for id in blueprint.members.keys where blueprint.isInside(id, cleaned.id) {
      decided.insert(Subject(id: id, keys: cleaned.keys))
    }
  }

  /// Checks that no step starts while a service that it needs is only restored, or was lost.
  private mutating func requireServices(of subject: Subject) {
    var needs = blueprint.services[subject.id] ?? []
    if case .cleanup(let cleaned) = blueprint.member(subject.id).part {
      needs = blueprint.services.filter { blueprint.isInside($0.key, cleaned) }.flatMap(\.value)
        .filter { !blueprint.isInside($0, cleaned) }
    }
    for id in Set(needs).sorted() {
      let service = blueprint.subject(id, from: subject)
      guard service.keys.count == blueprint.member(id).loops.count,
        restored.contains(service) || lost.contains(service)
      else { continue }
      violations.append("\(name(subject)) starts, and \(name(service)), which it needs, is not up")
    }
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }

  private func name(_ subject: Subject) -> String { blueprint.address(of: subject) }
}

extension SkipReason {
  /// Whether another member of a race or join has done the work.
  fileprivate var isDecided: Bool {
    switch self {
    case .cancelled(.raceWon), .cancelled(.joined): true
    case .cancelled, .condition, .notSelected, .dependencyFailed, .heldBack: false
    }
  }
}
