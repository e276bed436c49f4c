import WeftDefinition
import WeftDiagnostics

/// A workflow as flat lists: every step and group with its address, numbered in file order.
///
/// Nothing is resolved yet; every workflow, valid or not, has an outline.
struct Outline: Sendable {
  fileprivate(set) var steps: [PlannedStep] = []
  fileprivate(set) var groups: [PlannedGroup] = []
  fileprivate(set) var nodes: [PlanNode] = []
  /// The cleanup steps of each step or, by its start, group.
  fileprivate(set) var cleanups: [Plan.NodeIndex: Range<Int32>] = [:]
  /// The step or group that each cleanup step cleans up.
  fileprivate(set) var cleanedUp: [Int32: Plan.NodeIndex] = [:]
  /// The workflow and those that its steps run.
  fileprivate(set) var files: [PlannedFile] = []
  /// The `finally` groups.
  fileprivate(set) var finallyGroups: Set<Int> = []
  /// Whether there is a group whose contents cannot be named from outside.
  fileprivate(set) var hasSealedGroups = false
  /// Whether any step or group has control options, or does something else than to run a command.
  fileprivate(set) var hasControl = false

  /// Whether some existing steps cannot be named from everywhere.
  var hidesSteps: Bool { hasSealedGroups || !finallyGroups.isEmpty || !cleanedUp.isEmpty }

  /// Writes the outline of a workflow. Groups that are nested too deeply are reported, but included; if there are too
  /// many steps, the rest is dropped.
  ///
  /// - Parameter limit: The maximum number of steps; lower in tests.
  static func make(
    of workflow: Workflow, numbered numbers: StepNumbers = StepNumbers(),
    limit: Int = WorkflowLimits.steps
  ) -> (Outline, [PlacedProblem]) {
    var writer = OutlineWriter(numbers: numbers, limit: limit)
    writer.write(workflow.withDefaults())
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
        step: step.step, address: local(step.address, in: groups[step.group].file),
        group: step.group, node: node, endNode: node)
    case .groupStart(let index), .groupEnd(let index):
      let group = groups[Int(index)]
      guard let step = group.step, let address = group.address, let parent = group.parent else {
        preconditionFailure("the top level has no node, but \(node) is one")
      }
      return OutlineMember(
        step: step, address: group.isTopLevel ? address : local(address, in: group.file),
        group: parent, node: group.startNode, endNode: group.endNode)
    }
  }

  /// Reads the step or group that a node belongs to where it is stored, because a copy costs more than most readings.
  func withStep<Value>(at node: Plan.NodeIndex, _ read: (UnsafePointer<Step>) -> Value) -> Value {
    guard case .step(let index) = nodes[node] else {
      return withUnsafePointer(to: member(at: node).step, read)
    }
    return steps[Int(index)].withStep(read)
  }

  /// The shape of the result of a step or group, or, as `self`, of one element.
  func resultShape(of node: Plan.NodeIndex, asOwn: Bool = false) -> ResultShape {
    withStep(at: node) { asOwn ? $0.ownResultShape : $0.resultShape }
  }

  private func local(_ address: StepAddress, in file: Int) -> StepAddress {
    address.local(inFileOf: files[file].address)
  }

  /// The file that contains a step or group.
  func file(of node: Plan.NodeIndex) -> Int {
    switch nodes[node] {
    case .step(let index): groups[steps[Int(index)].group].file
    case .groupStart(let index), .groupEnd(let index): groups[Int(index)].file
    }
  }

  /// Whether a step or group is in the `finally` of its file.
  func isFinal(_ owner: TextOwner) -> Bool {
    let group: Int
    switch owner {
    case .workflow: return false
    case .group(let index): group = index
    case .step(let index): group = steps[index].group
    }
    return !finallyGroups.isEmpty
      && EnclosingGroups(groups, from: group).contains(where: finallyGroups.contains)
  }

  /// The `finally` group of the file that a group runs; `nil` if there is none.
  func finally(around group: Int) -> Int? {
    guard !finallyGroups.isEmpty, group > 0, groups[group].step?.action.kind == .workflow else {
      return nil
    }
    return files[groups[group + 1].file].finally
  }

  /// Whether a group contains a node, directly or indirectly.
  func group(startingAt start: Plan.NodeIndex, encloses node: Plan.NodeIndex) -> Bool {
    start < node && node < end(of: start)
  }
}

/// A step or group as a member of the group around it.
struct OutlineMember: Sendable {
  var step: Step
  /// The address within its file.
  var address: StepAddress
  /// The group that it is a member of.
  var group: Int
  var node: Plan.NodeIndex
  /// The end of a group; for a step, `node`.
  var endNode: Plan.NodeIndex

  /// The step or group as named in messages.
  enum Subject: Sendable, Hashable, CustomStringConvertible {
    case step(String)
    case group(String)

    var description: String {
      switch self {
      case .step(let address): "step \"\(address)\""
      case .group(let address): "group \"\(address)\""
      }
    }
  }

  var subject: Subject {
    guard case .group = step.action else { return .step(address.text) }
    return .group(address.text)
  }
}

/// Walks a workflow from its first step to its last, with a loop over the open groups instead of recursion.
private struct OutlineWriter {
  private(set) var outline = Outline()
  private(set) var problems: [PlacedProblem] = []
  private var open: [OpenGroup] = []
  private let numbers: StepNumbers
  private let limit: Int
  /// Counts the steps that another file adds before they are written.
  private var counter = StepCounter()
  private var isTooLarge = false

  init(numbers: StepNumbers, limit: Int) {
    self.numbers = numbers
    self.limit = limit
  }

  private struct OpenGroup {
    var index: Int
    var members: [Step]
    /// The `finally` steps, to be written after the members: of the top level of the workflow, or of the group around
    /// the top level of another file.
    var finally: [Step] = []
    var written: [Int32] = []
    /// The file that contains its members, and its nesting depth in that file.
    var file: Int
    var depth: Int
  }

  mutating func write(_ workflow: Workflow) {
    outline.steps.reserveCapacity(workflow.body.members.count)
    outline.nodes.reserveCapacity(workflow.body.members.count)
    outline.files.append(PlannedFile(workflow, topLevel: 0))
    enter(workflow.body, of: nil, at: nil, as: .topLevel(0))
    open[0].finally = workflow.finally
    while let group = open.indices.last {
      let position = open[group].written.count
      guard position < open[group].members.count else {
        if open[group].finally.isEmpty { leave() } else { enterFinally() }
        continue
      }
      write(open[group].members, at: position, in: open[group].index)
      guard !isTooLarge, outline.steps.count + outline.groups.count <= limit + 1 else {
        return giveUp()
      }
    }
  }

  private mutating func write(_ list: [Step], at position: Int, in group: Int) {
    let node = outline.nodes.count
    open[open.count - 1].written.append(Int32(node))
    let address = address(of: list[position].id, at: position, in: group)
    if list[position].action.kind == .workflow, let workflow = list[position].otherWorkflow {
      if outline.steps.count + counter.steps(in: workflow) > limit {
        isTooLarge = true
        return
      }
      return enter(workflow.withDefaults(), runBy: list[position], at: address)
    }
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
    if list[position].hasControl || list[position].action.kind != .run {
      outline.hasControl = true
    }
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
      outline.cleanedUp[Int32(outline.steps.count)] = node
      let byPlace = address.cleanup(steps.count == 1 ? nil : position + 1)
      append(
        steps, at: position, in: group,
        steps[position].id.map { self.address(of: $0, at: position, in: group) } ?? byPlace)
    }
    outline.cleanups[node] = first..<Int32(outline.steps.count)
  }

  /// The address of a member: its id, or else its number below the group's address.
  private func address(of id: StepID?, at position: Int, in group: Int) -> StepAddress {
    let around = outline.groups[group]
    let file = outline.files[around.file].address
    if let id { return StepAddress(id.text, inFileOf: file) }
    let number = numbers.number(at: position, in: around.address)
    guard !around.isTopLevel, let address = around.address else {
      return StepAddress(String(number), inFileOf: file)
    }
    return address.member(number)
  }

  /// Writes `finally` as a group inside its file's top level, without making it a member of that. In another file, the
  /// top level ends first, and the step that runs the file continues.
  private mutating func enterFinally() {
    let around = open.count - 1
    let group = StepGroup(.steps, open[around].finally)
    open[around].finally = []
    let index = outline.groups.count
    // The top level of another file directly follows the group of this file that runs it.
    let topLevel = around == 0 ? 0 : open[around].index + 1
    let file = outline.groups[topLevel].file
    outline.finallyGroups.insert(index)
    outline.files[file].finally = index
    enter(
      group, of: Step(action: .group(group), timeout: WorkflowLimits.finallyTimeout),
      at: StepAddress("finally", inFileOf: outline.files[file].address), as: .finally(in: topLevel))
  }

  /// Writes a step that runs a workflow as a group whose only member is the top level of that workflow.
  private mutating func enter(_ workflow: Workflow, runBy step: Step, at address: StepAddress) {
    outline.hasControl = true
    let caller = outline.groups.count
    var body = Step(
      action: .group(workflow.body), settings: workflow.settings, outputs: workflow.outputs)
    body.$timeout = workflow.$timeout
    enter(StepGroup(.steps, [body]), of: step, at: address)
    open[open.count - 1].finally = workflow.finally
    open[open.count - 1].written.append(Int32(outline.nodes.count))
    let file = outline.files.count
    outline.files.append(
      PlannedFile(
        workflow, topLevel: outline.groups.count, caller: caller, at: address))
    enter(workflow.body, of: body, at: address, as: .topLevel(file))
  }

  /// The role of a group in its file.
  private enum Role {
    case topLevel(Int)
    case member(of: Int)
    case finally(in: Int)
  }

  private mutating func enter(
    _ group: StepGroup, of step: Step?, at address: StepAddress?, as role: Role? = nil
  ) {
    let index = outline.groups.count
    let around = open.last?.index
    let (file, parent, isTopLevel) =
      switch role ?? .member(of: open[open.count - 1].file) {
      case .topLevel(let file): (file, around, true)
      case .member(let file): (file, around, false)
      case .finally(let topLevel): (outline.groups[topLevel].file, topLevel, false)
      }
    outline.groups.append(
      PlannedGroup(
        address: address, step: step, order: group.order, maxParallel: group.maxParallel,
        parent: parent, depth: shownDepth(asTopLevel: isTopLevel), file: file,
        isTopLevel: isTopLevel,
        startNode: step == nil ? -1 : outline.nodes.count, endNode: -1, members: []))
    if step != nil { outline.nodes.append(.groupStart(Int32(index))) }
    let depth = isTopLevel ? 0 : open.last.map { $0.file == file ? $0.depth + 1 : 1 } ?? 0
    open.append(OpenGroup(index: index, members: group.members, file: file, depth: depth))
    if outline.groups[index].isSealed { outline.hasSealedGroups = true }
    if depth == WorkflowLimits.groupDepth + 1, let address {
      problems.append(
        PlacedProblem(
          diagnostic: .groupsTooDeep(innermost: address.text), range: step?.place.value?.step,
          file: file, node: outline.groups[index].startNode))
    }
  }

  /// The depth to display; the top level of another file is as deep as the step that runs it.
  private func shownDepth(asTopLevel isTopLevel: Bool) -> Int {
    open.last.map { outline.groups[$0.index].depth + (isTopLevel ? 0 : 1) } ?? 0
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
    // For steps of other files, the location is the step that runs the file.
    let place = open.lazy.prefix { $0.file == 0 }
      .compactMap { $0.members.prefix($0.written.count).last?.place.value?.step }.last
    while !open.isEmpty { leave() }
    problems.append(PlacedProblem(diagnostic: .tooManySteps, range: place, file: 0))
  }
}

extension Step {
  /// The workflow that a step runs; `nil` if its file was not read.
  fileprivate var otherWorkflow: Workflow? {
    guard case .workflow(let nested) = action else { return nil }
    return nested.workflow
  }

  /// `nil` if it is not a group.
  fileprivate var members: StepGroup? {
    guard case .group(let group) = action else { return nil }
    return group
  }
}

/// Counts the steps of a workflow and of the files that it runs, visiting each file once, however often it is run.
///
/// If files run each other several times, the number of steps grows exponentially with their depth: too many to be
/// written out only to be rejected.
struct StepCounter {
  /// The counts by the storage of the steps, which all copies of a file share.
  private var known: [UnsafeRawPointer: Int] = [:]
  private var depth = 0

  /// The maximum depth of files that are counted: deeper ones are rejected elsewhere.
  private static let deepest = 100

  /// - Returns: At most `Int32.max`. The steps of groups are counted, groups are not.
  mutating func steps(in workflow: Workflow) -> Int {
    guard depth < Self.deepest else { return 0 }
    depth += 1
    defer { depth -= 1 }
    return sum(of: workflow.body.members) + sum(of: workflow.finally)
  }

  private mutating func sum(of steps: [Step]) -> Int {
    guard !steps.isEmpty else { return 0 }
    let storage = steps.withUnsafeBytes { UnsafeRawPointer($0.baseAddress!) }
    if let sum = known[storage] { return sum }
    var sum = 0
    // In a workflow built in Swift, groups may be nested without limit.
    var open = [steps]
    while let list = open.popLast() {
      for step in list {
        if let group = step.members {
          open.append(group.members)
        } else {
          sum += step.otherWorkflow.map { self.steps(in: $0) } ?? 1
        }
        if step.hasControl { open.append(step.control.cleanup) }
        if sum >= Int(Int32.max) { break }
      }
    }
    sum = min(sum, Int(Int32.max))
    known[storage] = sum
    return sum
  }
}

extension Diagnostic {
  fileprivate static func groupsTooDeep(innermost group: String) -> Diagnostic {
    Diagnostic(
      "W0210", "group \"\(group)\" is nested deeper than \(WorkflowLimits.groupDepth) groups",
      help: "move inner groups out, and name them in \"needs\"")
  }

  fileprivate static var tooManySteps: Diagnostic {
    Diagnostic(
      "W0211",
      "the workflow has more than \(WorkflowLimits.steps) steps and groups, "
        + "including those of nested files", help: "split the workflow into several")
  }
}
