import WeftDefinition
import WeftDiagnostics

/// The user's selection of a plan's steps, by the addresses of steps and groups.
package struct StepChoice: Sendable, Hashable {
  /// These and their dependencies.
  package var only: [String] = []
  /// All but these.
  package var skip: [String] = []
  /// These and their dependents.
  package var from: [String] = []

  package init(only: [String] = [], skip: [String] = [], from: [String] = []) {
    self.only = only
    self.skip = skip
    self.from = from
  }

  package var isEmpty: Bool { only.isEmpty && skip.isEmpty && from.isEmpty }
}

/// The reason why a selection does not fit a plan.
package enum StepChoiceError: Error, Sendable, Hashable {
  /// A name that no step or group has, and the closest one that exists.
  case unknown(String, nearest: String?)
  /// The name of an element of this loop.
  case element(String, of: String)
  /// Steps to run are named, but none is left.
  case nothing(StepChoice)

  package var message: String {
    switch self {
    case .unknown(let name, _): "\(quoted(name)) is not a step or group of this workflow"
    case .element(let name, _):
      "\(quoted(name)) is an element of a loop, and only whole loops can be chosen"
    case .nothing(let choice):
      choice.only.isEmpty || choice.from.isEmpty
        ? "no step is selected" : "no step is selected by both \"from\" and \"only\""
    }
  }

  package var help: String? {
    switch self {
    case .unknown(_, let nearest): nearest.asSuggestion
    case .element(_, let loop): "choose \(quoted(loop))"
    case .nothing(let choice):
      if !choice.only.isEmpty, !choice.from.isEmpty {
        "together they select what is between two steps: \"from\" the first, \"only\" the last"
      } else if choice.skip.isEmpty {
        "a cleanup step runs with the step that it cleans up: select that one"
      } else {
        "all that is selected is skipped: select other steps, or skip fewer"
      }
    }
  }
}

extension Plan {
  /// The steps that a selection skips, as indices. Steps of `finally` are skipped only by name, or with everything else
  /// in a nested file; cleanup steps are skipped by name, or with the step or group that they clean up: they handle
  /// what the others leave behind.
  ///
  /// - Throws: The first unknown name.
  package func stepsExcluded(by choice: StepChoice) throws(StepChoiceError) -> [Int] {
    if choice.isEmpty { return [] }
    let names = StepNodes(self)
    let (only, from, skip) = (
      try names.nodes(of: choice.only), try names.nodes(of: choice.from),
      try names.nodes(of: choice.skip)
    )
    let wanted = only.isEmpty ? nil : reached(from: only, by: needs())
    let following = from.isEmpty ? nil : reached(from: from, by: dependants())
    let skipped = inside(skip)
    let isLast = finalizingSteps()
    var isExcluded = steps.indices.map { index in
      let node = steps[index].node
      if skipped[node] { return true }
      if isLast[index] { return false }
      return wanted?[node] == false || following?[node] == false
    }
    for (node, final) in finalizedNodes() where isEmpty(at: node, isExcluded, isLast) {
      for step in final { isExcluded[step] = true }
    }
    return steps.indices.filter { isExcluded[$0] }
  }

  /// The steps that a name refers to, as indices: the step itself, or all in the group, wherever their ids place their
  /// addresses. Without the steps that clean up after it.
  ///
  /// - Throws: If no step or group has that name.
  package func steps(named name: String) throws(StepChoiceError) -> [Int] {
    let isNamed = inside(try StepNodes(self).nodes(of: [name]))
    return steps.indices.filter { isNamed[steps[$0].node] }
  }

  /// The steps that a run skips by a selection.
  ///
  /// - Throws: The first unknown name; `.nothing` if steps to run are named, but none of these steps, and of those that they
  ///   need, is left. Steps of `finally` and cleanup steps count only by name.
  package func stepsSkipped(by choice: StepChoice) throws(StepChoiceError) -> [Int] {
    let excluded = try stepsExcluded(by: choice)
    if choice.only.isEmpty, choice.from.isEmpty { return excluded }
    let isNamed = inside(try StepNodes(self).nodes(of: choice.only + choice.from))
    let isLast = finalizingSteps()
    var isLeft = steps.indices.map { !isLast[$0] || isNamed[steps[$0].node] }
    for index in excluded { isLeft[index] = false }
    guard isLeft.contains(true) else { throw .nothing(choice) }
    return excluded
  }

  /// The steps that a run still skips once some of its skipped steps are named to run. Cleanup steps, and `finally` of a
  /// nested file, run with the first step or member for which they were skipped.
  package func stepsExcluded(_ excluded: Set<Int>, except named: Set<Int>) -> [Int] {
    if excluded.isDisjoint(with: named) { return excluded.sorted() }
    let isLast = finalizingSteps()
    let before = steps.indices.map(excluded.contains)
    var isExcluded = steps.indices.map { before[$0] && !named.contains($0) }
    for (node, final) in finalizedNodes()
    where isEmpty(at: node, before, isLast) && !isEmpty(at: node, isExcluded, isLast) {
      for step in final { isExcluded[step] = false }
    }
    return steps.indices.filter { isExcluded[$0] }
  }

  /// The nested files with their `finally` steps, then the steps and groups with their cleanup steps.
  private func finalizedNodes() -> [(node: NodeIndex, final: [Int])] {
    let files = files.dropFirst().compactMap { file -> (node: NodeIndex, final: [Int])? in
      guard let finally = file.finally, let caller = file.caller else { return nil }
      let range = groups[finally].startNode...groups[finally].endNode
      return (groups[caller].startNode, steps.indices.filter { range.contains(steps[$0].node) })
    }
    return files + bodies.cleanups.map { ($0.key, $0.value.map(Int.init)) }
  }

  /// Whether all of a step or group is skipped; cleanup and `finally` steps in it do not count.
  private func isEmpty(at node: NodeIndex, _ isExcluded: [Bool], _ isLast: [Bool]) -> Bool {
    if case .step(let index) = nodes[node] { return isExcluded[Int(index)] }
    let range = node...end(of: node)
    return steps.indices.allSatisfy { index in
      !range.contains(steps[index].node) || isExcluded[index] || isLast[index]
    }
  }

  // MARK: Reachability

  /// The dependencies of each node; for the end of a group, everything in it.
  private func needs() -> [[Int32]] {
    nodes.indices.map { Array(dependencies[$0]) }
  }

  /// The dependents of each node.
  private func dependants() -> [[Int32]] {
    var lists: [[Int32]] = Array(repeating: [], count: nodes.count)
    for node in nodes.indices {
      for needed in dependencies[node] { lists[Int(needed)].append(Int32(node)) }
    }
    return lists
  }

  private func reached(from start: [NodeIndex], by edges: [[Int32]]) -> [Bool] {
    var isReached = inside(start)
    var rest = isReached.indices.filter { isReached[$0] }
    while let node = rest.popLast() {
      for next in edges[node].lazy.map(Int.init) where !isReached[next] {
        isReached[next] = true
        rest.append(next)
      }
    }
    return isReached
  }

  /// Marks nodes and, for groups, everything in them.
  private func inside(_ starts: [NodeIndex]) -> [Bool] {
    var isInside = Array(repeating: false, count: nodes.count)
    for start in starts {
      for node in start...end(of: start) { isInside[node] = true }
    }
    return isInside
  }

  private func finalizingSteps() -> [Bool] {
    var isLast = Array(repeating: false, count: steps.count)
    for step in bodies.cleanupSteps { isLast[step] = true }
    for finally in bodies.finallyGroups {
      let range = groups[finally].startNode...groups[finally].endNode
      for index in steps.indices where range.contains(steps[index].node) { isLast[index] = true }
    }
    return isLast
  }
}

/// The nodes of a plan by address: steps, and groups by their starts.
private struct StepNodes {
  private let plan: Plan
  private var nodes: [StepAddress: Plan.NodeIndex] = [:]

  init(_ plan: Plan) {
    self.plan = plan
    for step in plan.steps { nodes[step.address] = step.node }
    for group in plan.groups where !group.isTopLevel {
      if let address = group.address { nodes[address] = group.startNode }
    }
  }

  func nodes(of names: [String]) throws(StepChoiceError) -> [Plan.NodeIndex] {
    var found: [Plan.NodeIndex] = []
    for name in names {
      guard let node = nodes[StepAddress(name)] else {
        // In file order, so that ties are always resolved in the same way.
        let known = nodes.sorted { $0.value < $1.value }.map(\.key.text)
        throw loop(ofElement: name).map { .element(name, of: $0) }
          ?? .unknown(name, nearest: NearestName.step(name, among: known))
      }
      found.append(node)
    }
    return found
  }

  /// The name before the key of an element, if a loop has it: `build` of `build[eu].test`.
  private func loop(ofElement name: String) -> String? {
    guard let key = name.firstIndex(of: "[") else { return nil }
    let loop = StepAddress(String(name[..<key]))
    let isLoop =
      plan.steps.contains { $0.address == loop && $0.isLoop }
      || plan.groups.contains { !$0.isTopLevel && $0.address == loop && $0.isLoop }
    return isLoop ? loop.text : nil
  }
}

extension NearestName {
  /// The step that was probably meant: the only one of this name in a nested file, else the nearest.
  package static func step(_ name: String, among addresses: [String]) -> String? {
    let nested = Set(addresses.filter { $0.hasSuffix("/" + name) })
    return nested.count == 1 ? nested.first : NearestName(addresses).nearest(to: name)
  }
}
