import WeftDefinition
import WeftTestKit

/// A workflow that chance wrote: nested groups of all orders, and needs across them.
///
/// The needs of a sound one lead only to what ended before in an order drawn beforehand; of an
/// unsound one anywhere but to ancestors and descendants. None leads from outside into a race.
struct RandomWorkflow {
  private(set) var workflow: Workflow

  private struct Shape {
    var id: String
    var order: StepGroup.Order
    var members: [Shape]?
  }

  init(using random: inout SeededGenerator, allowingCycles: Bool = false, size: Int = 12) {
    var count = 0
    let members = RandomWorkflow.members(size, 0, &count, &random)
    let order = StepGroup.Order.allCases.randomElement(using: &random)!
    // Needs are added one by one, and taken back where they close a cycle.
    var needs: [String: [String]] = [:]
    let names = RandomWorkflow.names(in: members)
    let build = { (needs: [String: [String]]) in
      Workflow(body: StepGroup(order, members.map { RandomWorkflow.step($0, needs) }))
    }
    for _ in 0..<Int.random(in: 0...names.count, using: &random) {
      let name = names.randomElement(using: &random)!
      let target = names.randomElement(using: &random)!
      let isRelated =
        name == target || RandomWorkflow.names(in: members, under: name).contains(target)
        || RandomWorkflow.names(in: members, under: target).contains(name)
      let isHidden = RandomWorkflow.races(in: members).contains { race in
        race.contains(target) && !race.contains(name)
      }
      guard !isRelated, !isHidden, needs[name]?.contains(target) != true else { continue }
      let before = needs
      needs[name, default: []].append(target)
      if !allowingCycles, ReferenceOrder(of: build(needs)).hasCycle { needs = before }
    }
    workflow = build(needs)
  }

  private static func members(
    _ size: Int, _ depth: Int, _ count: inout Int, _ random: inout SeededGenerator
  ) -> [Shape] {
    (0..<Int.random(in: depth == 0 ? 1...5 : 0...4, using: &random)).compactMap { _ in
      guard count < size else { return nil }
      count += 1
      let id = "s\(count)"
      let isGroup = depth < 4 && Int.random(in: 0..<3, using: &random) == 0
      let order = StepGroup.Order.allCases.randomElement(using: &random)!
      let inner = isGroup ? members(size, depth + 1, &count, &random) : nil
      return Shape(id: id, order: order, members: inner)
    }
  }

  private static func names(in shapes: [Shape]) -> [String] {
    shapes.flatMap { [$0.id] + names(in: $0.members ?? []) }
  }

  private static func names(in shapes: [Shape], under id: String) -> [String] {
    shapes.flatMap { shape in
      shape.id == id
        ? names(in: shape.members ?? []) : names(in: shape.members ?? [], under: id)
    }
  }

  /// What is inside of each race.
  private static func races(in shapes: [Shape]) -> [Set<String>] {
    shapes.flatMap { shape in
      let members = shape.members ?? []
      let own = shape.order == .race && shape.members != nil ? [Set(names(in: members))] : []
      return own + races(in: members)
    }
  }

  private static func step(_ shape: Shape, _ needs: [String: [String]]) -> Step {
    let own = needs[shape.id]?.map { Need($0) }
    guard let members = shape.members else { return Step(StepID(shape.id)!, needs: own) }
    let group = StepGroup(shape.order, members.map { step($0, needs) })
    return Step(id: StepID(shape.id)!, action: .group(group), needs: own)
  }
}
