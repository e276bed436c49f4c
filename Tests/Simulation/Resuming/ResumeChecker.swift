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
  private var succeeded: [Subject: Int] = [:]
  private var doneGroups: [Subject: Int] = [:]
  /// Those that failed: steps in them that did not run for a reason outside are still to run.
  private var tolerated: Set<Subject> = []
  /// Those of them that failed at their start: nothing in them is to run.
  private var failedAtStart: Set<Subject> = []
  /// Groups that are reported again although they ended in an earlier part.
  private var restoredGroups: Set<Subject> = []
  /// The latest start of each step and group.
  private var begun: [Subject: Int] = [:]
  /// The latest retry of each group.
  private var retried: [Subject: Int] = [:]
  /// The latest start of a cleanup of each step or group.
  private var cleaned: [Subject: Int] = [:]
  /// Whether this part has begun `finally`.
  private var hasBegunFinally = false
  /// The steps that this part reports as in doubt: they start in its events, and are not run.
  private var doubted: Set<StepAddress> = []
  /// The steps that this part skipped.
  private var skipped: Set<Subject> = []
  /// The steps that are listed as in doubt before this part.
  private var interrupted: Set<StepAddress> = []
  private(set) var violations: [String] = []
  /// The number of steps reused.
  private(set) var restored = 0

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts {
      forget(part)
      (doubted, interrupted) = (part.doubted, part.interrupted)
      (hasBegunFinally, skipped) = (false, [])
      for event in part.events { note(event.kind) }
      if part.end != nil, !blueprint.workflow.finally.isEmpty, !hasBegunFinally {
        violations.append("what is to be done finally is not done again")
      }
    }
    violations += parts.flatMap(\.leaks)
    if parts.last?.end == nil { violations.append("the run does not end") }
  }

  /// Treats what the engine is asked to rerun as not done.
  private mutating func forget(_ part: RunPart) {
    let addressed = Set(part.rerunAddresses.map(subject).flatMap { [$0] + cleaned(by: $0) })
    for subject in Array(succeeded.keys)
    where part.rerunSteps.contains(subject.id)
      || part.rerunAddresses.contains(StepAddress(blueprint.address(of: subject)))
    {
      succeeded[subject] = nil
    }
    for group in Array(doneGroups.keys)
    where addressed.contains(where: { $0 == group || blueprint.enclosing($0).contains(group) })
      || part.rerunSteps.contains(where: { blueprint.isInside($0, group.id) })
    {
      doneGroups[group] = nil
    }
  }

  /// The step or group that a cleanup step belongs to.
  private func cleaned(by subject: Subject) -> [Subject] {
    guard case .cleanup(let cleaned) = blueprint.member(subject.id).part else { return [] }
    return [Subject(id: cleaned, keys: subject.keys)]
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    number += 1
    switch kind {
    case .stepStarted(let address, _, _):
      let subject = subject(address)
      if !doubted.contains(address) {
        requireMayStart(subject, address)
        requireNeeds(of: subject, address)
        if interrupted.contains(address) {
          violations.append("\(address) is listed as in doubt, and is started again")
        }
      }
      if case .cleanup(let id) = blueprint.member(subject.id).part {
        cleaned[Subject(id: id, keys: subject.keys)] = number
      }
      begun[subject] = number
      succeeded[subject] = nil
    case .stepFinished(let address, let end) where end.conclusion == .success:
      let subject = subject(address)
      succeeded[subject] = number
    case .stepSkipped(let address, let reason):
      skipped.insert(subject(address))
      // A plain group is reported as skipped by what is in it.
      if case .condition(let group) = reason { skipped.insert(subject(group)) }
    case .stepReady(let address, _): succeeded[subject(address)] = number
    case .stepFinished(let address, _) where blueprint.member(subject(address).id).isService:
      succeeded[subject(address)] = nil
    case .stepRestored(let address, let end):
      restored += 1
      let subject = subject(address)
      if end.conclusion == .success, succeeded[subject] == nil {
        violations.append("\(address) stands and has not succeeded")
      }
      if isReplaced(subject, since: succeeded[subject] ?? number), !isLastCleanup(subject) {
        violations.append("\(address) stands though its group was tried again since")
      }
    case .groupStarted(let address, let start):
      restoredGroups.remove(subject(address))
      if start.isRestored {
        restoredGroups.insert(subject(address))
      } else {
        if isFinal(subject(address)) { hasBegunFinally = true }
        begin(subject(address), address)
      }
    case .groupRetrying(let address, _):
      let group = subject(address)
      retried[group] = number
      // What an earlier attempt did no longer counts.
      interrupted = interrupted.filter { !blueprint.enclosing(subject($0)).contains(group) }
    case .groupFinished(let address, let end):
      let group = subject(address)
      if restoredGroups.contains(group) { return }
      doneGroups[group] = end.conclusion == .success ? number : nil
      if end.outcome == .success { tolerated.remove(group) } else { tolerated.insert(group) }
      if end.failsAtStart { failedAtStart.insert(group) } else { failedAtStart.remove(group) }
    default: break
    }
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nobody is called \(address)")
    }
    return subject
  }

  private mutating func requireMayStart(_ subject: Subject, _ address: StepAddress) {
    let member = blueprint.member(subject.id)
    if case .cleanup(let cleaned) = member.part {
      // Once complete, cleanup runs again only if its step or group has begun again. If it does, its first step shows
      // that.
      guard blueprint.cleanups(of: cleaned).first == subject.id else { return }
      let begun = begun[Subject(id: cleaned, keys: subject.keys)] ?? 0
      let isDone = blueprint.cleanups(of: cleaned).allSatisfy { id in
        succeeded[Subject(id: id, keys: subject.keys)].map {
          $0 > begun && !isVoid(subject, since: $0)
        } ?? false
      }
      if isDone, blueprint.enclosing(subject).contains(where: self.isDone) {
        violations.append("\(address) is started again after its success")
      }
      return
    }
    guard !isFinal(subject),
      !member.isClosing || blueprint.enclosing(subject).contains(where: isDone)
    else { return }
    // ``ServiceChecker`` knows which services start again.
    if let at = succeeded[subject], !member.isClosing, !member.isService,
      !isVoid(subject, since: at),
      !isUndone(subject, since: at)
    {
      violations.append("\(address) is started again after its success")
    }
    if member.isService { return }
    // A service that starts again may need what was cleaned up: ``RerunChecker`` looks for one.
    if let at = succeeded[subject], (cleaned[subject] ?? 0) > at { return }
    for group in blueprint.enclosing(subject)
    where !tolerated.contains(group) || failedAtStart.contains(group) {
      guard let at = doneGroups[group], !isVoid(group, since: at), !isUndone(group, since: at)
      else { continue }
      violations.append("\(address) is started in \(group.id), which had ended well")
    }
  }

  /// Checks that nothing that a step needs, beside it or a group around it, has been cleaned up since, unless this part
  /// skips it.
  private mutating func requireNeeds(of subject: Subject, _ address: StepAddress) {
    let member = blueprint.member(subject.id)
    guard member.part == .main else { return }
    for inner in [subject] + blueprint.enclosing(subject) {
      for need in blueprint.needs(of: inner)
      where blueprint.member(need.id).parent == blueprint.member(inner.id).parent {
        guard let at = succeeded[need] ?? doneGroups[need], (cleaned[need] ?? 0) > at,
          !skipped.contains(need)
        else { continue }
        violations.append("\(address) starts, and \(need.id), which it needs, was cleaned up")
      }
    }
  }

  /// Begins a group. It may begin again only if it had not succeeded, or if something in it was cleaned up since.
  private mutating func begin(_ group: Subject, _ address: StepAddress) {
    begun[group] = number
    guard let at = doneGroups.removeValue(forKey: group), !isFinal(group),
      !isVoid(group, since: at),
      !isUndone(group, since: at),
      !tolerated.contains(where: {
        $0 == group && !failedAtStart.contains(group)
          || blueprint.enclosing($0).contains(group)
      }),
      !cleaned.contains(where: { $1 > at && blueprint.enclosing($0).contains(group) })
    else { return }
    violations.append("\(address) begins again, and had ended well")
  }

  private func isDone(_ group: Subject) -> Bool { doneGroups[group] != nil }

  /// Whether it is `finally`, or in it, but no cleanup: it runs under each engine.
  private func isFinal(_ subject: Subject) -> Bool {
    if case .finally = blueprint.member(subject.id).part { true } else { false }
  }

  /// Whether an enclosing group was retried since.
  private func isVoid(_ subject: Subject, since at: Int) -> Bool {
    ([subject] + blueprint.enclosing(subject)).contains { (retried[$0] ?? 0) > at }
  }

  /// Whether that retry was made, or is still to be made: an enclosing scope may have ended before it could be.
  private func isReplaced(_ subject: Subject, since at: Int) -> Bool {
    ([subject] + blueprint.enclosing(subject)).contains { group in
      guard let retry = retried[group], retry > at else { return false }
      return !blueprint.enclosing(group).contains { (doneGroups[$0] ?? 0) > retry }
    }
  }

  /// Whether a cleanup step has succeeded since the last start of its step or group, and no retry of an enclosing
  /// group has invalidated that.
  private func isLastCleanup(_ subject: Subject) -> Bool {
    guard case .cleanup(let cleaned) = blueprint.member(subject.id).part else { return false }
    return begun[Subject(id: cleaned, keys: subject.keys)] ?? 0 < succeeded[subject] ?? 0
  }

  /// Whether it, or an enclosing group, was cleaned up since.
  private func isUndone(_ subject: Subject, since at: Int) -> Bool {
    ([subject] + blueprint.enclosing(subject)).contains { (cleaned[$0] ?? 0) > at }
  }
}
