import WeftDefinition
import WeftDiagnostics
import WeftExpressions

extension ValueChecker {
  /// Checks the expressions of a text, and returns what is known of its value.
  mutating func read(_ text: PlannedText, of owner: TextOwner) -> ValueNames.Knowledge {
    let rules = SiteRules(site: text.site, owner: owner)
    let scope = SiteScope(names: names, rules: rules)
    var result = ValueNames.Knowledge(type: .string)
    let isAlone = text.template.isOneExpression
    text.visitExpressions { expression in
      let checked = TypeChecker.check(expression, in: scope)
      report(checked, text, rules)
      if checked.faults.isEmpty {
        checkWritable(expression, checked.type, isAlone: isAlone, in: text)
      }
      if !checked.statusFunctions.isEmpty || checked.hashesFiles {
        checkFunctions(of: expression, text, rules)
      }
      for reference in checked.references { check(reference, text, rules) }
      result.isSecret = result.isSecret || checked.isSecret
      if isAlone { result.type = checked.type }
    }
    return result
  }

  func type(of expression: Expression, in text: PlannedText, of owner: TextOwner) -> ExpressionType
  {
    let rules = SiteRules(site: text.site, owner: owner)
    return TypeChecker.check(expression, in: SiteScope(names: names, rules: rules)).type
  }

  private mutating func report(
    _ checked: CheckedExpression, _ text: PlannedText, _ rules: SiteRules
  ) {
    for fault in checked.faults {
      report(
        .expression(code: fault.code, message: fault.message, help: fault.help), text, fault.range)
    }
    for remark in checked.remarks {
      report(
        .remark(code: remark.code, message: remark.message, help: remark.help), text, remark.range)
    }
  }

  private mutating func checkFunctions(
    of expression: Expression, _ text: PlannedText, _ rules: SiteRules
  ) {
    var problems: [(ValueProblem, SourceRange)] = []
    expression.root.visit { node in
      guard case .call(let function, _) = node.form, let problem = rules.obstacle(to: function)
      else { return }
      problems.append((problem, node.range))
    }
    for (problem, range) in problems { report(problem, text, range) }
  }

  private mutating func check(
    _ found: CheckedExpression.Reference, _ text: PlannedText, _ rules: SiteRules
  ) {
    let reference = found.reference
    if reference.valueContext == .secrets, reference.names.count > 1,
      let name = SecretName(reference.names[1].text)
    {
      use(secret: name, in: text.file, by: rules.owner)
    }
    if found.isSecret, !rules.allowsSecrets {
      report(.secret(in: text.site), text, reference.range)
    }
    guard !found.isGuarded, let absence = absence(of: reference, text.site, to: rules.owner)
    else { return }
    report(.mayBeMissing(absence, expression: reference.text), text, reference.range)
  }
}

/// The scope of the type checker for one text.
private struct SiteScope: TypeScope {
  let names: ValueNames
  let rules: SiteRules

  func type(of reference: ContextReference) -> ReferenceType {
    if let context = reference.valueContext ?? names.loopContext(of: reference, of: rules.owner),
      let problem = rules.obstacle(to: context, called: reference.context)
    {
      return .fault(ExpressionError(problem, reference.names[0].range))
    }
    switch names.meaning(of: reference, in: rules.site, of: rules.owner) {
    case .value(let knowledge): return .known(knowledge.type, isSecret: knowledge.isSecret)
    case .problem(let problem, let place):
      return .fault(ExpressionError(problem, reference.names[place].range))
    case .fault(let fault): return .fault(fault)
    case .reported: return .known(.any, isSecret: false)
    }
  }
}

extension ExpressionError {
  fileprivate init(_ problem: ValueProblem, _ range: SourceRange) {
    self.init(
      .scope(code: problem.code, message: problem.message, help: problem.help), range)
  }
}
