import WeftDefinition
import WeftExpressions

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
    let producer = outline.member(at: target)
    guard producer.step.resultShape != .many else { return nil }
    if let conditional = conditionalLayer(around: target, for: owner) {
      return .skip(
        of: conditional, producer: ContextReference(Array(reference.names[..<rest])).text)
    }
    if let group = earlyEndingGroup(owner, around: target) {
      return .loss(of: producer.address.text, in: group)
    }
    let isOwn = outline.cleans(owner, upAfter: target)
    if field == .outputs || !isOwn, runsRegardless(owner, regardlessOf: target) {
      return .readerRunsAnyway(producer.address.text)
    }
    guard field == .outputs else { return nil }
    let mayFail =
      producer.step.allowFailure != .none || producer.step.computed[.allowFailure] != nil
    if mayFail { return .failure(of: producer.address.text) }
    guard rest + 1 < reference.names.count else { return nil }
    return names.member(without: reference.names[rest + 1].text, ofRaceAt: target)
      .map { .winner(producer.address.text, of: $0) }
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
      if case .step(let index) = layer, outline.cleanedUp[Int32(index)] != nil { return true }
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

  /// The owner and the owners around it, from the inside out.
  private func chain(of owner: TextOwner) -> [TextOwner] {
    Array(sequence(first: owner, next: outline.outer))
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
    case .outputs, .stdout, .stderr, .json, .exitCode, .status, .headers, .body: return true
    case .outcome, .conclusion, .signal, .attempts, .duration, .winner, .results, .stale:
      return false
    }
  }
}
