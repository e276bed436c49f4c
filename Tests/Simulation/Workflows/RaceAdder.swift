import WeftDefinition
import WeftTestKit

/// Replaces commands of a random workflow by races and joins of commands, approvals and waits.
struct RaceAdder: StepAdder {
  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  static func add(to made: RandomWorkflow, seed: UInt64) -> RandomWorkflow {
    var random = SeededGenerator(seed: seed ^ 0x2ACE)
    let density = [25, 50, 80].randomElement(using: &random)!
    var adder = RaceAdder(random: random, made: made, density: density)
    adder.made.workflow.body.members = adder.added(to: made.workflow.body.members)
    return adder.made
  }

  private init(random: SeededGenerator, made: RandomWorkflow, density: Int) {
    (self.random, self.made, self.density) = (random, made, density)
  }

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var step = step
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
    case .run where step.settings.environment.isEmpty && step.control.pools.isEmpty && chance():
      let count = number(2..<5)
      let members = (0..<count).map { member("\(id)_\($0)", in: id) }
      switch number(0..<5) {
      case 0, 1: step.action = .group(StepGroup(.race, members))
      case 2, 3:
        step.action = .group(
          StepGroup(.parallel, members, join: .atLeast(number(1..<count + 1))))
      default:
        step.action = .group(
          StepGroup([.steps, .parallel].randomElement(using: &random)!, members))
      }
    case .run, .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }

  private mutating func member(_ id: String, in group: String) -> Step {
    made.visible[id] = made.visible[group]
    var step = Step(id: StepID(id), action: .run(Command(.program(["true"]))))
    switch number(0..<8) {
    case 0, 1, 2: step.action = .approve(Approval(message: "go on?"))
    case 3, 4: step.action = .wait(.duration(.seconds(number(0..<13))))
    default: if number(0..<4) == 0 { step.control.retry = [RetryPolicy(max: number(1..<3))] }
    }
    if case .approve = step.action {
      if number(0..<3) == 0 { step.timeout = .seconds(number(1..<21)) }
      if number(0..<3) == 0 { step.allowFailure = .all }
    }
    return step
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
}
