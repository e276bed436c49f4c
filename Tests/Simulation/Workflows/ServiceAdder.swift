import WeftDefinition
import WeftTestKit

/// Turns steps of a random workflow into services.
struct ServiceAdder: StepAdder {
  var random: SeededGenerator
  var made: RandomWorkflow
  let density: Int
  /// The steps that something outside of their group names in `needs`; they cannot be services.
  private let neededOutside: Set<String>

  static func add(to made: RandomWorkflow, seed: UInt64) -> RandomWorkflow {
    var random = SeededGenerator(seed: seed ^ 0x5E6F)
    let density = [0, 0, 20, 60].randomElement(using: &random)!
    guard density > 0 else { return made }
    var adder = ServiceAdder(random: random, made: made, density: density)
    adder.made.workflow.body.members = adder.added(to: made.workflow.body.members)
    return adder.made
  }

  private init(random: SeededGenerator, made: RandomWorkflow, density: Int) {
    (self.random, self.made, self.density) = (random, made, density)
    neededOutside = NeedsAcrossGroups(made.workflow.body.members).names
  }

  mutating func added(to step: Step) -> Step {
    var step = step
    guard case .group(var group) = step.action else {
      return step.isPlainCommand ? maybe(step) : step
    }
    if group.order == .race || group.join != .all {
      // A member that is ready would decide the group.
      group.members = group.members.map { if case .group = $0.action { added(to: $0) } else { $0 } }
    } else {
      group.members = added(to: group.members)
    }
    step.action = .group(group)
    let hasService = group.members.contains { $0.service != nil }
    for index in step.control.retry.indices where hasService && Bool.random(using: &random) {
      step.control.retry[index].classes = [.service, .exit, .timeout]
    }
    return step
  }

  private mutating func maybe(_ step: Step) -> Step {
    guard let id = step.id?.text, !neededOutside.contains(id), made.limits[id] == nil,
      number(0..<100) < density
    else { return step }
    var (step, command) = (step, Command(.program(["serve"])))
    command.service = Command.Service(
      ready: .tcp("127.0.0.1:1"), timeout: .seconds(number(1..<12)), restarts: number(0..<3))
    step.action = .run(command)
    step.timeout = nil
    step.control.retry = []
    if number(0..<3) > 0 { step.control.pools = [] }
    made.retryConditions[id] = nil
    return step
  }

  private mutating func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
}

extension Step {
  fileprivate var isPlainCommand: Bool {
    if case .run = action { control.fanOut == nil } else { false }
  }

  /// The settings of the service that it is.
  var service: Command.Service? {
    if case .run(let command) = action { command.service } else { nil }
  }
}

/// The names in `needs` of steps that are not in the same group as the named one, at any depth.
private struct NeedsAcrossGroups {
  private(set) var names: Set<String> = []
  private var groups: [String: [String]] = [:]

  init(_ steps: [Step]) {
    place(steps, in: [])
    check(steps, in: [])
  }

  private mutating func place(_ steps: [Step], in around: [String]) {
    for step in steps {
      guard let id = step.id?.text else { continue }
      groups[id] = around
      if case .group(let group) = step.action { place(group.members, in: around + [id]) }
    }
  }

  private mutating func check(_ steps: [Step], in around: [String]) {
    for step in steps {
      for need in step.needs ?? [] where !around.starts(with: groups[need.name] ?? []) {
        names.insert(need.name)
      }
      guard let id = step.id?.text, case .group(let group) = step.action else { continue }
      check(group.members, in: around + [id])
    }
  }
}
