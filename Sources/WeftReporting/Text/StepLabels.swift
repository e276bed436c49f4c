import WeftDefinition
import WeftEvents
package import WeftExecution
package import WeftPlanning

/// The titles of a plan's steps.
package struct StepLabels: Sendable {
  private let titles: [StepAddress: String]
  /// The source of the other titles; `nil` if there are none.
  private let plan: Plan?
  private let indices: [StepAddress: Int32]
  private let mask: SecretMask
  let shape: RunShape

  /// Creates labels from a plan. A step's title is its name; without name and ID, the first line of its command.
  ///
  /// - Parameter mask: Masks secrets that the file itself contains.
  package init(_ plan: Plan, mask: SecretMask = .none) {
    self.mask = mask
    var indices: [StepAddress: Int32] = [:]
    for (index, planned) in plan.steps.enumerated() where planned.hasTitle {
      indices[planned.address] = Int32(index)
    }
    self.plan = indices.isEmpty ? nil : plan
    self.indices = indices
    titles = [:]
    shape = RunShape(plan)
  }

  /// - Parameter titles: The titles by address; missing ones have none.
  package init(titles: [StepAddress: String] = [:]) {
    self.titles = titles
    mask = .none
    plan = nil
    indices = [:]
    shape = RunShape()
  }

  /// Returns a step's title besides its address, not yet sanitized.
  package func title(of address: StepAddress) -> String? {
    guard let plan else { return titles[address] }
    guard let index = indices[address] ?? indices[planned(address)] else { return nil }
    let planned = plan.steps[Int(index)]
    return plan.name(of: planned).map(mask.masked)
      ?? planned.command.map { summary(of: $0.invocation) }
  }

  /// Returns the loop's address for an element, since both have the same title.
  private func planned(_ address: StepAddress) -> StepAddress {
    address.loop.map(shape.planned) ?? address
  }

  private static let commandLimit = 60

  private func summary(of invocation: Command.Invocation) -> String {
    let text =
      switch invocation {
      case .script(let script): script
      case .file(let file): file.path
      case .program(let arguments): arguments.joined(separator: " ")
      }
    let line = mask.masked(text).drop(while: \.isWhitespace).prefix { !$0.isNewline }
    return line.count > StepLabels.commandLimit
      ? line.prefix(StepLabels.commandLimit) + "…" : String(line)
  }
}

/// The facts about a plan that displays need: which steps are repeated, or are in a scope that may absorb their
/// failures. Addresses are those of the plan, without elements.
struct RunShape: Sendable {
  /// For loops, retried groups and failure boundaries: the number of steps in the plan within them, excluding cleanup
  /// steps.
  private var sizes: [StepAddress: Int] = [:]
  /// For steps and groups, the innermost of these around them, if any.
  private var scopes: [StepAddress: StepAddress] = [:]
  /// Cleanup steps, which are reported only if they run.
  private var cleanups: Set<StepAddress> = []
  /// Those of them that run again with each attempt of a group.
  private var repeatedCleanups: Set<StepAddress> = []

  /// Creates the shape of a plan without repeated steps, failure boundaries and cleanup steps.
  init() {}

  init(_ plan: Plan) {
    for index in plan.bodies.cleanupSteps {
      let step = plan.steps[index]
      cleanups.insert(step.address)
      let around = plan.allEnclosingGroups(ofGroup: step.group)
      if around.contains(where: { plan.groups[$0].isRetried }) {
        repeatedCleanups.insert(step.address)
      }
    }
    let nearest = plan.nearestBoundaries()
    for (index, group) in plan.groups.enumerated() where !group.isTopLevel {
      guard let address = group.address else { continue }
      if group.isBoundary { sizes[address] = 0 }
      if let around = nearest[plan.groups[index].parent ?? 0] { scopes[address] = around }
    }
    for step in plan.steps where cleanups.isEmpty || !cleanups.contains(step.address) {
      note(step, in: nearest[step.group])
    }
  }

  private mutating func note(_ step: PlannedStep, in scope: StepAddress?) {
    let address = step.address
    if step.isLoop { sizes[address] = 1 }
    guard let scope else { return }
    scopes[address] = scope
    var next: StepAddress? = scope
    while let scope = next {
      sizes[scope]? += 1
      next = scopes[scope]
    }
  }

  func size(of planned: StepAddress) -> Int? { sizes[planned] }
  func scope(around planned: StepAddress) -> StepAddress? { scopes[planned] }
  /// The number of cleanup steps.
  var cleanupCount: Int { cleanups.count }
  func cleansUp(_ step: StepAddress) -> Bool {
    !cleanups.isEmpty && cleanups.contains(planned(step))
  }
  func cleansUpRepeatedly(_ step: StepAddress) -> Bool {
    !repeatedCleanups.isEmpty && repeatedCleanups.contains(planned(step))
  }

  private func isKnown(_ address: StepAddress) -> Bool {
    sizes[address] != nil || scopes[address] != nil || cleanups.contains(address)
  }

  /// Returns the address in the plan of an instance such as `upload[3]` or `deploy[eu].push`.
  func planned(_ address: StepAddress) -> StepAddress {
    address.planned(isKnown: isKnown)
  }
}

extension Plan {
  /// Returns for each group the innermost failure boundary for its members, which may be itself.
  fileprivate func nearestBoundaries() -> [StepAddress?] {
    var nearest: [StepAddress?] = []
    for group in groups {
      nearest.append(
        group.isBoundary ? group.address : group.parent.flatMap { nearest[$0] })
    }
    return nearest
  }
}

extension PlannedGroup {
  fileprivate var isRetried: Bool {
    step.map { $0.hasControl && !$0.control.retry.isEmpty } ?? false
  }
}
