import WeftDefinition
import WeftTestKit

/// Adds outputs that cannot be computed if another step ended in one way, to steps, groups and elements of loops of a
/// random workflow. Those of a group may depend on a member.
struct OutputAdder: WorkflowAdder {
  static let salt: UInt64 = 0x0B7
  static let densities = [0, 0, 12, 35]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var (step, members) = (step, [String]())
    if case .group(var group) = step.action {
      group.members = added(to: group.members)
      members = group.members.compactMap { $0.id?.text }
      step.action = .group(group)
    }
    guard step.service == nil, chance() else { return step }
    let isOfMember = !members.isEmpty && Bool.random(using: &random)
    let sources = isOfMember ? members : made.visible[id] ?? []
    guard let source = sources.randomElement(using: &random) else { return step }
    if !isOfMember { made.readings[id, default: []].insert(source) }
    let outcomes = ["success", "success", "failure", "cancelled", "skipped"]
    let error = RandomError(
      source: source, outcome: outcomes.randomElement(using: &random)!, isOfMember: isOfMember)
    made.outputErrors[id] = error
    step.outputs.append(
      OutputDeclaration(RandomError.output, value: "${{ \(RandomError.text(of: "1", error)) }}"))
    for index in step.control.retry.indices where chance() {
      step.control.retry[index].classes = [.output, .exit]
      made.retries[id]?.ifSucceeded.classes = [.output, .exit]
      made.retries[id]?.otherwise.classes = [.output, .exit]
    }
    return step
  }
}
