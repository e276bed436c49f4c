import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks in each part of a run which values cannot be computed: a step, group or loop that starts fails by an error if
/// the outcomes of the others say so, and only then.
///
/// It does not know the status functions, nor the outcomes of groups that never started: each value of them is possible.
struct ErrorChecker {
  private let blueprint: Blueprint
  /// The outcomes in this part. Each part reports again what it restores.
  private var outcomes: [Subject: Outcome] = [:]
  private var restoredGroups: Set<Subject> = []
  private(set) var violations: [String] = []
  /// The number of errors that were found.
  private(set) var errors = 0

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts {
      (outcomes, restoredGroups) = ([:], [])
      for event in part.events { note(event.kind) }
    }
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    switch kind {
    case .stepStarted(let step, _, _): outcomes[subject(step)] = nil
    case .stepFinished(let step, let end):
      check(subject(step), end.failure, isOwn: true)
      check(outputsOf: subject(step), end.outcome, end.failure)
      outcomes[subject(step)] = end.outcome
    case .stepRestored(let step, let end), .stepReady(let step, let end):
      outcomes[subject(step)] = end.outcome
    case .stepSkipped(let step, let reason):
      outcomes[subject(step)] = reason.outcome
      for group in blueprint.enclosing(subject(step)) { outcomes[group] = nil }
    case .groupStarted(let group, let start):
      if start.isRestored { restoredGroups.insert(subject(group)) }
      outcomes[subject(group)] = nil
    case .groupRetrying(let group, _):
      let group = subject(group)
      outcomes = outcomes.filter { !blueprint.enclosing($0.key).contains(group) }
    case .groupFinished(let address, let end):
      let group = subject(address)
      if restoredGroups.remove(group) == nil {
        check(group, end.failure, isOwn: end.cause == nil)
        check(outputsOf: group, end.outcome, end.cause == nil ? end.failure : nil)
      }
      outcomes[group] = end.outcome
    default: break
    }
  }

  private mutating func check(_ subject: Subject, _ failure: StepFailure?, isOwn: Bool) {
    // Its value was not asked for.
    if failure?.classes.contains(.inDoubt) == true || failure?.classes == [.limit] { return }
    let hasError = isOwn && failure?.classes == [.expression]
    if hasError { errors += 1 }
    guard !mayFail(subject).contains(hasError) else { return }
    violations.append(
      "\(blueprint.address(of: subject)) "
        + (hasError
          ? "fails by an error, and there is none" : "has an error, and does not fail by it"))
  }

  /// Checks that what has outputs that cannot be computed does not succeed, and fails by them only if it has such.
  private mutating func check(
    outputsOf subject: Subject, _ outcome: Outcome, _ failure: StepFailure?
  ) {
    let isWhole = blueprint.isWholeLoop(subject)
    let mayFail = values(of: isWhole ? nil : blueprint.made.outputErrors[subject.id], from: subject)
    let isFailed = failure?.classes == [.output]
    if isFailed { errors += 1 }
    guard isFailed ? !mayFail.contains(true) : outcome == .success && mayFail == [true] else {
      return
    }
    violations.append(
      "\(blueprint.address(of: subject)) ends in \(outcome), and its outputs "
        + (isFailed ? "can be computed" : "cannot be computed"))
  }

  /// Whether something in it cannot be computed: both if that is not known.
  private func mayFail(_ subject: Subject) -> Set<Bool> {
    var found = conditionMayFail(subject)
    let made = blueprint.made
    if !blueprint.member(subject.id).isLoop || blueprint.isElement(subject) {
      for error in made.attemptErrors(of: subject.id) {
        let occurs = values(of: error, from: subject)
        if occurs.contains(true) { found.insert(true) }
        if occurs == [true] { found.remove(false) }
      }
      return found
    }
    for error in [made.loopErrors[subject.id], made.lists[subject.id]?.error] where error != nil {
      // A list may be found before the error, and have no elements whose keys could be errors.
      if values(of: error, from: subject).contains(true) { found.insert(true) }
    }
    return found
  }

  private func values(of error: RandomError?, from subject: Subject) -> Set<Bool> {
    guard let error else { return [false] }
    let outcome = outcomes[blueprint.subject(error.source, from: subject)]
    return outcome.map { [$0.rawValue == error.outcome] } ?? [true, false]
  }

  private func conditionMayFail(_ subject: Subject) -> Set<Bool> {
    let member = blueprint.member(subject.id)
    guard let condition = member.condition, condition.mayFail else { return [false] }
    let isPerElement = condition.asksAboutElement && blueprint.isForEach(subject.id)
    if member.isLoop, isPerElement != blueprint.isElement(subject) { return [false] }
    let unknown = condition.references.filter {
      outcomes[blueprint.subject($0, from: subject)] == nil
    }
    let possible: [Outcome] = [.success, .failure, .cancelled, .skipped]
    var combinations: [[String: Outcome]] = [[:]]
    for name in unknown {
      combinations = combinations.flatMap { known in
        possible.map { known.merging([name: $0]) { $1 } }
      }
    }
    var found: Set<Bool> = []
    for assumed in combinations {
      for status in 0..<8 {
        for index in condition.asksAboutElement ? [nil, 0, 1, 2, 3] : [nil] {
          let known = RandomCondition.Known(
            success: status & 1 > 0, failure: status & 2 > 0, cancelled: status & 4 > 0,
            index: index
          ) { name in
            (assumed[name] ?? outcomes[blueprint.subject(name, from: subject)])?.rawValue
          }
          // A condition that is false skips it.
          switch condition.value(known) {
          case nil: found.insert(true)
          case true?: found.insert(false)
          case false?: break
          }
        }
      }
    }
    return found.isEmpty ? [false] : found
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }
}

extension GroupEnd {
  /// Whether a value of its own could not be computed.
  var failsAtStart: Bool { failure?.classes == [.expression] && cause == nil }
}
