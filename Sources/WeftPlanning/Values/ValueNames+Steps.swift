import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// `steps` and `self`: what steps and groups have done, and what they hand on.
extension ValueNames {
  func step(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let node = outline.node(of: owner)
    let meaning = outline.meaning(of: reference, to: node, steps)
    switch meaning {
    case .unnamed, .ambiguous, .unknown, .outside: return nameless(meaning, reference)
    case .itself:
      let owner = outline.member(at: node ?? 0)
      return .problem(
        .readsItself(owner.address.text, isGroup: owner.isGroup), at: 1)
    case .around(let group):
      return .problem(.readsGroupAround(outline.member(at: group).address.text), at: 1)
    case .node(let target, let rest):
      // The members of a group are over when it hands on its outputs, and only then.
      if let node, outline.group(startingAt: node, encloses: target), !site.isOutput {
        return .problem(.readsMember(outline.member(at: target).address.text), at: 1)
      }
      return part(of: target, reference, from: rest, isOwn: false)
    }
  }

  /// `self`: what a step or group has done, or a member of the group.
  func own(_ reference: ContextReference, of node: Plan.NodeIndex) -> Meaning {
    let meaning = outline.meaning(ofOwn: reference, to: node, steps)
    switch meaning {
    case .unnamed, .ambiguous, .unknown, .outside: return nameless(meaning, reference)
    case .itself, .around: return part(of: node, reference, from: 1, isOwn: true)
    case .node(let member, let rest):
      return part(of: member, reference, from: rest, isOwn: false)
    }
  }

  /// What a reference means that leads to no step.
  private func nameless(_ meaning: StepReference, _ reference: ContextReference) -> Meaning {
    switch meaning {
    case .unnamed: return .problem(.stepNotNamed, at: 0)
    case .unknown(let place):
      let name = reference.names[place].text
      return .problem(.unknownStep(name, nearest: nearestStep.nearest(to: name)), at: place)
    case .outside(let group, let place):
      return .problem(
        .notMember(reference.names[place].text, of: outline.member(at: group).address.text),
        at: place)
    case .ambiguous, .itself, .around, .node: return .told
    }
  }

  /// What a part of a step's or group's result is.
  func part(
    of node: Plan.NodeIndex, _ reference: ContextReference, from place: Int, isOwn: Bool
  ) -> Meaning {
    guard place < reference.names.count else {
      let isSecret = outputs[Int32(node)]?.values.contains(where: \.isSecret) == true
      return .value(Knowledge(type: .any, isSecret: isSecret))
    }
    let name = reference.names[place].text
    let isGroup = outline.isGroup(at: node)
    guard let field = StepField.named(name), !isGroup || GroupField(rawValue: name) != nil
    else { return .problem(unknownField(name, of: node, isGroup), at: place) }
    switch field {
    case .stdout, .stderr, .json:
      if let problem = whyNotWritten(field, by: node) { return .problem(problem, at: place) }
    case .outputs: return output(of: node, reference, from: place + 1, isOwn)
    case .outcome, .conclusion, .exitCode, .signal, .attempts, .duration: break
    }
    return self.member(of: field.knowledge, reference, from: place + 1)
  }

  private func unknownField(
    _ name: String, of node: Plan.NodeIndex, _ isGroup: Bool
  ) -> ValueProblem {
    if isGroup, name == GroupField.steps.rawValue {
      return .memberNotNamed(outline.member(at: node).address.text)
    }
    let known = isGroup ? GroupField.allCases.map(\.rawValue) : StepField.allCases.map(\.rawValue)
    return .unknownMember(
      name, of: "the result of a \(isGroup ? "group" : "step")", known: known,
      nearest: NearestName(known).nearest(to: name))
  }

  /// Why a step has no output to read.
  private func whyNotWritten(_ field: StepField, by node: Plan.NodeIndex) -> ValueProblem? {
    guard case .step(let index) = outline.nodes[node] else { return nil }
    let step = outline.steps[Int(index)]
    switch step.command {
    case nil: return .runsNothing(step.address.text, field: field.rawValue)
    case let command? where command.usesTerminal:
      return .readsTerminal(step.address.text, field: field.rawValue)
    case .some: return nil
    }
  }

  private func output(
    of node: Plan.NodeIndex, _ reference: ContextReference, from place: Int, _ isOwn: Bool
  ) -> Meaning {
    let producer = outline.member(at: node)
    let (step, owner) = (producer.step, producer.subject.description)
    if isOwn { return .problem(.readsOwnOutputs(owner), at: place - 1) }
    let known = outputs[Int32(node)] ?? [:]
    guard place < reference.names.count else {
      return .value(Knowledge(type: .any, isSecret: step.outputs.contains(where: \.isSecret)))
    }
    let name = reference.names[place].text
    guard let declaration = step.outputs.first(where: { $0.name == name }) else {
      let names = step.outputs.map(\.name)
      return .problem(
        .unknownOutput(
          name, of: outline.member(at: node).subject, known: names,
          nearest: NearestName(names).nearest(to: name)), at: place)
    }
    var knowledge = known[name] ?? .unknown
    if let schema = declaration.schema { knowledge.type = ExpressionType(schema) }
    knowledge.isSecret = knowledge.isSecret || declaration.isSecret
    knowledge.missingWithout =
      step.allowFailure == .none && step.computed[.allowFailure] == nil
      ? nil : producer.address.text
    return member(of: knowledge, reference, from: place + 1)
  }
}

extension StepField {
  /// What is known of it, of every step.
  fileprivate var knowledge: ValueNames.Knowledge {
    switch self {
    case .outcome, .conclusion: StepField.outcomeKnowledge
    case .exitCode: StepField.codeKnowledge
    case .signal: StepField.signalKnowledge
    case .stdout, .stderr: ValueNames.Knowledge(type: .string)
    case .json, .outputs: .unknown
    case .attempts, .duration: ValueNames.Knowledge(type: .number)
    }
  }

  private static let outcomeKnowledge = ValueNames.Knowledge(
    type: .string(values: ["success", "failure", "cancelled", "skipped"]))
  private static let codeKnowledge = ValueNames.Knowledge(type: .either([.number, .null]))
  private static let signalKnowledge = ValueNames.Knowledge(type: .either([.string, .null]))
}

extension Outline {
  fileprivate func isGroup(at node: Plan.NodeIndex) -> Bool {
    if case .groupStart = nodes[node] { true } else { false }
  }
}

extension OutlineMember {
  fileprivate var isGroup: Bool {
    if case .group = step.action { true } else { false }
  }
}
