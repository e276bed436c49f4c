import WeftDefinition
import WeftDiagnostics
import WeftPlanning

/// Checks expectations of order, and of what runs at once.
struct OrderExpectationChecker {
  private let facts: CaseFacts
  private var findings: CheckFindings
  /// The steps that end before a step starts, as chains of the case say.
  private var chained: [Plan.NodeIndex: [(node: Plan.NodeIndex, range: SourceRange)]] = [:]
  /// Chains by name, also of elements of loops, which share a node.
  private var chainedNames: [String: [(name: String, range: SourceRange)]] = [:]

  static func check(_ facts: CaseFacts, _ findings: inout CheckFindings) {
    var checker = OrderExpectationChecker(facts: facts, findings: findings)
    checker.check()
    findings = checker.findings
  }

  private init(facts: CaseFacts, findings: CheckFindings) {
    (self.facts, self.findings) = (facts, findings)
  }

  private mutating func check() {
    let expected = facts.expected
    for name in expected.neverStarts { findings.find(name) }
    for chain in expected.before {
      for name in chain { checkStart(name) }
      for (first, second) in zip(chain, chain.dropFirst()) { check(first, before: second) }
    }
    for limit in expected.notBefore {
      checkStart(Placed(limit.name, limit.range))
      guard let longest = facts.longest, limit.value > longest else { continue }
      findings.reportImpossible(
        "\(quoted(limit.name)) cannot start after \(shown(limit.value)), because the run takes at "
          + "most \(shown(longest))", at: limit.range)
    }
    for limit in expected.atMostAtOnce { checkSlots(limit) }
  }

  /// Reports a step that must start, and cannot.
  private mutating func checkStart(_ name: Placed<String>) {
    let found = findings.find(name)
    guard !found.isEmpty else { return }
    if found.allSatisfy(facts.isExcluded) {
      findings.reportImpossible(
        "\(quoted(name.value)) is not selected in this case, so it does not start", at: name.range)
    }
    findings.checkMayStart(name, facts)
  }

  /// Steps that hold no slot are not counted, so a limit of these alone would always hold.
  private mutating func checkSlots(_ limit: Named<Int>) {
    let name = Placed(limit.name, limit.range)
    let found = findings.find(name)
    checkStart(name)
    let counts = found.contains {
      findings.kind(of: $0).map(CaseChecker.kindsWithSlots.contains) ?? false
    }
    guard !found.isEmpty, !counts else { return }
    findings.reportImpossible(
      "\(quoted(limit.name)) runs no command, request or action, and only these are counted",
      at: limit.range, help: findings.members(of: found[0]).map { "limit its steps: \($0)" })
  }

  // MARK: Chains

  private mutating func check(_ first: Placed<String>, before second: Placed<String>) {
    let (one, other) = (quoted(first.value), quoted(second.value))
    if first.value == second.value {
      return findings.reportImpossible("\(one) cannot end before it starts", at: second.range)
    }
    if let range = follows(first.value, second.value) {
      return reportCircle(first, second, range)
    }
    chainedNames[second.value, default: []].append((first.value, second.range))
    guard let early = onlyShape(first), let late = onlyShape(second) else { return }
    if isPart(early, of: late) {
      return findings.reportImpossible(
        "\(one) is a part of \(other), so it cannot end before that starts", at: second.range)
    }
    if isPart(late, of: early) {
      return findings.reportImpossible(
        "\(other) is a part of \(one), which ends after it", at: second.range)
    }
    if follows(early.node, late.node, among: [:]) != nil {
      return findings.reportImpossible(
        "\(one) needs \(other), so it cannot end before", at: second.range)
    }
    if let range = follows(early.node, late.node, among: chained) {
      return reportCircle(first, second, range)
    }
    chained[late.node, default: []].append((early.node, second.range))
  }

  private mutating func reportCircle(
    _ first: Placed<String>, _ second: Placed<String>, _ range: SourceRange
  ) {
    findings.reportImpossible(
      "\(quoted(first.value)) is also expected to start after the end of \(quoted(second.value))",
      at: second.range, related: ("here", range))
  }

  /// Whether a step or group is inside a group.
  private func isPart(_ shape: AddressShapes.Shape, of other: AddressShapes.Shape) -> Bool {
    guard case .groupStart(let index) = findings.plan.nodes[other.node] else { return false }
    let group = findings.plan.groups[Int(index)]
    return shape.node > group.startNode && shape.node < group.endNode
  }

  /// The location of the last chain that makes one step start after the end of another; `nil` if none does.
  private func follows(_ name: String, _ other: String) -> SourceRange? {
    var (seen, open) = (Set([name]), [name])
    while let next = open.popLast() {
      for (earlier, range) in chainedNames[next] ?? [] {
        if earlier == other { return range }
        if seen.insert(earlier).inserted { open.append(earlier) }
      }
    }
    return nil
  }

  private mutating func onlyShape(_ name: Placed<String>) -> AddressShapes.Shape? {
    let found = findings.matching(name.value)
    guard StepPattern(name.value).isExact, found.count == 1, found[0].pattern.isExact else {
      return nil
    }
    return found[0]
  }

  /// Finds out whether a node starts only after another one has ended, by the workflow and by some chains.
  ///
  /// - Returns: The location of the last chain on the way; an empty one if there is none.
  private func follows(
    _ node: Plan.NodeIndex, _ other: Plan.NodeIndex,
    among chains: [Plan.NodeIndex: [(node: Plan.NodeIndex, range: SourceRange)]]
  ) -> SourceRange? {
    let (plan, target) = (findings.plan, end(of: other))
    var seen = [Bool](repeating: false, count: plan.nodes.count)
    var open: [(node: Plan.NodeIndex, range: SourceRange)] = [(node, SourceRange(start: 0, end: 0))]
    while let (next, range) = open.popLast() {
      let before =
        plan.dependencies[next].map { (node: Int($0), range: range) }
        + (chains[next] ?? []).map { (node: end(of: $0.node), range: $0.range) }
      for dependency in before where !seen[dependency.node] {
        if dependency.node == target { return dependency.range }
        seen[dependency.node] = true
        open.append(dependency)
      }
    }
    return nil
  }

  /// The node that is reached when a step or a group has ended.
  private func end(of node: Plan.NodeIndex) -> Plan.NodeIndex {
    guard case .groupStart(let group) = findings.plan.nodes[node] else { return node }
    return findings.plan.groups[Int(group)].endNode
  }
}

extension CheckFindings {
  /// Reports a step that must start, and must not.
  mutating func checkMayStart(_ name: Placed<String>, _ facts: CaseFacts) {
    let pattern = StepPattern(name.value)
    let never = facts.expected.neverStarts.first { StepPattern($0.value).includes(pattern) }
    guard let never else { return }
    reportImpossible(
      "\(quoted(name.value)) is also expected never to start", at: name.range,
      related: ("here", never.range))
  }
}
