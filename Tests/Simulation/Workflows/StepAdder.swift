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
