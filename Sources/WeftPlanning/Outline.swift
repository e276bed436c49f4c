import WeftDefinition

/// A workflow as one list: every step and every group with its address, numbered in file order.
///
/// Nothing is resolved yet; an outline exists of every workflow, right or wrong.
struct Outline: Sendable {
  fileprivate(set) var steps: [PlannedStep] = []
  fileprivate(set) var groups: [PlannedGroup] = []
  fileprivate(set) var nodes: [PlanNode] = []
  /// The steps that clean up after a step or, by its start, a group.
  fileprivate(set) var cleanups: [Plan.NodeIndex: Range<Int32>] = [:]
  /// Those that clean up, with whom they clean up after.
  fileprivate(set) var cleanedUp: [Int32: Plan.NodeIndex] = [:]
  /// The group of what is done when all else has ended.
  fileprivate(set) var finallyGroup: Int?
  /// Whether there is a group whose inside cannot be named from outside.
  fileprivate(set) var hasSealedGroups = false
  /// Whether any step, or group, has control.
  fileprivate(set) var hasControl = false

  /// Whether some steps that exist cannot be named from everywhere.
  var hidesSteps: Bool { hasSealedGroups || finallyGroup != nil || !cleanedUp.isEmpty }

  /// Groups nested too deep are told and followed; of too many steps the rest is left out.
  static func make(of workflow: Workflow) -> (Outline, [PlacedProblem]) {
    var writer = OutlineWriter()
    writer.write(workflow.body, finally: workflow.finally)
    return (writer.outline, writer.problems)
  }
}

extension Outline {
  /// The step or group that a node belongs to.
  func member(at node: Plan.NodeIndex) -> OutlineMember {
    switch nodes[node] {
    case .step(let index):
      let step = steps[Int(index)]
      return OutlineMember(
        step: step.step, address: step.address, group: step.group, node: node, endNode: node)
    case .groupStart(let index), .groupEnd(let index):
      let group = groups[Int(index)]
      guard let step = group.step, let address = group.address, let parent = group.parent else {
        preconditionFailure("the top level has no node, but \(node) is one")
      }
      return OutlineMember(
        step: step, address: address, group: parent, node: group.startNode, endNode: group.endNode)
    }
  }

  /// The node that has been passed when the step, or all of the group, at `node` has ended.
  func end(of node: Plan.NodeIndex) -> Plan.NodeIndex {
    guard case .groupStart(let index) = nodes[node] else { return node }
    return groups[Int(index)].endNode
  }

  /// Whether a group stands around a node, at whatever distance.
  func group(startingAt start: Plan.NodeIndex, encloses node: Plan.NodeIndex) -> Bool {
    start < node && node < end(of: start)
  }
}

/// A step or group as a member of the group around it.
struct OutlineMember: Sendable {
  var step: Step
  var address: StepAddress
  /// The group it is a member of.
  var group: Int
  var node: Plan.NodeIndex
  /// `node` again, of a step.
  var endNode: Plan.NodeIndex

  var subject: PlanningProblem.Subject {
    guard case .group = step.action else { return .step(address.text) }
    return .group(address.text)
  }
}

/// Walks a workflow from its first step to its last, by a loop over the groups that are open.
private struct OutlineWriter {
  private(set) var outline = Outline()
  private(set) var problems: [PlacedProblem] = []
  private var open: [OpenGroup] = []
  private var finally: [Step] = []

  private struct OpenGroup {
    var index: Int
    var members: [Step]
    var written: [Int32] = []
  }

  mutating func write(_ body: StepGroup, finally: [Step]) {
    self.finally = finally
    outline.steps.reserveCapacity(body.members.count)
    outline.nodes.reserveCapacity(body.members.count)
    enter(body, of: nil, at: nil)
    while let group = open.indices.last {
      let position = open[group].written.count
      guard position < open[group].members.count else {
        if group == 0, !self.finally.isEmpty { enterFinally() } else { leave() }
        continue
      }
      write(open[group].members, at: position, in: open[group].index)
      guard outline.steps.count + outline.groups.count <= WorkflowLimits.steps + 1 else {
        return giveUp()
      }
    }
  }

  private mutating func write(_ list: [Step], at position: Int, in group: Int) {
    let node = outline.nodes.count
    open[open.count - 1].written.append(Int32(node))
    let address = StepAddress(
      of: list[position].id, position: position + 1, under: outline.groups[group].address)
    if let members = list[position].members {
      return enter(members, of: list[position], at: address)
    }
    append(list, at: position, in: group, address)
    if list[position].hasControl { writeCleanup(of: list[position], at: address, node, in: group) }
  }

  private mutating func append(
    _ list: [Step], at position: Int, in group: Int, _ address: StepAddress
  ) {
    let node = outline.nodes.count
    if list[position].hasControl || list[position].runsAnotherFile { outline.hasControl = true }
    outline.nodes.append(.step(Int32(outline.steps.count)))
    outline.steps.append(
      PlannedStep(address: address, in: list, at: position, group: group, node: node))
  }

  private mutating func writeCleanup(
    of step: Step, at address: StepAddress, _ node: Plan.NodeIndex, in group: Int
  ) {
    let steps = step.control.cleanup
    guard !steps.isEmpty else { return }
    let first = Int32(outline.steps.count)
    for position in steps.indices {
      let suffix = steps.count == 1 ? "cleanup" : "cleanup.\(position + 1)"
      outline.cleanedUp[Int32(outline.steps.count)] = node
      append(steps, at: position, in: group, StepAddress("\(address.text).\(suffix)"))
    }
    outline.cleanups[node] = first..<Int32(outline.steps.count)
  }

  /// The group is inside of the top level without being one of its members.
  private mutating func enterFinally() {
    let group = StepGroup(.steps, finally)
    finally = []
    outline.finallyGroup = outline.groups.count
    enter(
      group, of: Step(action: .group(group), timeout: WorkflowLimits.finallyTimeout),
      at: StepAddress("finally"))
  }

  private mutating func enter(_ group: StepGroup, of step: Step?, at address: StepAddress?) {
    let index = outline.groups.count
    let isTopLevel = step == nil
    let depth = open.count
    outline.groups.append(
      PlannedGroup(
        address: address, step: step, order: group.order, maxParallel: group.maxParallel,
        parent: open.last?.index, depth: depth, startNode: isTopLevel ? -1 : outline.nodes.count,
        endNode: -1, members: []))
    if !isTopLevel { outline.nodes.append(.groupStart(Int32(index))) }
    open.append(OpenGroup(index: index, members: group.members))
    if outline.groups[index].isSealed { outline.hasSealedGroups = true }
    if depth == WorkflowLimits.groupDepth + 1, let address {
      let problem = PlanningProblem.groupsTooDeep(innermost: address.text)
      problems.append(PlacedProblem(problem, step?.place.value?.step))
    }
  }

  private mutating func leave() {
    let group = open.removeLast()
    outline.groups[group.index].endNode = outline.nodes.count
    outline.groups[group.index].members = group.written
    guard let around = open.last else { return }
    outline.nodes.append(.groupEnd(Int32(group.index)))
    let left = outline.groups[group.index]
    if let step = left.step, step.hasControl, let address = left.address {
      writeCleanup(of: step, at: address, left.startNode, in: around.index)
    }
  }

  private mutating func giveUp() {
    while !open.isEmpty { leave() }
    problems.append(PlacedProblem(.tooManySteps, nil))
  }
}

extension StepAddress {
  fileprivate init(of id: StepID?, position: Int, under group: StepAddress?) {
    if let id {
      self.init(id.text)
    } else if let group {
      self.init("\(group.text).\(position)")
    } else {
      self.init(String(position))
    }
  }
}

extension Step {
  /// `nil` of one that is not a group.
  fileprivate var members: StepGroup? {
    guard case .group(let group) = action else { return nil }
    return group
  }
}
