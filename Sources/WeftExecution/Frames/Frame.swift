import Synchronization
import WeftDefinition
import WeftExpressions
import WeftFutures
import WeftPlanning

/// One time that a part of the plan is run: the run as a whole, an element of a `forEach` or `matrix`, an
/// attempt of a group.
///
/// The plan has every step once. A frame says which time it is: it numbers the steps and scopes of its
/// part anew, gives them addresses, and keeps what they leave behind for expressions. What is not in it is
/// looked for in the frame around it.
final class Frame: Sendable {
  enum Kind: Sendable {
    case run
    case element(Element)
    /// The group again as a whole; counts from 1.
    case attempt(Int)
  }

  let kind: Kind
  let parent: Frame?
  /// What of the plan it is a time of.
  let part: Part
  /// The numbers of the part's first step and of its first group's scope.
  let firstInstance: Int
  let firstScope: Int
  /// The scope that what is in it belongs to, unless a group in it says otherwise.
  let scope: Int
  /// For each group of an element the innermost limit around its members, where there is one.
  let limits: [Int: Int]
  /// What the element is one of.
  let fanOut: FanOutRun?
  /// Of a run and of an element, where its steps stand; of an attempt it means nothing.
  let order: FileOrder
  /// Whether there are others like it at the same time.
  let isInElement: Bool
  private let state = Mutex(State())

  private struct State {
    /// By node: a step's, a group's start.
    var results: [Int32: NodeValues] = [:]
    /// What groups with expressions in their `env` set; by group.
    var environments: [Int: Result<[String: ScopedText?], StepFailure>] = [:]
    /// The inputs of the files that groups of it run, or why they cannot be computed; by file.
    var inputs: [Int: Result<RunInputs, StepFailure>] = [:]
    /// Of the nodes of its body, where something further in waits for some of them.
    var futures: [Future<NodeResult, Never>] = []
  }

  init(
    _ kind: Kind, of part: Part, in parent: Frame?, firstInstance: Int, firstScope: Int, scope: Int,
    limits: [Int: Int] = [:], fanOut: FanOutRun? = nil, order: FileOrder = .whole
  ) {
    self.kind = kind
    self.part = part
    self.parent = parent
    self.firstInstance = firstInstance
    self.firstScope = firstScope
    self.scope = scope
    self.limits = limits
    self.fanOut = fanOut
    self.order = order
    isInElement = if case .element = kind { true } else { parent?.isInElement ?? false }
  }

  /// The frame of a run as a whole.
  static func run(of plan: Plan) -> Frame {
    Frame(.run, of: Part(allOf: plan), in: nil, firstInstance: 0, firstScope: 0, scope: 0)
  }

  // MARK: Numbers

  /// A step's number, unique in the run while the frame lasts.
  func instance(ofStep index: Int) -> Int {
    guard !part.steps.contains(index), let parent else {
      return firstInstance + index - part.steps.lowerBound
    }
    return parent.instance(ofStep: index)
  }

  /// The scope of a group, or the one that stands for a group around the frame.
  func scope(ofGroup group: Int) -> Int {
    guard part.groups.contains(group) else { return scope }
    return firstScope + group - part.groups.lowerBound
  }

  // MARK: What is left behind

  func result(ofNode node: Plan.NodeIndex) -> NodeValues? {
    guard !part.nodes.contains(node), let parent else {
      return state.withLock { $0.results[Int32(node)] }
    }
    return parent.result(ofNode: node)
  }

  func record(_ values: NodeValues, ofNode node: Plan.NodeIndex) {
    state.withLock { $0.results[Int32(node)] = values }
  }

  /// What a group sets, evaluated once: all that it reads has ended before the group began.
  func environment(
    ofGroup group: Int,
    evaluating evaluate: (Frame) -> Result<[String: ScopedText?], StepFailure>
  ) -> Result<[String: ScopedText?], StepFailure> {
    if !part.groups.contains(group), let parent {
      return parent.environment(ofGroup: group, evaluating: evaluate)
    }
    if let known = state.withLock({ $0.environments[group] }) { return known }
    let environment = evaluate(self)
    state.withLock { $0.environments[group] = environment }
    return environment
  }

  // MARK: Other files

  /// Keeps the inputs of a file that a group of the frame runs, or the reason that there are none.
  func give(_ inputs: Result<RunInputs, StepFailure>, toFile file: Int) {
    state.withLock { $0.inputs[file] = inputs }
  }

  /// The inputs of a file that is run in the frame, or around it; `nil` before they are computed.
  func inputs(ofFile file: Int) -> Result<RunInputs, StepFailure>? {
    var next: Frame? = self
    while let frame = next {
      if let inputs = frame.state.withLock({ $0.inputs[file] }) { return inputs }
      next = frame.parent
    }
    return nil
  }

  // MARK: Futures

  func keep(_ futures: [Future<NodeResult, Never>]) {
    state.withLock { $0.futures = futures }
  }

  /// The future of a node that is outside of what has been asked for it.
  func future(ofNode node: Plan.NodeIndex) -> Future<NodeResult, Never> {
    guard !part.nodes.contains(node), let parent else {
      return state.withLock { $0.futures[node - part.nodes.lowerBound] }
    }
    return parent.future(ofNode: node)
  }

  // MARK: Elements

  /// The innermost element around, if there is one that `isMeant`.
  func element(where isMeant: (Element) -> Bool) -> Element? {
    var next: Frame? = self
    while let frame = next {
      if case .element(let element) = frame.kind, isMeant(element) { return element }
      next = frame.parent
    }
    return nil
  }

  /// Which attempt of the innermost retried group this is.
  var attempt: Int {
    if case .attempt(let number) = kind { number } else { 1 }
  }
}

/// One of those for which a step or group is run.
struct Element: Sendable {
  enum Source: Sendable, Hashable {
    /// With the name that expressions call it by beside `item`.
    case forEach(name: String?)
    case matrix
  }

  let source: Source
  let index: Int
  let key: String
  let value: ExpressionValue
  let isSecret: Bool
}

/// What of a plan a frame is a time of.
struct Part: Sendable {
  /// Of the step, or of the group from its start to its end.
  let nodes: Range<Int>
  let steps: Range<Int>
  let groups: Range<Int>
  /// The step, or the group by its start, that is run; `nil` of the run as a whole.
  let member: Plan.NodeIndex?
  /// How the plan calls it.
  let address: StepAddress?

  init(allOf plan: Plan) {
    nodes = plan.nodes.indices
    steps = plan.steps.indices
    groups = plan.groups.indices
    member = nil
    address = nil
  }

  /// A step, with those that clean up after it.
  init(step index: Int, of plan: Plan) {
    let step = plan.steps[index]
    let count = 1 + (plan.bodies.cleanups[step.node]?.count ?? 0)
    nodes = step.node..<step.node + count
    steps = index..<index + count
    groups = 0..<0
    member = step.node
    address = step.address
  }

  /// A group, with those that clean up after it.
  init(group index: Int, of plan: Plan) {
    let group = plan.groups[index]
    let cleanups = plan.bodies.cleanups[group.startNode]?.count ?? 0
    nodes = group.startNode..<group.endNode + 1 + cleanups
    let inside = plan.steps(inGroup: index)
    steps = inside.lowerBound..<inside.upperBound + cleanups
    groups = plan.groups(inGroup: index)
    member = group.startNode
    address = group.address
  }
}

extension Plan {
  /// The steps inside a group, at any depth.
  func steps(inGroup index: Int) -> Range<Int> {
    let (start, end) = (groups[index].startNode, groups[index].endNode)
    let first = steps.firstIndex(from: 0) { $0.node > start }
    return first..<steps.firstIndex(from: first) { $0.node > end }
  }

  /// A group and those inside it, at any depth.
  func groups(inGroup index: Int) -> Range<Int> {
    let end = groups[index].endNode
    var next = index + 1
    while next < groups.count, groups[next].startNode < end { next += 1 }
    return index..<next
  }
}

extension Array {
  /// Where those begin that a test holds for, in an array in which all of them come last.
  fileprivate func firstIndex(from start: Int, where isPast: (Element) -> Bool) -> Int {
    var (low, high) = (start, count)
    while low < high {
      let middle = (low + high) / 2
      if isPast(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
