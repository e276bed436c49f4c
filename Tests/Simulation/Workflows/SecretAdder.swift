import WeftDefinition
import WeftTestKit

/// Adds secret outputs to the steps and groups of a random workflow, and variables that read them.
struct SecretAdder: WorkflowAdder {
  static let salt: UInt64 = 0x5EC2
  static let densities = [20, 50, 90]

  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int
  /// The steps and groups so far that have a secret, and those of them that are loops.
  private var holders: Set<String> = []
  private var loops: Set<String> = []

  init(random: SeededGenerator, made: RandomWorkflow, density: Int) {
    (self.random, self.made, self.density) = (random, made, density)
  }

  mutating func added(to step: Step) -> Step {
    guard let id = step.id?.text else { return step }
    var step = step
    switch step.action {
    case .group(var group):
      group.members = added(to: group.members)
      step.action = .group(group)
      addOutput(to: &step, group, id)
    case .run:
      addReading(to: &step, id)
      guard chance() else { break }
      step.outputs.append(RandomSecret.output(of: id))
      if step.control.fanOut == nil { holders.insert(id) } else { loops.insert(id) }
    case .compute, .wait, .approve, .workflow, .use, .http: break
    }
    return step
  }

  /// The secret of a member becomes one of the group.
  private mutating func addOutput(to step: inout Step, _ group: StepGroup, _ id: String) {
    let members = group.members.compactMap { $0.id?.text }.filter(holders.contains)
    guard group.order != .race, step.control.fanOut == nil, chance(),
      let member = members.randomElement(using: &random)
    else { return }
    step.outputs.append(RandomSecret.output(from: member))
    made.secretMembers[id] = member
    holders.insert(id)
  }

  private mutating func addReading(to step: inout Step, _ id: String) {
    let visible = made.visible[id] ?? []
    if chance(), let holder = visible.filter(holders.contains).randomElement(using: &random) {
      made.readings[id, default: []].insert(holder)
      step.settings.environment[RandomSecret.variable(holder)] = RandomSecret.reading(holder)
    }
    if chance(), let loop = visible.filter(loops.contains).randomElement(using: &random) {
      made.readings[id, default: []].insert(loop)
      step.settings.environment[RandomSecret.variable(loop)] = RandomSecret.readingAll(loop)
    }
  }
}

/// A secret that a step outputs when it succeeds.
enum RandomSecret {
  static let output = "secret"
  /// The beginning of every secret. Nothing that is shown or recorded contains it.
  static let beginning = "hidden-"
  static let none = "none"

  static func value(of id: String) -> String { "\(beginning)\(id)." }
  static func variable(_ id: String) -> String { "secret_\(id)" }

  static func output(of id: String) -> OutputDeclaration {
    OutputDeclaration(output, value: "${{ format('hidden-{0}.', '\(id)') }}", isSecret: true)
  }

  static func output(from member: String) -> OutputDeclaration {
    OutputDeclaration(
      output, value: "${{ self.steps.\(member).outputs.\(output) || '\(none)' }}", isSecret: true)
  }

  static func reading(_ id: String) -> String {
    "${{ steps.\(id).outputs.\(output) || '\(none)' }}"
  }

  /// Those of the elements that have one.
  static func readingAll(_ loop: String) -> String {
    "${{ join(steps.\(loop).results.*.outputs.\(output), '') }}"
  }
}
