import WeftDefinition
import WeftJSON
import WeftTestKit

/// A random workflow: nested groups of all orders, and needs across them.
///
/// The needs of a sound one lead only to steps that come earlier in an order drawn beforehand; those of an unsound one
/// lead anywhere but to ancestors and descendants. None leads from outside into a group that hides its members.
struct RandomWorkflow {
  private(set) var workflow: Workflow

  private struct Shape {
    var id: String
    var order: StepGroup.Order
    var members: [Shape]?
    var control = StepControl()

    var hidesMembers: Bool {
      members != nil && (order == .race || control.fanOut != nil || !control.retry.isEmpty)
    }
  }

  /// - Parameter withControl: Whether there are loops, retries, cleanup, and `finally` steps.
  init(
    using random: inout SeededGenerator, allowingCycles: Bool = false, size: Int = 12,
    withControl: Bool = false
  ) {
    var count = 0
    var members = RandomWorkflow.members(size, 0, &count, &random)
    if withControl { RandomWorkflow.control(&members, &random) }
    let order = StepGroup.Order.allCases.randomElement(using: &random)!
    // Needs are added one by one, and removed if they close a cycle.
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
      let isHidden = RandomWorkflow.insides(of: members).contains { inside in
        inside.contains(target) && !inside.contains(name)
      }
      guard !isRelated, !isHidden, needs[name]?.contains(target) != true else { continue }
      let before = needs
      needs[name, default: []].append(target)
      if !allowingCycles, ReferenceOrder(of: build(needs)).hasCycle { needs = before }
    }
    workflow = build(needs)
    if withControl, Bool.random(using: &random) {
      workflow.finally = [Step("last"), Step("after", steps: [Step("z", needs: ["last"])])]
      workflow.finally[1].control = RandomWorkflow.control(&random)
    }
  }

  private static func control(_ shapes: inout [Shape], _ random: inout SeededGenerator) {
    for index in shapes.indices {
      shapes[index].control = control(&random)
      if shapes[index].members != nil { control(&shapes[index].members!, &random) }
    }
  }

  private static func control(_ random: inout SeededGenerator) -> StepControl {
    var control = StepControl()
    switch Int.random(in: 0..<8, using: &random) {
    case 0: control.fanOut = .forEach(ForEach(in: .values([1, 2, 3])))
    case 1: control.retry = [RetryPolicy(max: 2)]
    case 2: control.cleanup = [Step(run: "true")]
    case 3: control.cleanup = [Step(run: "true"), Step(run: "true")]
    default: break
    }
    if Int.random(in: 0..<6, using: &random) == 0 { control.retry = [RetryPolicy(max: 1)] }
    return control
  }

  private static func members(
    _ size: Int, _ depth: Int, _ count: inout Int, _ random: inout SeededGenerator
  ) -> [Shape] {
    (0..<Int.random(in: depth == 0 ? 1...5 : 0...4, using: &random)).compactMap { _ in
      guard count < size else { return nil }
      count += 1
      let id = "s\(count)"
      let isGroup = depth < 4 && Int.random(in: 0..<3, using: &random) == 0
      var order = StepGroup.Order.allCases.randomElement(using: &random)!
      let inner = isGroup ? members(size, depth + 1, &count, &random) : nil
      // A race needs members.
      if order == .race, inner?.isEmpty == true { order = .parallel }
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

  /// The members of each group that hides them.
  private static func insides(of shapes: [Shape]) -> [Set<String>] {
    shapes.flatMap { shape in
      let members = shape.members ?? []
      return (shape.hidesMembers ? [Set(names(in: members))] : []) + insides(of: members)
    }
  }

  private static func step(_ shape: Shape, _ needs: [String: [String]]) -> Step {
    let own = needs[shape.id]?.map { Need($0) }
    let members = shape.members.map { StepGroup(shape.order, $0.map { step($0, needs) }) }
    return Step(
      id: StepID(shape.id)!, action: members.map { .group($0) } ?? .run(Command(.script("true"))),
      needs: own, control: shape.control)
  }
}
