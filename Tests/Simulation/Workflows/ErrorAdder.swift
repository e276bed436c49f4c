import WeftDefinition
import WeftJSON
import WeftTestKit

/// Adds values to a random workflow that cannot be computed, depending on the outcomes of other steps: conditions of
/// steps, groups and loops, lists, keys and limits of loops, variables of steps, and conditions of retries.
struct ErrorAdder: WorkflowAdder {
  static let salt: UInt64 = 0xE404
  static let densities = [0, 0, 12, 35]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  mutating func added(to step: Step) -> Step { added(to: step, inLoop: false) }

  private mutating func added(to steps: [Step], inLoop: Bool) -> [Step] {
    var added: [Step] = []
    for step in steps { added.append(self.added(to: step, inLoop: inLoop)) }
    return added
  }

  private mutating func added(to step: Step, inLoop: Bool) -> Step {
    guard let id = step.id?.text else { return step }
    var (step, inLoop) = (step, inLoop)
    if case .forEach = step.control.fanOut { inLoop = true }
    if chance() { addCondition(to: &step, id, inLoop: inLoop) }
    addErrors(toLoopOf: &step, id)
    addRetryConditions(to: &step, id)
    addCleanupConditions(to: &step, id)
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members, inLoop: inLoop)
      step.action = .group(group)
    case .run where step.service == nil:
      guard chance(), let error = error(for: id) else { break }
      made.variableErrors[id] = error
      step.settings.environment[RandomError.variable] =
        "${{ \(RandomError.text(of: RandomError.value, error)) }}"
    case .run, .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }

  /// An error that depends on a step which is visible from another step.
  private mutating func error(for id: String) -> RandomError? {
    guard let source = made.visible[id]?.randomElement(using: &random) else { return nil }
    made.readings[id, default: []].insert(source)
    return RandomError(source: source, outcome: outcome())
  }

  private mutating func outcome() -> String {
    ["success", "success", "failure", "cancelled", "skipped"].randomElement(using: &random)!
  }

  // MARK: Conditions

  private mutating func addCondition(to step: inout Step, _ id: String, inLoop: Bool) {
    let failing = RandomCondition.failing(if: reason(for: id, inLoop: inLoop))
    let condition: RandomCondition =
      switch (made.conditions[id], Int.random(in: 0..<3, using: &random)) {
      case (nil, 0): .and(status(), failing)
      case (let known?, 0): .and(known, failing)
      case (let known?, 1): .or(known, failing)
      default: failing
      }
    made.conditions[id] = condition
    step.control.condition = Condition(condition.text)
  }

  private mutating func status() -> RandomCondition {
    .status(RandomCondition.Status.allCases.randomElement(using: &random)!)
  }

  private mutating func reason(for id: String, inLoop: Bool) -> RandomCondition {
    if inLoop, Bool.random(using: &random) {
      return .index(is: Int.random(in: 0...2, using: &random))
    }
    guard Int.random(in: 0..<4, using: &random) > 0,
      let name = made.visible[id]?.randomElement(using: &random)
    else { return status() }
    return .outcome(of: name, is: outcome())
  }

  private mutating func addCleanupConditions(to step: inout Step, _ id: String) {
    let count = step.control.cleanup.count
    for index in step.control.cleanup.indices where chance() {
      let address = count == 1 ? "\(id).cleanup" : "\(id).cleanup.\(index + 1)"
      let condition = RandomCondition.failing(if: status())
      made.conditions[address] = condition
      step.control.cleanup[index].control.condition = Condition(condition.text)
    }
  }

  private mutating func addRetryConditions(to step: inout Step, _ id: String) {
    for index in step.control.retry.indices where chance() {
      let isGroup = if case .group = step.action { true } else { false }
      let condition = RandomRetryCondition.error(
        after: isGroup ? nil : Int.random(in: 1...2, using: &random))
      step.control.retry[index].condition = Condition(condition.text)
      made.retryConditions[id, default: [:]][index] = condition
    }
  }

  // MARK: Loops

  private mutating func addErrors(toLoopOf step: inout Step, _ id: String) {
    guard let fanOut = step.control.fanOut, chance(), let error = error(for: id) else { return }
    switch fanOut {
    case .forEach(var loop):
      switch (Int.random(in: 0..<3, using: &random), loop.elements, loop.maxParallel) {
      case (0, _, let limit?):
        loop.$maxParallel = .computed(
          Condition("${{ \(RandomError.text(of: "\(limit)", error)) }}"), until: limit)
        made.loopErrors[id] = error
      case (1, .values(.array(let values)), _):
        let texts = values.map { if case .string(let text) = $0 { text } else { "" } }
        made.lists[id] = RandomList(source: nil, otherwise: texts, error: error)
        loop.elements = .computed(Condition(made.lists[id]!.text))
      case (1, .computed, _):
        made.lists[id]?.error = error
        loop.elements = .computed(Condition(made.lists[id]!.text))
      default:
        loop.key = Condition(
          "format('n{0}', \(RandomError.text(of: RandomError.value, error)) && item)")
        made.loopErrors[id] = error
      }
      step.control.fanOut = .forEach(loop)
    case .matrix(var matrix):
      guard case .values(.array(let values)) = matrix.axes[0].values else { return }
      made.matrices[id] = matrix
      made.loopErrors[id] = error
      let texts = values.map { if case .string(let text) = $0 { text } else { "" } }
      matrix.axes[0].values = .computed(
        Condition("${{ \(RandomError.text(of: RandomList.json(texts), error)) }}"))
      step.control.fanOut = .matrix(matrix)
    }
  }
}
