import WeftDefinition
import WeftTestKit

/// Adds something to the steps of a random workflow, at any depth.
///
/// Each has its own random numbers, so that a seed that has found a fault still makes the same workflow otherwise.
protocol StepAdder {
  var random: SeededGenerator { get set }
  var made: RandomWorkflow { get set }
  /// The percentage of places that get something.
  var density: Int { get }

  mutating func added(to step: Step) -> Step
}

extension StepAdder {
  mutating func chance() -> Bool { Int.random(in: 0..<100, using: &random) < density }

  mutating func added(to steps: [Step]) -> [Step] {
    var added: [Step] = []
    for step in steps { added.append(self.added(to: step)) }
    return added
  }
}

/// An adder to all steps of a workflow, and to those of `finally`.
protocol WorkflowAdder: StepAdder {
  /// Makes its choices independent of those of other adders with the same seed.
  static var salt: UInt64 { get }
  /// The densities, of which a seed has one.
  static var densities: [Int] { get }

  init(random: SeededGenerator, made: RandomWorkflow, density: Int)

  /// Makes what all steps share; by default nothing.
  mutating func prepare()
}

extension WorkflowAdder {
  static func add(to made: RandomWorkflow, seed: UInt64) -> RandomWorkflow {
    var random = SeededGenerator(seed: seed ^ salt)
    let density = densities.randomElement(using: &random)!
    guard density > 0 else { return made }
    var adder = Self(random: random, made: made, density: density)
    adder.prepare()
    adder.made.workflow.body.members = adder.added(to: made.workflow.body.members)
    adder.made.workflow.finally = adder.added(to: made.workflow.finally)
    return adder.made
  }

  mutating func prepare() {}
}
