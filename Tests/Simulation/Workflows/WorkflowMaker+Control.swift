import WeftDefinition
import WeftJSON
import WeftTestKit

/// Conditions, retries and loops of steps and groups.
extension WorkflowMaker {
  mutating func tolerance() -> FailureTolerance {
    guard chance(density) else { return .none }
    return [.all, .classes([.exit(1)]), .classes([.timeout, .signal])].randomElement(
      using: &random)!
  }

  // MARK: Conditions

  mutating func addCondition(to step: inout Step, _ id: String, in around: Surroundings) {
    guard chance(density + 5) else { return }
    var isInLoop = around.isInLoop
    if case .forEach = step.control.fanOut { isInLoop = true }
    let condition = condition(depth: 2, naming: candidates(in: around), inLoop: isInLoop)
    made.conditions[id] = condition
    step.control.condition = Condition(condition.text)
  }

  private mutating func condition(
    depth: Int, naming names: [String], inLoop: Bool
  ) -> RandomCondition {
    switch number(0...(depth > 0 ? 11 : 7)) {
    case 0, 1, 2: return .status(RandomCondition.Status.allCases.randomElement(using: &random)!)
    case 3 where inLoop, 4 where inLoop: return .index(is: number(0...3))
    case 3, 4, 5:
      guard let name = names.randomElement(using: &random) else { return .status(.always) }
      let outcomes = ["success", "success", "failure", "cancelled", "skipped"]
      return .outcome(of: name, is: outcomes.randomElement(using: &random)!)
    case 6: return .literal(chance(60))
    case 7: return .status(.always)
    case 8: return .not(condition(depth: depth - 1, naming: names, inLoop: inLoop))
    case 9:
      return .and(
        condition(depth: depth - 1, naming: names, inLoop: inLoop),
        condition(depth: depth - 1, naming: names, inLoop: inLoop))
    default:
      return .or(
        condition(depth: depth - 1, naming: names, inLoop: inLoop),
        condition(depth: depth - 1, naming: names, inLoop: inLoop))
    }
  }

  // MARK: Retries

  mutating func policies() -> [RetryPolicy] {
    if chance(40) { return [RetryPolicy(max: number(1...3))] }
    return (0..<number(1...2)).map { _ in
      let classes: [[ErrorClass]?] = [nil, [.exit], [.exit(1)], [.signal, .timeout], [.exit(2)]]
      return RetryPolicy(
        max: number(0...3), delay: .milliseconds(number(0...4) * 500),
        factor: [1, 1.5, 2, 10].randomElement(using: &random)!,
        maxDelay: .seconds(number(2...20)), jitter: chance(50) ? .full : .none,
        within: chance(25) ? .seconds(number(1...30)) : nil,
        classes: classes.randomElement(using: &random)!)
    }
  }

  // MARK: Loops

  mutating func addLoop(
    to step: inout Step, _ id: String, isGroup: Bool, in around: Surroundings
  ) {
    guard around.copies <= (isGroup ? 4 : 16), chance(density) else { return }
    step.control.fanOut = chance(30) ? .matrix(matrix()) : .forEach(forEach())
  }

  private mutating func forEach() -> ForEach {
    let tolerance: FanOutTolerance =
      switch number(0...3) {
      case 0: .count(number(1...2))
      case 1: .percent([0, 25, 50, 100].randomElement(using: &random)!)
      default: .count(0)
      }
    return ForEach(
      in: .values(listing()), maxParallel: chance(35) ? number(1...2) : nil, tolerating: tolerance)
  }

  private mutating func listing() -> JSONValue {
    let texts = ["a", "b", "c", "d"].prefix(chance(15) ? 0 : number(1...4))
    if chance(60) { return .array(texts.map(JSONValue.string)) }
    return .object(JSONObject(texts.map { ("k-\($0)", .string($0)) }))
  }

  private mutating func matrix() -> Matrix {
    let axes = ["x", "y"].prefix(number(1...2)).map { name in
      Matrix.Axis(name, .values(.array((1...number(1...2)).map { .string("\(name)\($0)") })))
    }
    return Matrix(axes: Array(axes))
  }

  // MARK: Cleanup

  mutating func addCleanup(to step: inout Step, _ id: String) {
    guard chance(density) else { return }
    let count = chance(75) ? 1 : 2
    step.control.cleanup = (1...count).map { number in
      var cleaning = Step(action: .run(Command(.program(["true"]))))
      let address = count == 1 ? "\(id).cleanup" : "\(id).cleanup.\(number)"
      if chance(15) {
        let condition = RandomCondition.status(
          RandomCondition.Status.allCases.randomElement(using: &random)!)
        made.conditions[address] = condition
        cleaning.control.condition = Condition(condition.text)
      }
      cleaning.allowFailure = tolerance()
      return cleaning
    }
  }
}
