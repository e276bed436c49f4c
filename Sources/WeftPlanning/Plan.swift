public import WeftDefinition

/// A workflow that is known to be sound: every name resolves, nothing waits for itself, and an order
/// in which it can run is known. ``Planner`` is the only way to obtain one.
///
/// The graph is dense indices into arrays: `nodes` in file order, the edges beside them. A group has
/// two nodes, its start and its end, so that waiting for a group of a thousand costs one edge.
public struct Plan: Sendable {
  /// The index of a node; smaller stands earlier in the file.
  public typealias NodeIndex = Int

  public internal(set) var workflow: Workflow {
    get { files[0].workflow }
    set { files[0].workflow = newValue }
  }
  /// The workflow itself, and every one that a step of it runs, outer before inner.
  package internal(set) var files: [PlannedFile]
  /// Every step that runs something, in file order.
  public let steps: [PlannedStep]
  /// Every group, the top level first (index 0), then in file order: outer before inner.
  public internal(set) var groups: [PlannedGroup]
  /// Steps, group starts and group ends, in file order. The top level has neither start nor end.
  public let nodes: [PlanNode]
  /// What each node waits for.
  public let dependencies: PlanEdges
  /// All nodes, so that each comes after what it waits for; of those that could come next, the
  /// earliest in the file comes first.
  public let topologicalOrder: [Int32]
  /// For each node the number of steps on the longest path from it to an end of the graph, itself
  /// included: those with more below them start first.
  public let stepsBelow: [Int32]
  /// Parts that are run apart from the rest; the first is all that is not in another.
  package let bodies: PlannedBodies
  /// The expressions, and what they read.
  package let values: PlannedValues
  /// Which steps read the logs of which.
  package let logs: PlannedLogs
  /// Names whose expressions have been evaluated; by node.
  var names: [NodeIndex: String] = [:]
  /// What is known before a run of what is decided during it.
  package var forecast = PlanForecast()

  package init(
    files: [PlannedFile], steps: [PlannedStep], groups: [PlannedGroup], nodes: [PlanNode],
    dependencies: PlanEdges, topologicalOrder: [Int32], stepsBelow: [Int32],
    bodies: PlannedBodies, values: PlannedValues = .none, logs: PlannedLogs = PlannedLogs()
  ) {
    self.files = files
    self.steps = steps
    self.groups = groups
    self.nodes = nodes
    self.dependencies = dependencies
    self.topologicalOrder = topologicalOrder
    self.stepsBelow = stepsBelow
    self.bodies = bodies
    self.values = values
    self.logs = logs
  }
}

/// A node of the plan's graph; each carries an index into ``Plan/steps`` or ``Plan/groups``.
public enum PlanNode: Sendable, Hashable {
  case step(Int32)
  /// What the group waits for has happened.
  case groupStart(Int32)
  /// Everything in the group has ended.
  case groupEnd(Int32)
}

/// A step as the plan knows it.
public struct PlannedStep: Sendable {
  public let address: StepAddress
  /// The list that the step is written in: shared with the workflow, where a copy of each step would
  /// cost more than all the rest of the plan.
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

  /// Whether its values are to be checked. Asked of every step: without a copy of it.
  @inlinable package var mayHaveUnfitValues: Bool { list[Int(position)].mayHaveUnfitValues }

  /// The innermost group it is in, as an index into ``Plan/groups``.
  @inlinable public var group: Int { Int(groupIndex) }
  @inlinable public var node: Plan.NodeIndex { Int(nodeIndex) }

  /// The command it runs; `nil` of one that runs none.
  public var command: Command? {
    guard case .run(let command) = list[Int(position)].action else { return nil }
    return command
  }

  /// Whether it runs a command. Asked of every step: without a copy of that.
  @inlinable package var runsCommand: Bool {
    if case .run = list[Int(position)].action { true } else { false }
  }

  /// Which exit codes of its command are good.
  package var successCodes: [Int] {
    guard case .run(let command) = list[Int(position)].action else { return [0] }
    return command.successCodes
  }

  /// How much of its command's output the log holds.
  package var logLimit: ByteCount {
    list[Int(position)].hasCommandOptions
      ? command?.logLimit ?? WorkflowLimits.logLimit : WorkflowLimits.logLimit
  }

  /// The action it runs; `nil` of one that runs none.
  package var call: ActionCall? {
    guard case .use(let call) = list[Int(position)].action else { return nil }
    return call
  }

  /// The request it sends; `nil` of one that sends none.
  package var request: HTTPCall? {
    guard case .http(let call) = list[Int(position)].action else { return nil }
    return call
  }

  /// Whether what it has made before may stand in for running it.
  @inlinable package var isCached: Bool {
    list[Int(position)].hasCommandOptions && command?.caching != nil
  }

  /// Whether it runs something that is attempted in a slot. Asked of every step: without a copy of that.
  @inlinable package var makesAttempts: Bool {
    switch list[Int(position)].action {
    case .run, .use, .http: true
    case .group, .compute, .wait, .approve, .workflow: false
    }
  }

  /// Whether what it does must not be done twice. Asked of every step: without a copy of most.
  @inlinable package var mustNotBeMadeAgain: Bool {
    let position = Int(position)
    return (list[position].hasControl || list[position].sendsRequest)
      && list[position].mustNotBeMadeAgain
  }

  /// Whether what it runs gets a jobserver, or an expression is to say so.
  @inlinable package var mayOfferJobserver: Bool {
    list[Int(position)].hasValues && list[Int(position)].computed[.jobserver] != nil
      || list[Int(position)].hasCommandOptions && command?.usesJobserver == true
  }

  /// Its own settings, without a copy of the whole step.
  package var settings: CommandSettings { list[Int(position)].settings }
  package var hasWorkingDirectory: Bool { list[Int(position)].settings.workingDirectory != nil }
  /// Its time limit, likewise.
  @inlinable package var timeout: Duration? { list[Int(position)].timeout }
  /// Visits its texts in which expressions may stand, with what is known of their places.
  func visitTexts(_ visit: (TextSite, String, [TextPlace]) -> Void) {
    let position = Int(position)
    list[position].visitTexts { visit($0, $1, list[position].place.value?.texts ?? []) }
  }
  var name: String? { list[Int(position)].name }
  @inlinable package var allowFailure: FailureTolerance { list[Int(position)].allowFailure }
  /// What is done again after which failures.
  @inlinable package var retry: [RetryPolicy] {
    list[Int(position)].hasControl ? list[Int(position)].control.retry : []
  }
  /// What it hands on, without a copy of the whole step.
  @inlinable package var outputs: [OutputDeclaration] {
    list[Int(position)].hasValues ? list[Int(position)].outputs : []
  }
  /// Its control, without a copy of the whole step.
  @inlinable package var control: StepControl { list[Int(position)].control }
  @inlinable package var hasControl: Bool { list[Int(position)].hasControl }
  package var action: StepAction { list[Int(position)].action }
  /// What it needs, as written; the edges are in ``Plan/dependencies``.
  var needs: [Need]? { list[Int(position)].needs }
  /// The same step as its `id` names it.
  var id: StepID? { list[Int(position)].id }
  /// Asked of every step: without a copy of the action.
  var runsAnotherFile: Bool { list[Int(position)].runsAnotherFile }
  /// Likewise.
  var callsAction: Bool { list[Int(position)].callsAction }
  /// Likewise.
  @inlinable package var sendsRequest: Bool { list[Int(position)].sendsRequest }
  /// Where its texts stand.
  var textPlaces: [TextPlace] { list[Int(position)].place.value?.texts ?? [] }
  /// Whether there is more to call it by than its address.
  package var hasTitle: Bool {
    list[Int(position)].name != nil || list[Int(position)].id == nil
  }
  /// The step whose log it reads.
  var logSource: Need? {
    guard case .log(let source)? = command?.stdin else { return nil }
    return source
  }
}

/// A group as the plan knows it; the one at index 0 is the top level.
public struct PlannedGroup: Sendable {
  /// `nil` for the top level. That of another file is called like the step that runs the file.
  public let address: StepAddress?
  /// `nil` for the top level. Its `action` holds the members, which are planned by themselves.
  public internal(set) var step: Step?
  public let order: StepGroup.Order
  public internal(set) var maxParallel: Int?
  /// The enclosing group; `nil` for the top level.
  public let parent: Int?
  /// 0 for the top level; that of another file is as deep as the step that runs the file.
  public let depth: Int
  /// The file that it is written in, as an index into ``Plan/files``; of a step that runs another file, the
  /// one that says so.
  package let file: Int
  /// Whether it is the top level of its file.
  package let isTopLevel: Bool
  /// Its start and end among the nodes; of the top level, one before the first and one past the last,
  /// so that everything inside a group stands strictly between the two.
  public let startNode: Plan.NodeIndex
  public package(set) var endNode: Plan.NodeIndex
  /// Its members in file order: the node of a step, the start node of a group.
  public package(set) var members: [Int32]

  package init(
    address: StepAddress?, step: Step?, order: StepGroup.Order, maxParallel: Int?, parent: Int?,
    depth: Int, file: Int = 0, isTopLevel: Bool = false, startNode: Plan.NodeIndex,
    endNode: Plan.NodeIndex, members: [Int32]
  ) {
    self.address = address
    self.step = step
    self.order = order
    self.maxParallel = maxParallel
    self.parent = parent
    self.depth = depth
    self.file = file
    self.isTopLevel = isTopLevel
    self.startNode = startNode
    self.endNode = endNode
    self.members = members
  }
}

/// Lists of node indices, one for each node, in one array: offsets and targets.
public struct PlanEdges: Sendable {
  /// `targets[offsets[n]..<offsets[n + 1]]` belong to node `n`.
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

  /// All edges.
  public var count: Int { targets.count }
}
