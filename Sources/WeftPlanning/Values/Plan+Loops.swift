import WeftDefinition
import WeftExpressions

extension Plan {
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
    switch nodes[node] {
    case .step(let index): steps[Int(index)].step.resultShape
    case .groupStart(let index), .groupEnd(let index):
      groups[Int(index)].step?.resultShape ?? .group
    }
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
