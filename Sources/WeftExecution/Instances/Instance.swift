import Synchronization
import WeftEvents
import WeftExpressions
import WeftFutures
import WeftPlanning

/// One instance of a plan region: the run as a whole, one element of a loop, or one attempt of a group.
///
/// The plan contains every step once, but a loop or a retried group executes its steps several times. An instance tells
/// these executions apart. It numbers the steps and scopes of its region, gives them addresses, and stores their
/// values for expressions. A lookup of a node outside the region continues in the parent instance.
///
/// ``RunEngine`` opens them: one when the run starts, one for each element when the loop has room for it, one for
/// each attempt of a group that is run apart (a retried group, or a nested file), and one for each `finally` group.
final class Instance: Sendable {
  enum Kind: Sendable {
    case run
    case element(Element)
    /// One attempt of a whole group, counted from 1 by each engine.
    case attempt(Int)
  }

  let kind: Kind
  let parent: Instance?
  /// The plan region that the instance instantiates.
  let region: PlanRegion
  /// The instance number of the region's first step, and the scope of its first group.
  let firstInstance: Int
  let firstScope: Int
  /// The scope of the region's steps that are in none of its groups.
  let scope: Int
  /// The innermost parallel limit around the members of each group, for the instance of an element; groups without one
  /// are absent.
  let limits: [Int: Int]
  /// The loop that the element belongs to; `nil` if the instance is not an element.
  let fanOut: LoopRun?
  /// The stretch of the file order that the region's steps share. It has no meaning for the instance of an attempt,
  /// which uses its parent's.
  let order: FileOrder
  /// Whether the instance is in a loop, so that several instances like it may exist at the same time.
  let isInElement: Bool
  private let state = Mutex(State())

  private struct State {
    /// Keyed by node: a step's node, or a group's start.
    var results: [Int32: NodeValues] = [:]
    /// The evaluated `env` of groups that have expressions in it, keyed by group.
    var environments: [Int: Result<[String: ScopedText?], StepFailure>] = [:]
    /// The inputs of the files that groups of the region run, or the reason why they cannot be computed; keyed by
    /// file.
    var inputs: [Int: Result<RunInputs, StepFailure>] = [:]
    /// The futures of the region's nodes; empty unless the plan contains a step that depends on a node outside its
    /// own instance.
    var futures: [Future<NodeResult, Never>] = []
  }

  init(
    _ kind: Kind, of region: PlanRegion, in parent: Instance?, firstInstance: Int, firstScope: Int,
    scope: Int, limits: [Int: Int] = [:], fanOut: LoopRun? = nil, order: FileOrder = .whole
  ) {
    self.kind = kind
    self.region = region
    self.parent = parent
    self.firstInstance = firstInstance
    self.firstScope = firstScope
    self.scope = scope
    self.limits = limits
    self.fanOut = fanOut
    self.order = order
    isInElement = if case .element = kind { true } else { parent?.isInElement ?? false }
  }

  /// The instance of a run as a whole.
  static func run(of plan: Plan) -> Instance {
    Instance(.run, of: PlanRegion(allOf: plan), in: nil, firstInstance: 0, firstScope: 0, scope: 0)
  }

  /// An instance of which only the addresses and values matter: it runs nothing, and has no numbers of its own.
  convenience init(unnumbered kind: Kind, of region: PlanRegion, in parent: Instance?) {
    self.init(kind, of: region, in: parent, firstInstance: 0, firstScope: 0, scope: 0)
  }

  /// The instance of an attempt of a group, or of `finally`.
  ///
  /// - Parameter scope: The first of the region's scopes.
  convenience init(attempt number: Int, of region: PlanRegion, in outer: Instance, scope: Int) {
    self.init(
      .attempt(number), of: region, in: outer,
      firstInstance: outer.instanceNumber(ofStep: region.steps.lowerBound), firstScope: scope + 1,
      scope: scope)
  }

  // MARK: Numbers

  /// The instance number of a step, unique in the run while the instance exists.
  func instanceNumber(ofStep index: Int) -> Int {
    guard !region.steps.contains(index), let parent else {
      return firstInstance + index - region.steps.lowerBound
    }
    return parent.instanceNumber(ofStep: index)
  }

  /// The scope of a group; for a group around the instance, the instance's own scope.
  func scope(ofGroup group: Int) -> Int {
    guard region.groups.contains(group) else { return scope }
    return firstScope + group - region.groups.lowerBound
  }

  // MARK: Values

  func result(ofNode node: Plan.NodeIndex) -> NodeValues? {
    guard !region.nodes.contains(node), let parent else {
      return state.withLock { $0.results[Int32(node)] }
    }
    return parent.result(ofNode: node)
  }

  func record(_ values: NodeValues, ofNode node: Plan.NodeIndex) {
    state.withLock { $0.results[Int32(node)] = values }
  }

  /// Returns the `env` of a group, and evaluates it on first use. Everything it reads ended before the group started.
  func environment(
    ofGroup group: Int,
    evaluating evaluate: (Instance) -> Result<[String: ScopedText?], StepFailure>
  ) -> Result<[String: ScopedText?], StepFailure> {
    if !region.groups.contains(group), let parent {
      return parent.environment(ofGroup: group, evaluating: evaluate)
    }
    if let known = state.withLock({ $0.environments[group] }) { return known }
    let environment = evaluate(self)
    state.withLock { $0.environments[group] = environment }
    return environment
  }

  // MARK: Nested files

  /// Stores the inputs of a file that a group of the instance runs, or the reason why they cannot be computed.
  func supply(_ inputs: Result<RunInputs, StepFailure>, toFile file: Int) {
    state.withLock { $0.inputs[file] = inputs }
  }

  /// The inputs of a file that is run in this instance or one around it; `nil` before they are computed.
  func inputs(ofFile file: Int) -> Result<RunInputs, StepFailure>? {
    for instance in outwards {
      if let inputs = instance.state.withLock({ $0.inputs[file] }) { return inputs }
    }
    return nil
  }

  // MARK: Futures

  func keep(_ futures: [Future<NodeResult, Never>]) {
    state.withLock { $0.futures = futures }
  }

  /// The future of a node of this instance, or of one around it. Only for plans in which a step depends on a node
  /// outside its own instance: the other plans keep no futures.
  func future(ofNode node: Plan.NodeIndex) -> Future<NodeResult, Never> {
    guard !region.nodes.contains(node), let parent else {
      return state.withLock { $0.futures[node - region.nodes.lowerBound] }
    }
    return parent.future(ofNode: node)
  }

  // MARK: Elements

  /// The innermost element around the instance that satisfies `isMeant`.
  func element(where isMeant: (Element) -> Bool) -> Element? {
    for case .element(let element) in outwards.lazy.map(\.kind) where isMeant(element) {
      return element
    }
    return nil
  }

  /// The instance and those around it, from the innermost outwards.
  var outwards: some Sequence<Instance> { sequence(first: self, next: \.parent) }
}

/// One element of a loop.
struct Element: Sendable {
  enum Source: Sendable, Hashable {
    /// `name` is the name that expressions may use beside `item`.
    case forEach(name: String?)
    case matrix
  }

  let source: Source
  let index: Int
  let key: String
  let value: ExpressionValue
  let isSecret: Bool
}

/// The addresses of steps and groups in one instance: `upload[3]`, `deploy[eu].push`.
extension Instance {
  /// The address in this instance of the step or group at an address of the plan.
  func address(of planned: StepAddress) -> StepAddress {
    guard let parent, let member = region.address else { return planned }
    guard case .element(let element) = kind else { return parent.address(of: planned) }
    return parent.address(of: member).element(element.key).inElement(planned, of: member)
  }
}

extension Instance {
  /// The address of the innermost loop element that contains the instance; `nil` outside of loops.
  var element: StepAddress? {
    guard let parent else { return nil }
    guard case .element(let element) = kind, let member = region.address else {
      return parent.element
    }
    return parent.address(of: member).element(element.key)
  }
}

/// The scopes and parallel limits around a group, as an instance sees them. ``RunEngine`` reads them to start a group
/// or opens an element.
extension Instance {
  /// The scope that encloses a group.
  func scope(around group: Int, of plan: Plan) -> Int {
    scope(ofGroup: plan.groups[group].parent ?? 0)
  }

  /// Whether the instance is an element of the loop at this node (a step, or the start of a group), or an attempt of such
  /// an element.
  func isElement(of node: Plan.NodeIndex) -> Bool {
    guard region.memberNode == node else { return false }
    switch kind {
    case .run: return false
    case .element: return true
    case .attempt: return parent?.isElement(of: node) ?? false
    }
  }
}

extension Instance {
  /// The instance that contains the attempts of a group; the instance itself if it is not one of them.
  func aroundAttempts(of node: Plan.NodeIndex) -> Instance {
    guard case .attempt = kind, region.memberNode == node, let parent else { return self }
    return parent
  }

  /// Whether it is an attempt of this group, and not the first under this engine.
  func isRepeated(attemptOf node: Plan.NodeIndex) -> Bool {
    guard case .attempt(let number) = kind, region.memberNode == node else { return false }
    return number > 1
  }
}

extension Instance {
  /// The innermost parallel limit that applies to the members of a group.
  func limit(ofGroup group: Int, in plan: Plan) -> Int? {
    var instance = self
    while let parent = instance.parent {
      if case .element = instance.kind, instance.region.groups.contains(group) {
        return instance.limits[group]
      }
      instance = parent
    }
    return plan.limit(ofGroup: group)
  }

  /// Tells the loops around the instance that a step of an element began to wait for a slot.
  func stepQueued() {
    fanOut?.stepQueued()
    parent?.stepQueued()
  }

  /// Tells the loops around the instance that a step of an element stopped waiting for a slot.
  func stepAnswered() {
    fanOut?.stepAnswered()
    parent?.stepAnswered()
  }
}

extension Plan {
  /// The innermost parallel limit that applies to the members of a group, as ``SlotQueue`` numbers them.
  fileprivate func limit(ofGroup group: Int) -> Int? {
    let limited = allEnclosingGroups(ofGroup: group).first { groups[$0].maxParallel != nil }
    guard let limited, limited > 0 else { return nil }
    return groups[1..<limited].count { $0.maxParallel != nil }
  }
}

/// A stretch of the order of steps in the file, as a range of numbers: lower numbers come first.
///
/// The steps of a run share all numbers evenly. A loop divides the stretch of its steps among its elements, and each
/// element divides its own among its steps, and so on inwards: everything in one element comes before everything in
/// the next. Steps share a number if there are more of them than numbers. ``SlotQueue`` uses the numbers as its
/// priority among steps of the same weight.
struct FileOrder: Hashable {
  static let whole = FileOrder(first: 0, count: .max)

  /// The position of the first step in it.
  let first: UInt64
  fileprivate let count: UInt64

  /// Returns the stretch of some of `total` equal pieces, which are numbered from 0.
  func pieces(_ range: Range<Int>, of total: Int) -> FileOrder {
    let size = count / UInt64(max(total, 1))
    return FileOrder(
      first: first + size * UInt64(range.lowerBound), count: size * UInt64(range.count))
  }

  func piece(_ index: Int, of total: Int) -> FileOrder { pieces(index..<index + 1, of: total) }
}

extension Instance {
  /// The stretch of the file order that these steps share in the instance.
  func order(ofSteps steps: Range<Int>) -> FileOrder {
    // An attempt of a group uses the stretch of the group.
    if case .attempt = kind, let parent { return parent.order(ofSteps: steps) }
    let first = region.steps.lowerBound
    return order.pieces(
      steps.lowerBound - first..<steps.upperBound - first, of: region.steps.count)
  }
}
