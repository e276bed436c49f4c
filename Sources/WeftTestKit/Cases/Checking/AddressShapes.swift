import WeftDefinition
import WeftPlanning

/// The addresses that the steps and groups of a plan have in a run: those of elements as patterns.
struct AddressShapes: Sendable {
  struct Shape: Sendable {
    let pattern: StepPattern
    /// The node of a step, or the start of a group.
    let node: Plan.NodeIndex
    /// Whether it is a loop as a whole, or a group.
    let isGroup: Bool
  }

  let shapes: [Shape]
  private let exact: [String: [Int]]

  init(of plan: Plan) {
    var shapes: [Shape] = []
    let cleanedLoops = plan.cleanedLoops
    for (index, step) in plan.steps.enumerated() {
      let isLoop = step.isLoop
      let place = AddressShapes.inElements(
        step.address, group: step.group, cleaning: cleanedLoops[index], of: plan)
      shapes.append(Shape(pattern: StepPattern(place.text), node: step.node, isGroup: isLoop))
      guard isLoop else { continue }
      shapes.append(
        Shape(pattern: StepPattern(place.element("*").text), node: step.node, isGroup: false))
    }
    for group in plan.groups where !group.isTopLevel {
      guard let address = group.address else { continue }
      let place = AddressShapes.inElements(address, group: group.parent ?? 0, of: plan)
      shapes.append(Shape(pattern: StepPattern(place.text), node: group.startNode, isGroup: true))
      guard group.isLoop else { continue }
      shapes.append(
        Shape(
          pattern: StepPattern(place.element("*").text), node: group.startNode, isGroup: true))
    }
    self.shapes = shapes
    exact = Dictionary(
      grouping: shapes.indices.filter { shapes[$0].pattern.isExact }
    ) { shapes[$0].pattern.text }
  }

  /// The shapes that a pattern may match.
  func matching(_ pattern: StepPattern) -> [Shape] {
    if pattern.isExact, let known = exact[pattern.text] { return known.map { shapes[$0] } }
    return shapes.filter { $0.pattern.overlaps(pattern) }
  }

  /// The address of a step or group within the elements of the loops around it.
  ///
  /// - Parameter loop: The loop whose elements it cleans up.
  private static func inElements(
    _ address: StepAddress, group: Int, cleaning loop: StepAddress? = nil, of plan: Plan
  ) -> StepAddress {
    var loops = loop.map { [$0] } ?? []
    for outer in plan.allEnclosingGroups(ofGroup: group) {
      guard plan.groups[outer].isLoop, !plan.groups[outer].isTopLevel,
        let loop = plan.groups[outer].address
      else { continue }
      loops.append(loop)
    }
    var element: (address: StepAddress, loop: StepAddress)?
    for loop in loops.reversed() {
      let place = element.map { $0.address.inElement(loop, of: $0.loop) } ?? loop
      element = (place.element("*"), loop)
    }
    return element.map { $0.address.inElement(address, of: $0.loop) } ?? address
  }
}

extension Plan {
  /// The loops that cleanup steps clean up, by the index of the cleanup step: it runs once for each element.
  fileprivate var cleanedLoops: [Int: StepAddress] {
    var loops: [Int: StepAddress] = [:]
    func add(_ step: Step?, _ address: StepAddress?, at node: NodeIndex) {
      guard let step, step.control.fanOut != nil else { return }
      for cleanup in bodies.cleanups[node] ?? 0..<0 { loops[Int(cleanup)] = address }
    }
    for step in steps { add(step.step, step.address, at: step.node) }
    for group in groups { add(group.step, group.address, at: group.startNode) }
    return loops
  }
}
