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
  func title(of address: StepAddress) -> String? {
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
      case .program(let arguments): arguments.joined(separator: " ")
      }
    let line = mask.masked(text).drop(while: \.isWhitespace).prefix { !$0.isNewline }
    return line.count > StepLabels.commandLimit
      ? line.prefix(StepLabels.commandLimit) + "…" : String(line)
  }
}
