import WeftDefinition
import WeftJSON
import WeftTestKit

/// Random workflows whose members are other files, at most two deep: with conditions and inputs that cannot be computed
/// if another member ended in one way, cleanups, `finally`, and approvals.
struct NestedFiles {
  private var random: SeededGenerator
  private var count = 0

  static func make(seed: UInt64) -> RandomWorkflow {
    var maker = NestedFiles(random: SeededGenerator(seed: seed ^ 0xF11E))
    return RandomWorkflow(workflow: maker.file(depth: 0))
  }

  private init(random: SeededGenerator) { self.random = random }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
  private mutating func chance(_ percent: Int) -> Bool { number(0..<100) < percent }

  private mutating func file(depth: Int) -> Workflow {
    count += 1
    let name = "w\(count)"
    var members: [Step] = []
    for _ in 0..<number(1..<5) { members.append(member(after: members, depth: depth)) }
    let order: StepGroup.Order = chance(60) ? .steps : .parallel
    var workflow = Workflow(
      name: name, body: StepGroup(order, members),
      onFailure: FailureResponse.allCases.randomElement(using: &random)!)
    workflow.inputs = depth > 0 ? [InputDeclaration("x", default: .string(""))] : []
    if chance(50) { workflow.finally = (0..<number(1..<3)).map { _ in command() } }
    return workflow
  }

  private mutating func member(after earlier: [Step], depth: Int) -> Step {
    var step = command()
    if depth < 2, chance(depth == 0 ? 60 : 30) {
      let inner = file(depth: depth + 1)
      step = Step(
        step.id!, workflow: inner, with: chance(50) ? [Parameter("x", .text(text(earlier)))] : [])
    } else if chance(15) {
      step = Step(id: step.id, action: .approve(Approval(message: "go on?")))
    }
    if chance(15) { step.control.condition = Condition(condition(earlier)) }
    if chance(20) { step.allowFailure = .all }
    if chance(25) { step.control.cleanup = [command(named: false)] }
    return step
  }

  private mutating func command(named: Bool = true) -> Step {
    count += 1
    var step = Step(
      id: named ? StepID("s\(count)") : nil, action: .run(Command(.program(["true"]))))
    step.control.isIdempotent = true
    return step
  }

  /// An input that cannot be computed if an earlier member ended in one way.
  private mutating func text(_ earlier: [Step]) -> String {
    "${{ fromJSON(\(reason(earlier)) && 'oops' || '1') }}"
  }

  private mutating func condition(_ earlier: [Step]) -> String {
    let status = ["success()", "always()", "!cancelled()"].randomElement(using: &random)!
    return "\(status) && fromJSON(\(reason(earlier)) && 'oops' || 'true')"
  }

  private mutating func reason(_ earlier: [Step]) -> String {
    guard let id = earlier.randomElement(using: &random)?.id else { return "run.attempt == 99" }
    let outcomes = ["failure", "cancelled", "skipped", "failure", "success"]
    return "steps.\(id.text).outcome == '\(outcomes.randomElement(using: &random)!)'"
  }
}
