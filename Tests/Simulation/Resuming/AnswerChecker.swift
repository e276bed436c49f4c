import WeftDefinition
import WeftEvents
import WeftExecution
import WeftPlanning

/// Checks that an answer which was left for a run is taken by its question, under whichever engine that is asked again.
struct AnswerChecker {
  /// The answers that no question has taken: whether they approve.
  private var untaken: [StepAddress: Bool] = [:]
  /// The steps that have asked in this part.
  private var asked: Set<StepAddress> = []
  private(set) var violations: [String] = []

  init(_ parts: [RunPart]) {
    for part in parts {
      asked = []
      for request in part.answers {
        switch request {
        case .approve(let step): untaken[step] = true
        case .reject(let step): untaken[step] = false
        case .cancel, .kill: break
        }
      }
      for event in part.events { note(event.kind) }
    }
  }

  private mutating func note(_ kind: RunEvent.Kind) {
    switch kind {
    case .stepAsking(let step, _):
      // A second question is another one.
      if !asked.insert(step).inserted { untaken[step] = nil }
    case .stepSkipped(let step, let reason):
      if !reason.blocksDependents { untaken[step] = nil }
    case .stepFinished(let step, let end):
      // A step whose time limit cannot be computed does not ask.
      guard end.outcome != .cancelled, end.failure?.classes != [.expression],
        let approves = untaken.removeValue(forKey: step)
      else {
        break
      }
      let isTaken =
        approves ? end.approvedBy != nil : end.failure?.classes.contains(.rejected) == true
      if !isTaken {
        violations.append("\(step) was \(approves ? "approved" : "rejected"), and ended as \(end)")
      }
    case .runWaiting(let pause):
      for request in pause.requests where untaken[request.step] != nil {
        violations.append("\(request.step) has its answer, and is waited for")
      }
    default: break
    }
  }
}
