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
      if !checked.statusFunctions.isEmpty || checked.readsFiles {
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
    for fault in checked.faults { report(.expression(fault), text, fault.range) }
    for remark in checked.remarks {
      report(
        Diagnostic(remark.code, remark.message, help: remark.help, severity: .warning), text,
        remark.range)
    }
  }

  private mutating func checkFunctions(
    of expression: Expression, _ text: PlannedText, _ rules: SiteRules
  ) {
    var problems: [(Diagnostic, SourceRange)] = []
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
  fileprivate init(_ problem: Diagnostic, _ range: SourceRange) {
    self.init(
      .scope(code: problem.code, message: problem.message, help: problem.help), range)
  }
}

/// Reports values that may be missing when they are read, without a default.
extension ValueChecker {
  func absence(
    of reference: ContextReference, _ site: TextSite, to owner: TextOwner
  ) -> Absence? {
    guard reference.valueContext == .steps, reference.names.count > 2,
      case .node(let target, let rest) = outline.meaning(
        of: reference, to: outline.node(of: owner), names.files[outline.file(of: owner)].steps),
      rest < reference.names.count, let field = StepField.named(reference.names[rest].text),
      site.isSensitive(field)
    else { return nil }
    guard outline.resultShape(of: target) != .many else { return nil }
    if let conditional = conditionalLayer(around: target, for: owner) {
      return .skip(
        of: conditional, producer: ContextReference(Array(reference.names[..<rest])).text)
    }
    if let group = earlyEndingGroup(owner, around: target) {
      return .loss(of: outline.member(at: target).address.text, in: group)
    }
    let isOwn = outline.cleans(owner, upAfter: target)
    if field == .outputs || !isOwn, runsRegardless(owner, regardlessOf: target) {
      return .readerRunsAnyway(outline.member(at: target).address.text)
    }
    guard field == .outputs else { return nil }
    if outline.withStep(at: target, { $0.pointee.$allowFailure != .literal(.none) }) {
      return .failure(of: outline.member(at: target).address.text)
    }
    guard rest + 1 < reference.names.count else { return nil }
    return names.member(without: reference.names[rest + 1].text, ofRaceAt: target)
      .map { .winner(outline.member(at: target).address.text, of: $0) }
  }

  /// The address of a step or group with an `if` that contains the producer, or is the producer, but does not contain
  /// the reader; `nil` if there is none, or the reader handles it.
  private func conditionalLayer(around target: Plan.NodeIndex, for owner: TextOwner) -> String? {
    let readers = chain(of: owner)
    var next: TextOwner? = outline.owner(at: target)
    while let layer = next, !readers.contains(layer), let node = outline.node(of: layer) {
      next = outline.outer(layer)
      guard let condition = condition(of: layer) else { continue }
      let isGuarded = readers.contains { reader in
        self.condition(of: reader).map {
          isSame($0, condition) || mentions(outcomeOf: [target, node], $0, of: reader)
        } == true
      }
      if !isGuarded { return outline.member(at: node).address.text }
    }
    return nil
  }

  /// The address of the reader, if it is a group that may end before the producer in it has.
  private func earlyEndingGroup(
    _ owner: TextOwner, around target: Plan.NodeIndex
  ) -> String? {
    guard case .group(let index) = owner, outline.groups[index].endsEarly,
      outline.group(startingAt: outline.groups[index].startNode, encloses: target)
    else { return nil }
    return outline.groups[index].address?.text
  }

  /// Whether the owner of a text runs even if what it needs has failed or did not run.
  private func runsRegardless(
    _ owner: TextOwner, regardlessOf target: Plan.NodeIndex
  ) -> Bool {
    let producers = chain(of: outline.owner(at: target))
    for layer in chain(of: owner) where !producers.contains(layer) {
      if case .step(let index) = layer, let cleaned = outline.cleanedUp[Int32(index)] {
        // It runs if what it cleans up was started.
        return !waits(cleaned, for: target)
          || runsRegardless(outline.owner(at: cleaned), regardlessOf: target)
      }
      if case .group(let group) = layer, outline.finallyGroups.contains(group) { return true }
      guard let condition = condition(of: layer) else { continue }
      let functions = condition.template.expressions.reduce(into: Set()) {
        $0.formUnion($1.statusFunctions)
      }
      guard !functions.isDisjoint(with: [.failure, .always, .cancelled]) else { continue }
      return !mentions(outcomeOf: [target], condition, of: layer)
    }
    return false
  }

  /// Whether a step or group starts only once another one has ended.
  private func waits(_ node: Plan.NodeIndex, for other: Plan.NodeIndex) -> Bool {
    var end = Int32(other)
    if case .groupStart(let group) = outline.nodes[other] {
      end = Int32(outline.groups[Int(group)].endNode)
    }
    var seen: Set<Int32> = []
    var open = [Int32(node)]
    while let next = open.popLast() {
      let before = dependencies[Int(next)]
      if before.contains(end) { return true }
      open += before.filter { seen.insert($0).inserted }
    }
    return false
  }

  /// The owner and the owners around it, from the inside out.
  private func chain(of owner: TextOwner) -> some Sequence<TextOwner> {
    sequence(first: owner, next: outline.outer)
  }

  private func condition(of owner: TextOwner) -> PlannedText? {
    owner.isWorkflow ? nil : texts.texts(of: owner).first { $0.site == .condition }
  }

  private func isSame(_ condition: PlannedText, _ other: PlannedText) -> Bool {
    guard let text = condition.template.onlyExpression?.text else { return false }
    return other.template.onlyExpression?.text == text
  }

  private func mentions(
    outcomeOf targets: [Plan.NodeIndex], _ condition: PlannedText, of owner: TextOwner
  ) -> Bool {
    condition.template.expressions.contains { expression in
      expression.references.contains { reference in
        guard reference.readsOutcome, reference.valueContext == .steps,
          case .node(let target, _) = outline.meaning(
            of: reference, to: outline.node(of: owner), names.files[outline.file(of: owner)].steps)
        else { return false }
        return targets.contains(target)
      }
    }
  }
}

extension TextSite {
  /// Whether the text needs a part of a result that exists only if the step has run.
  fileprivate func isSensitive(_ field: StepField) -> Bool {
    switch self {
    // A missing value equals no string; but it counts as 0.
    case .condition, .retryCondition: return field == .exitCode || field == .status
    default: break
    }
    switch field {
    case .outputs, .stdout, .stderr, .json, .exitCode, .status, .headers, .body, .pages: return true
    case .outcome, .conclusion, .signal, .attempts, .duration, .winner, .results, .stale:
      return false
    }
  }
}
