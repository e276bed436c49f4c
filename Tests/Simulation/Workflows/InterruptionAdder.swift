import WeftDefinition
import WeftTestKit

/// Says of each command of a random workflow whether it is idempotent, and what follows if it is interrupted.
struct InterruptionAdder: WorkflowAdder {
  static let salt: UInt64 = 0x1D0
  static let densities = [20, 60, 90]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  mutating func added(to step: Step) -> Step {
    var step = step
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
    case .run:
      if chance() { step.control.isIdempotent = Int.random(in: 0..<3, using: &random) == 0 }
      if Int.random(in: 0..<4, using: &random) == 0 {
        step.control.onInterrupted = [.rerun, .fail].randomElement(using: &random)!
      }
    case .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }
}
