import WeftDefinition
import WeftExpressions

/// Checks keys that depend only on literal elements: every run would fail because of them.
extension ValueChecker {
  mutating func checkKeys(_ text: PlannedText, of owner: TextOwner) {
    guard let loop = loop(of: owner), case .values(let written) = loop.elements,
      let expression = text.template.onlyExpression,
      expression.references.allSatisfy({ reference in
        reference.valueContext == .item || reference.valueContext == .index
          || loop.name.map(InputName.folded) == InputName.folded(reference.context)
      }),
      let elements = try? LoopElements(of: written)
    else { return }
    var keys = ElementKeys()
    for index in 0..<elements.count {
      let item = ExpressionValue(elements.value(at: index))
      var contexts = [
        ExpressionObject.Member(key: "item", value: item),
        ExpressionObject.Member(key: "index", value: .number(Double(index))),
      ]
      if let name = loop.name { contexts.append(.init(key: name, value: item)) }
      guard let value = try? expression.evaluate(in: ValueScope(ExpressionObject(contexts))) else {
        return
      }
      do throws(LoopProblem) { try keys.add(value.value) } catch {
        return report(
          .expression(code: LoopProblem.code, message: error.message, help: error.help), text,
          nil)
      }
    }
  }

  private func loop(of owner: TextOwner) -> ForEach? {
    let fanOut: FanOut? =
      switch owner {
      case .workflow: nil
      case .group(let index): outline.groups[index].step?.control.fanOut
      case .step(let index): outline.steps[index].control.fanOut
      }
    if case .forEach(let loop)? = fanOut { return loop }
    return nil
  }
}
