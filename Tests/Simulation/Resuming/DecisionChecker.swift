import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that a race or join which was decided in one part of a run stays decided in the next: the winner is the same,
/// and no other member starts. A join abandons no step in doubt, as a race does.
struct DecisionChecker {
  private let blueprint: Blueprint
  /// The members of races and joins that have succeeded, in order, over all parts.
  private var successes: [Subject: [Subject]] = [:]
  /// The races and joins that were decided before this part.
  private var decided: Set<Subject> = []
  private(set) var violations: [String] = []
  /// The number of parts that found a decided race or join.
  private(set) var decisions = 0

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for part in parts { check(part) }
  }

  private mutating func check(_ part: RunPart) {
    let rerun = Set(part.rerunAddresses.map { subject($0).id }).union(part.rerunSteps)
    for group in Array(successes.keys)
    where rerun.contains(where: { blueprint.isInside($0, group.id) }) {
      successes[group] = nil
    }
    decided = Set(
      successes.filter { isDecided($0.key, by: $0.value) && !mayBeUndone($0.key) }.keys)
    decisions += decided.count
    let doubted = part.doubted
    for event in part.events {
      note(event.kind, doubted)
      requireNoneAbandoned(event.kind, of: part.interrupted)
    }
  }

  private func isDecided(_ group: Subject, by members: [Subject]) -> Bool {
    guard let known = blueprint.member(group.id).group else { return false }
    if known.order == .race { return !members.isEmpty }
    if case .atLeast(let count) = known.join { return members.count >= count }
    return false
  }

  private mutating func note(_ kind: RunEvent.Kind, _ doubted: Set<StepAddress>) {
    switch kind {
    case .stepStarted(let address, _, _) where !doubted.contains(address):
      requireMayStart(subject(address))
    case .stepFinished(let address, let end): ended(subject(address), end.conclusion)
    case .groupFinished(let address, let end):
      let group = subject(address)
      if decided.contains(group), blueprint.member(group.id).group?.order == .race,
        end.outcome == .success, let first = successes[group]?.first,
        end.winner != StepAddress(blueprint.address(of: first))
      {
        violations.append(
          "\(address) was won by \(first.id), and now by \(String(describing: end.winner))")
      }
      ended(group, end.conclusion)
    case .groupRetrying(let address, _):
      let group = subject(address)
      let isOutside = { [blueprint] (known: Subject) in
        known != group && !blueprint.enclosing(known).contains(group)
      }
      successes = successes.filter { isOutside($0.key) }
      decided = decided.filter(isOutside)
    default: break
    }
  }

  private mutating func ended(_ member: Subject, _ conclusion: Outcome) {
    guard conclusion == .success, blueprint.member(member.id).part == .main,
      let group = blueprint.around(member), blueprint.member(group.id).endsEarly,
      !blueprint.isWholeLoop(group), successes[group]?.contains(member) != true
    else { return }
    successes[group, default: []].append(member)
  }

  private mutating func requireMayStart(_ step: Subject) {
    let chain = [step] + blueprint.enclosing(step)
    guard blueprint.member(step.id).part == .main else { return }
    for (member, group) in zip(chain, chain.dropFirst()) {
      // What calls cancelled() or always() starts in a group that is being ended.
      if blueprint.member(member.id).condition?.standsCancellation == true { return }
      guard decided.contains(group) else { continue }
      if successes[group]?.contains(member) == true { continue }
      violations.append("\(blueprint.address(of: step)) starts, and \(group.id) was decided before")
    }
  }

  private mutating func requireNoneAbandoned(
    _ kind: RunEvent.Kind, of interrupted: Set<StepAddress>
  ) {
    guard case .stepSkipped(let address, .cancelled(.joined(let join))) = kind else { return }
    let inside = interrupted.filter { step in
      step == address
        || blueprint.enclosing(subject(step)).contains { blueprint.address(of: $0) == address.text }
    }
    for step in inside.sorted(by: { $0.text < $1.text }) {
      violations.append("\(step) is in doubt, and \(join) abandons it")
    }
  }

  /// Whether a cleanup may undo a group, or something in it or around it, so that it runs again.
  private func mayBeUndone(_ group: Subject) -> Bool {
    let around = [group.id] + blueprint.enclosing(group).map(\.id)
    return blueprint.members.values.contains {
      !$0.step.control.cleanup.isEmpty
        && (around.contains($0.id) || blueprint.isInside($0.id, group.id))
    }
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }
}
