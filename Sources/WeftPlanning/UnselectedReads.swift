import WeftDefinition
import WeftExpressions

/// A step that is not selected, and a step or group that is and reads its values, which are null then.
package struct UnselectedRead: Sendable, Hashable {
  package let reader: StepAddress
  package let source: StepAddress
}

extension Plan {
  /// The reads of values that a run will not have, in the order of the plan.
  ///
  /// Omits outcomes, conditions, and reads for which the expression has another value (`||`, `case`): they expect steps
  /// that do not run.
  ///
  /// - Parameter excluded: The steps that are not selected, as indices.
  package func unselectedReads(excluding excluded: [Int]) -> [UnselectedRead] {
    if excluded.isEmpty || values.isEmpty { return [] }
    let excluded = Set(excluded)
    var found: [UnselectedRead] = []
    func look(_ texts: ArraySlice<PlannedText>, of node: NodeIndex) {
      if texts.isEmpty || isExcluded(node, excluded) { return }
      var sources: [NodeIndex] = []
      for text in texts where !text.site.isCondition {
        text.template.visitExpressions { expression in
          expression.root.visitNeeded { reference in
            guard let source = valueSource(of: reference, in: text.file),
              !sources.contains(source), isExcluded(source, excluded)
            else { return }
            sources.append(source)
          }
        }
      }
      found += sources.map { UnselectedRead(reader: address(of: node), source: address(of: $0)) }
    }
    for (index, step) in steps.enumerated() { look(values.texts(ofStep: index), of: step.node) }
    for (index, group) in groups.enumerated() where group.step != nil {
      look(values.texts(ofGroup: index), of: group.startNode)
    }
    return found
  }

  /// The step or group whose values a reference reads.
  private func valueSource(of reference: ContextReference, in file: Int) -> NodeIndex? {
    guard reference.valueContext == .steps,
      let (node, rest) = values.node(named: reference.names, in: file),
      rest < reference.names.count
    else { return nil }
    let field = StepField(rawValue: reference.names[rest].text)
    return field == .outcome || field == .conclusion ? nil : node
  }

  private func isExcluded(_ node: NodeIndex, _ excluded: Set<Int>) -> Bool {
    if case .step(let index) = nodes[node] { return excluded.contains(Int(index)) }
    let range = node...end(of: node)
    return steps.indices.allSatisfy { !range.contains(steps[$0].node) || excluded.contains($0) }
  }
}

extension TextSite {
  fileprivate var isCondition: Bool {
    switch self {
    case .condition, .retryCondition: true
    default: false
    }
  }
}

extension ExpressionNode {
  /// Visits the references whose values the expression cannot do without.
  fileprivate func visitNeeded(_ visit: (ContextReference) -> Void) {
    switch form {
    case .reference(let reference): visit(reference)
    case .not, .comparison, .all, .call(.case, _): break
    case .any(let operands): operands.last?.visitNeeded(visit)
    default: for child in children { child.visitNeeded(visit) }
    }
  }
}
