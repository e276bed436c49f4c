import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks the steps that were running when an engine was killed: one that is not to be made again fails as in doubt in each
/// later part that reaches it, until it is rerun on request or counted as done; any other is never in doubt.
struct InterruptionChecker {
  private let blueprint: Blueprint
  /// The steps of which it is unknown how far they got, over all parts.
  private var doubtful: Set<Subject> = []
  private(set) var violations: [String] = []
  /// The numbers of failures in doubt, and of steps that were counted as done.
  private(set) var counts = (failed: 0, accepted: 0)

  init(_ made: RandomWorkflow, _ parts: [RunPart]) {
    blueprint = Blueprint(made)
    for (index, part) in parts.enumerated() { check(part, number: index + 1) }
  }

  private mutating func check(_ part: RunPart, number: Int) {
    doubtful = doubtful.filter { step in
      !part.rerunSteps.contains(step.id)
        && !part.rerunAddresses.contains(StepAddress(blueprint.address(of: step)))
    }
    let doubted = part.doubted
    var running: Set<Subject> = []
    for event in part.events {
      switch event.kind {
      case .stepStarted(let address, _, _):
        let step = subject(address)
        if doubted.contains(address) { break }
        if doubtful.contains(step) {
          violations.append("part \(number): \(address) is in doubt, and starts again")
        }
        if mayBeInDoubt(step) { running.insert(step) }
      // A service that is ready may be started again at any time.
      case .stepRetrying(let address, _), .stepReady(let address, _):
        running.remove(subject(address))
      case .stepFinished(let address, let end):
        let step = subject(address)
        running.remove(step)
        guard end.failure?.classes.contains(.inDoubt) == true else { break }
        check(step, end, isAccepted: part.accepted.contains(address), number)
      case .groupRetrying(let address, _):
        // What an earlier attempt did no longer counts.
        let group = subject(address)
        doubtful = doubtful.filter { [blueprint] in !blueprint.enclosing($0).contains(group) }
      default: break
      }
    }
    if part.end == nil { doubtful.formUnion(running) }
  }

  private mutating func check(_ step: Subject, _ end: StepEnd, isAccepted: Bool, _ number: Int) {
    let name = "part \(number): \(blueprint.address(of: step))"
    if isAccepted { counts.accepted += 1 } else { counts.failed += 1 }
    if !doubtful.contains(step) {
      violations.append("\(name) fails as in doubt, and was not interrupted")
    }
    if (end.conclusion == .success) != isAccepted {
      violations.append(
        isAccepted
          ? "\(name) fails, although it is counted as done"
          : "\(name) is in doubt, and that is tolerated")
    }
    if isAccepted { doubtful.remove(step) }
  }

  /// Whether an interruption of a step leaves it in doubt.
  private func mayBeInDoubt(_ step: Subject) -> Bool {
    let member = blueprint.member(step.id)
    guard member.part == .main, case .run = member.step.action else {
      return false
    }
    switch member.step.control.onInterrupted {
    case .rerun: return false
    case .fail: return true
    case .adopt, nil: return !(member.step.control.isIdempotent ?? member.isService)
    }
  }

  private func subject(_ address: StepAddress) -> Subject {
    guard let subject = blueprint.subject(called: address.text) else {
      preconditionFailure("nothing has the address \(address)")
    }
    return subject
  }
}
