public import WeftDefinition
package import WeftDiagnostics
import WeftExpressions

/// A checked workflow: every name resolves, there are no cycles, and an execution order is known. ``Planner`` is the
/// only way to obtain one.
///
/// The graph consists of dense indices into arrays: `nodes` in file order, and their edges. A group has two nodes, its
/// start and its end, so that waiting for a group of a thousand steps costs one edge.
public struct Plan: Sendable {
  /// The index of a node; smaller ones are earlier in the file.
  public typealias NodeIndex = Int

  public package(set) var workflow: Workflow {
    get { files[0].workflow }
    set { files[0].workflow = newValue }
  }
  /// The workflow itself and every workflow that a step runs, outer before inner.
  package internal(set) var files: [PlannedFile]
  /// Every step with an action to run, in file order.
  public let steps: [PlannedStep]
  /// Every group, the top level first (index 0), then in file order: outer before inner.
  public package(set) var groups: [PlannedGroup]
  /// Steps, group starts and group ends, in file order. The top level has neither start nor end.
  public let nodes: [PlanNode]
  /// The dependencies of each node.
  public let dependencies: PlanEdges
  /// All nodes, each after its dependencies; of several possible next nodes, the earliest in the file comes first.
  public let topologicalOrder: [Int32]
  /// For each node, the number of steps on the longest path from it to an end of the graph, including itself: ready
  /// steps with more below them start first.
  public let stepsBelow: [Int32]
  /// The plan regions; the first holds everything that is in no other.
  package let bodies: PlannedBodies
  /// The expressions, and the values that they read.
  package let values: PlannedValues
  /// The log dependencies between steps.
  package let logs: PlannedLogs
  /// The evaluated names of steps and groups, by node.
  package var names: [NodeIndex: String] = [:]
  /// Decisions of the run that are known in advance.
  package var forecast = PlanForecast()
  /// Whether any step may have a runner besides this machine. Stored, because it is asked for every step.
  package internal(set) var mayUseRunners = false
  /// The name of the runner that takes the place of the workflow's own `runner`; `nil` if there is none.
  package internal(set) var chosenRunner: String?
  /// The numbers of steps without an id, where they are not positions.
  package internal(set) var numbers = StepNumbers()
  /// The variables of env files; empty until they are read.
  package var fileVariables = FileVariables()
}

/// A node of the plan's graph; each carries an index into ``Plan/steps`` or ``Plan/groups``.
public enum PlanNode: Sendable, Hashable {
  case step(Int32)
  /// Reached when the dependencies of the group are done.
  case groupStart(Int32)
  /// Reached when everything in the group has ended.
  case groupEnd(Int32)
}

/// A step of the plan.
public struct PlannedStep: Sendable {
  public let address: StepAddress
  /// The list that contains the step: shared with the workflow, because a copy of each step would cost more than the
  /// rest of the plan.
  @usableFromInline let list: [Step]
  @usableFromInline let position: Int32
  @usableFromInline let groupIndex: Int32
  @usableFromInline let nodeIndex: Int32

  package init(
    address: StepAddress, in list: [Step], at position: Int, group: Int, node: Plan.NodeIndex
  ) {
    self.address = address
    self.list = list
    self.position = Int32(position)
    groupIndex = Int32(group)
    nodeIndex = Int32(node)
  }

  public var step: Step { list[Int(position)] }

  /// Reads the step in its list. A computed property or a method of the step gets a copy of it from an array, and also
  /// from a pointer, if it is in another module; stored properties, and what extends a pointer, get none.
  ///
  /// The array owns the memory and is not changed meanwhile, so the pointer is valid until `read` returns; that it
  /// points into the array is checked.
  func withStep<Value>(_ read: (UnsafePointer<Step>) -> Value) -> Value {
    list.withUnsafeBufferPointer { list in
      precondition(list.indices.contains(Int(position)), "a planned step is in its list")
      return read(list.baseAddress.unsafelyUnwrapped + Int(position))
    }
  }

  /// Values that do not fit the rules of the file format, which only a workflow that was built in Swift can have.
  func unfitValues(isCleanup: Bool) -> [Diagnostic] {
    withStep { step in
      step.mayHaveUnfitValues
        ? BuiltValues.unfit(in: step.pointee, isCleanup: isCleanup) : []
    }
  }

  /// The innermost group that contains it, as an index into ``Plan/groups``.
  @inlinable public var group: Int { Int(groupIndex) }
  @inlinable public var node: Plan.NodeIndex { Int(nodeIndex) }

  /// The kind of its action. Called for every step, so it avoids a copy.
  @inlinable package var kind: ActionKind { list[Int(position)].action.kind }

  /// The command it runs; `nil` if it runs none.
  public var command: Command? { list[Int(position)].action.command }

  /// The exit codes of its command that count as success.
  package var successCodes: [Int] {
    guard case .run(let command) = list[Int(position)].action else { return [0] }
    return command.successCodes
  }

  /// Whether it runs a command with options.
  var hasCommandOptions: Bool { list[Int(position)].hasCommandOptions }

  /// The maximum size of its log.
  package var logLimit: ByteCount {
    hasCommandOptions
      ? command?.logLimit ?? WorkflowLimits.logLimit : WorkflowLimits.logLimit
  }

  /// Whether an earlier result may be restored instead of running it.
  @inlinable package var isCached: Bool {
    list[Int(position)].hasCommandOptions && command?.caching != nil
  }

  /// Whether its command keeps running while other steps use it.
  @inlinable package var isService: Bool {
    list[Int(position)].hasCommandOptions && command?.service != nil
  }

  /// The slots that an attempt takes from pools, besides the resources of its command.
  package var pools: [PoolRequest] {
    list[Int(position)].hasControl ? list[Int(position)].control.pools : []
  }

  /// Whether its command requests resources.
  @inlinable package var hasResources: Bool {
    list[Int(position)].hasCommandOptions && command?.resources != nil
  }

  /// Whether an attempt takes slots of pools, or resources, which are pools too.
  package var takesPools: Bool { hasResources || !pools.isEmpty }

  /// Whether its action must not be repeated. Called for every step, so it mostly avoids a copy.
  @inlinable package var mustNotBeRepeated: Bool {
    let position = Int(position)
    return (list[position].hasControl || list[position].action.kind != .run)
      && list[position].mustNotBeRepeated
  }

  /// Whether its action gets a jobserver, or an expression decides that.
  @inlinable package var mayOfferJobserver: Bool {
    guard list[Int(position)].hasCommandOptions, let command else { return false }
    return command.options.$usesJobserver != .literal(false)
  }

  /// Its own settings, without copying the whole step.
  package var settings: CommandSettings { list[Int(position)].settings }
  package var environmentFiles: [EnvironmentFile] { list[Int(position)].settings.environmentFiles }
  package var hasWorkingDirectory: Bool { list[Int(position)].settings.workingDirectory != nil }
  /// Its time limit, without copying the whole step.
  @inlinable package var timeout: Duration? { list[Int(position)].timeout }
  /// Visits its texts that may contain expressions, with their known locations.
  func visitTexts(_ visit: (TextSite, String, SourceRange?, [TextPlace]) -> Void) {
    withStep { step in
      let places = step.pointee.place.value?.texts ?? []
      step.visitTexts { visit($0, $1, $2, places) }
    }
  }
  var name: String? { list[Int(position)].name }
  @inlinable package var allowFailure: FailureTolerance { list[Int(position)].allowFailure }
  /// The retry policies, by the failures they apply to.
  @inlinable package var retry: [RetryPolicy] {
    list[Int(position)].hasControl ? list[Int(position)].control.retry : []
  }
  /// Its declared outputs, without copying the whole step.
  @inlinable package var outputs: [OutputDeclaration] {
    list[Int(position)].outputs
  }
  /// Its control options, without copying the whole step.
  @inlinable package var control: StepControl { list[Int(position)].control }
  @inlinable package var hasControl: Bool { list[Int(position)].hasControl }
  /// Whether it is a loop: it runs once for each element. Called for every step, so it mostly avoids a copy.
  @inlinable package var isLoop: Bool { hasControl && control.fanOut != nil }
  package var action: StepAction { list[Int(position)].action }
  /// Its needs as written; the edges are in ``Plan/dependencies``.
  var needs: [Need]? { list[Int(position)].needs }
  /// The `id` of the step, if it has one.
  var id: StepID? { list[Int(position)].id }
  /// The locations of its texts.
  var textPlaces: [TextPlace] { list[Int(position)].place.value?.texts ?? [] }
  /// Whether it has a better title than its address.
  package var hasTitle: Bool {
    list[Int(position)].name != nil || list[Int(position)].id == nil
  }
  /// The step whose log it reads.
  var logSource: Need? {
    guard case .run(let command) = list[Int(position)].action,
      case .log(let source)? = command.stdin
    else { return nil }
    return source
  }
}

/// A group of the plan; the one at index 0 is the top level.
public struct PlannedGroup: Sendable {
  /// `nil` for the top level. The top level of another file has the address of the step that runs the file.
  public let address: StepAddress?
  /// `nil` for the top level. Its `action` holds the members, which are planned separately.
  public package(set) var step: Step?
  public let order: StepGroup.Order
  public package(set) var maxParallel: Int?
  /// The enclosing group; `nil` for the top level.
  public let parent: Int?
  /// 0 for the top level; the top level of another file is as deep as the step that runs the file.
  public let depth: Int
  /// The file that contains it, as an index into ``Plan/files``; for a step that runs another file, the file that
  /// contains the step.
  package let file: Int
  /// Whether it is the top level of its file.
  package let isTopLevel: Bool
  /// Its start and end among the nodes; for the top level, one before the first and one past the last, so that
  /// everything inside a group is strictly between the two.
  public let startNode: Plan.NodeIndex
  public package(set) var endNode: Plan.NodeIndex
  /// Its members in file order: the node of a step, or the start node of a group.
  public package(set) var members: [Int32]

  /// Whether it is a loop: it runs once for each element.
  package var isLoop: Bool { step.map { $0.hasControl && $0.control.fanOut != nil } ?? false }
}

/// Lists of node indices, one for each node, in one array: offsets and targets.
public struct PlanEdges: Sendable {
  /// `targets[offsets[n]..<offsets[n + 1]]` are the targets of node `n`.
  package let offsets: [Int32]
  package let targets: [Int32]

  package init(offsets: [Int32], targets: [Int32]) {
    precondition(offsets.last.map { Int($0) == targets.count } ?? targets.isEmpty)
    self.offsets = offsets
    self.targets = targets
  }

  /// The edges of one node, each once, in ascending order.
  public subscript(node: Plan.NodeIndex) -> ArraySlice<Int32> {
    targets[Int(offsets[node])..<Int(offsets[node + 1])]
  }

  /// The total number of edges.
  public var count: Int { targets.count }
}

/// A workflow as a part of a plan: the one that is planned, or one that a step runs.
///
/// Each is a name space of its own. Its contents see its ids, inputs and secrets, its `env` and `cwd`, and nothing
/// around the step that runs it. That step is a group with the top level of the other file as its only member, and with
/// that file's `finally`.
package struct PlannedFile: Sendable {
  /// The workflow as written, with its defaults applied.
  package internal(set) var workflow: Workflow
  /// Its top level, as an index into ``Plan/groups``.
  package let topLevel: Int
  /// The step that runs it, as an index into ``Plan/groups``; `nil` for the workflow that is planned.
  package let caller: Int?
  /// The `finally` group; `nil` if it has none.
  package internal(set) var finally: Int?
  /// The address of the step that runs it; `nil` for the workflow that is planned.
  package let address: StepAddress?

  init(_ workflow: Workflow, topLevel: Int, caller: Int? = nil, at address: StepAddress? = nil) {
    self.workflow = workflow
    self.topLevel = topLevel
    self.caller = caller
    self.address = address
  }
}

/// A secret and the file that declares it: two files may use the same name for different secrets.
package struct PlannedSecret: Sendable {
  package let declaration: SecretDeclaration
  /// The file, as an index into ``Plan/files``.
  package let file: Int
  /// The text of the file, for messages; `nil` for a workflow built in Swift.
  package let source: SourceFile?

  package init(declaration: SecretDeclaration, file: Int = 0, source: SourceFile? = nil) {
    self.declaration = declaration
    self.file = file
    self.source = source
  }
}

extension Plan {
  /// The file that a step runs, by the group of the step; `nil` for any other group.
  package func file(runByGroup group: Int) -> Int? {
    guard files.count > 1, group + 1 < groups.count, groups[group + 1].isTopLevel else {
      return nil
    }
    return groups[group + 1].file
  }

  /// The address of a step or group within its own file.
  package func localAddress(of node: NodeIndex) -> StepAddress {
    address(of: node).local(inFileOf: files[groups[group(around: node)].file].address)
  }
}

/// The dependencies on logs, as declared by `stdin`; by indices into ``Plan/steps``.
package struct PlannedLogs: Sendable {
  private var sources: [Int: Int] = [:]
  private var read: Set<Int> = []

  mutating func record(_ reader: Int, reads source: Int) {
    sources[reader] = source
    read.insert(source)
  }

  /// The step whose log a step reads.
  package func source(ofStep reader: Int) -> Int? { sources[reader] }

  /// Whether any step reads the log of this step.
  package func isRead(ofStep source: Int) -> Bool { read.contains(source) }
}

extension Plan {
  /// Whether a step is a loop, or in one.
  package func isInLoop(step index: Int) -> Bool {
    steps[index].isLoop || isInLoop(group: steps[index].group)
  }

  /// Whether a group is a loop, or in one.
  package func isInLoop(group index: Int) -> Bool {
    allEnclosingGroups(ofGroup: index).contains { groups[$0].isLoop }
  }

  /// Whether the `if` of a step with a loop is evaluated for each element, instead of once before there are any: it
  /// reads the element, or a variable of the step's own `env` that depends on it.
  package func isEvaluatedPerElement(step index: Int) -> Bool {
    guard steps[index].hasControl, let fanOut = steps[index].control.fanOut else { return false }
    return fanOut.isRead(byConditionAmong: values.texts(ofStep: index))
  }

  /// Whether the `if` of a group with a loop is evaluated for each element; see ``isEvaluatedPerElement(step:)``.
  package func isEvaluatedPerElement(group index: Int) -> Bool {
    guard let step = groups[index].step, step.hasControl, let fanOut = step.control.fanOut else {
      return false
    }
    return fanOut.isRead(byConditionAmong: values.texts(ofGroup: index))
  }

  /// The members of a step or, by its start, a group that can be read from outside.
  package func resultShape(ofNode node: NodeIndex) -> ResultShape {
    step(at: node)?.resultShape ?? .group
  }
}

extension FanOut {
  fileprivate func isRead(byConditionAmong texts: ArraySlice<PlannedText>) -> Bool {
    guard let condition = texts.first(where: { $0.site == .condition }) else { return false }
    if isRead(by: condition) { return true }
    guard condition.template.references.contains(where: { $0.valueContext == .env }) else {
      return false
    }
    return texts.contains { $0.site.isVariable && isRead(by: $0) }
  }

  private func isRead(by text: PlannedText) -> Bool {
    text.template.references.contains { value(of: $0) != nil }
  }
}

extension Template {
  fileprivate var references: [ContextReference] { expressions.flatMap(\.references) }
}

extension Plan {
  /// The name shown instead of a step's address; `nil` if it has none.
  package func name(of step: PlannedStep) -> String? {
    (names.isEmpty ? nil : names[step.node]) ?? step.name
  }

  /// The name shown instead of a group's address; `nil` if it has none.
  package func name(of group: PlannedGroup) -> String? {
    (names.isEmpty ? nil : names[group.startNode]) ?? group.step?.name
  }
}
