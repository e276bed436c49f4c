import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// What the names in expressions stand for, as far as it is known before anything runs.
struct ValueNames {
  /// What is known of a value.
  struct Knowledge: Sendable {
    var type: ExpressionType
    var isSecret = false
    /// The step that may have failed, if what is read is there only when it has succeeded.
    var missingWithout: String?

    /// Whether a rule says how the text begins or which texts there are.
    var isConstrained = false

    static let unknown = Knowledge(type: .any)
  }

  /// What a reference comes to.
  enum Meaning {
    case value(Knowledge)
    /// - Parameter at: Which of its names is to blame.
    case problem(ValueProblem, at: Int)
    /// What its names lead to cannot be had of a value of that type.
    case fault(ExpressionFault)
    /// It is told elsewhere.
    case told
  }

  let outline: Outline
  private let steps: StepNames
  private let workflow: Workflow
  private let inputs: [(name: String, knowledge: Knowledge)]
  private let secretNames: [String]
  /// What computed variables are known to be, by their layer.
  private var variables: [TextOwner: [String: Knowledge]] = [:]
  /// What outputs are known to be; by the node of a step, the start of a group.
  private var outputs: [Int32: [String: Knowledge]] = [:]

  init(_ workflow: Workflow, _ outline: Outline, _ steps: StepNames) {
    self.outline = outline
    self.steps = steps
    self.workflow = workflow
    inputs = workflow.inputs.map { input in
      (
        input.name.text,
        Knowledge(
          type: ExpressionType(input.schema), isSecret: input.isSecret,
          isConstrained: input.schema.constrainsTexts)
      )
    }
    secretNames = workflow.secrets.map(\.name.text)
  }

  /// Keeps what is known of a text that others may read.
  mutating func learn(_ text: PlannedText, of owner: TextOwner, _ knowledge: Knowledge) {
    switch text.site {
    case .variable(let name):
      // A variable is a text, whatever it was made from.
      let type: ExpressionType = text.template.onlyExpression == nil ? .string : .any
      variables[owner, default: [:]][name] = Knowledge(type: type, isSecret: knowledge.isSecret)
    case .output(let name):
      guard let node = outline.node(of: owner) else { return }
      outputs[Int32(node), default: [:]][name] = knowledge
    default: break
    }
  }

  // MARK: Meanings

  /// What a reference in a text of `owner` means; whether its context may stand there is no question here.
  func meaning(
    of reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    switch reference.valueContext {
    case nil:
      return .problem(
        .unknownContext(reference.context, nearest: nearest(reference.context, ValueContext.self)),
        at: 0)
    case .inputs: return input(reference)
    case .secrets: return secret(reference)
    case .env: return variable(reference, in: site, of: owner)
    case .run: return fields(RunField.self, "run", reference)
    case .workflow: return fields(WorkflowField.self, "workflow", reference)
    case .steps: return step(reference, in: site, of: owner)
    case .itself:
      guard let node = outline.node(of: owner) else { return .value(.unknown) }
      return part(of: node, reference, from: 1, isOwn: true)
    }
  }

  private func input(_ reference: ContextReference) -> Meaning {
    guard reference.names.count > 1 else {
      return .value(Knowledge(type: .any, isSecret: inputs.contains { $0.knowledge.isSecret }))
    }
    let name = reference.names[1].text
    let folded = name.lowercased()
    guard
      let input = inputs.first(where: { $0.name == name })
        ?? inputs.first(where: { $0.name.lowercased() == folded })
    else {
      let known = inputs.map(\.name)
      return .problem(
        .unknownInput(name, known: known, nearest: NearestName(known).nearest(to: name)), at: 1)
    }
    return member(of: input.knowledge, reference, from: 2)
  }

  private func secret(_ reference: ContextReference) -> Meaning {
    guard reference.names.count > 1 else { return .problem(.secretNotNamed, at: 0) }
    let name = reference.names[1].text
    guard let secret = SecretName(name), workflow.secrets.contains(where: { $0.name == secret })
    else {
      let nearest = NearestName(secretNames).nearest(to: name)
      return .problem(.unknownSecret(name, known: secretNames, nearest: nearest), at: 1)
    }
    return member(of: Knowledge(type: .string, isSecret: true), reference, from: 2)
  }

  // MARK: Variables

  private func variable(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let layers = layers(read: site, of: owner)
    guard reference.names.count > 1 else {
      let isSecret = layers.contains { variables[$0]?.values.contains(where: \.isSecret) == true }
      return .value(Knowledge(type: .any, isSecret: isSecret))
    }
    let name = reference.names[1].text
    for layer in layers {
      guard let written = settings(of: layer).environment[name] else { continue }
      let known = variables[layer]?[name] ?? Knowledge(type: written == nil ? .null : .string)
      return member(of: known, reference, from: 2)
    }
    if EnvironmentPolicy.isKept(name) { return .value(.unknown) }
    let known = Set(layers.flatMap { settings(of: $0).environment.keys })
    return .problem(
      .unknownVariable(
        name, isOfSameLayer: settings(of: owner).environment[name] != nil,
        nearest: NearestName(known.sorted()).nearest(to: name)), at: 1)
  }

  /// The layers that a text reads, innermost first: the value of a variable reads those outside of its own.
  private func layers(read site: TextSite, of owner: TextOwner) -> [TextOwner] {
    var layers: [TextOwner]
    switch owner {
    case .workflow: layers = [.workflow]
    case .group(let group): layers = chain(from: group)
    case .step(let index): layers = [.step(index)] + chain(from: outline.steps[index].group)
    }
    if site.isVariable { layers.removeFirst() }
    return layers
  }

  private func chain(from group: Int) -> [TextOwner] {
    var chain: [TextOwner] = []
    var next: Int? = group
    while let index = next {
      chain.append(index == 0 ? .workflow : .group(index))
      next = outline.groups[index].parent
    }
    return chain
  }

  /// The producer of a reference to an output, if it is allowed to fail.
  func producerThatMayFail(of reference: ContextReference, to owner: TextOwner) -> String? {
    guard reference.valueContext == .steps,
      case .value(let knowledge) = meaning(of: reference, in: .name, of: owner)
    else { return nil }
    return knowledge.missingWithout
  }

  func settings(ofGroup index: Int) -> CommandSettings {
    settings(of: index == 0 ? .workflow : .group(index))
  }

  private func settings(of layer: TextOwner) -> CommandSettings {
    switch layer {
    case .workflow: workflow.settings
    case .group(let index): outline.groups[index].step?.settings ?? CommandSettings()
    case .step(let index): outline.steps[index].settings
    }
  }

  // MARK: Steps

  private func step(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let node = outline.node(of: owner)
    switch outline.meaning(of: reference, to: node, steps) {
    case .unnamed: return .problem(.stepNotNamed, at: 0)
    case .ambiguous: return .told
    case .unknown(let place):
      let name = reference.names[place].text
      return .problem(.unknownStep(name, nearest: nearestStep(to: name)), at: place)
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

  /// What a part of a step's or group's result is.
  private func part(
    of node: Plan.NodeIndex, _ reference: ContextReference, from place: Int, isOwn: Bool
  ) -> Meaning {
    let member = outline.member(at: node)
    let isGroup = member.isGroup
    guard place < reference.names.count else {
      let isSecret = outputs[Int32(node)]?.values.contains(where: \.isSecret) == true
      return .value(Knowledge(type: .any, isSecret: isSecret))
    }
    let name = reference.names[place].text
    let known = isGroup ? GroupField.allCases.map(\.rawValue) : StepField.allCases.map(\.rawValue)
    guard known.contains(name), let field = StepField(rawValue: name) else {
      if name == GroupField.steps.rawValue, isGroup {
        return .problem(.memberNotNamed(member.address.text), at: place)
      }
      return .problem(
        .unknownMember(
          name, of: "the result of a \(isGroup ? "group" : "step")", known: known,
          nearest: NearestName(known).nearest(to: name)), at: place)
    }
    let owner = "\(isGroup ? "group" : "step") \"\(member.address.text)\""
    switch field {
    case .stdout, .stderr, .json:
      if case .run(let command) = member.step.action, command.usesTerminal {
        return .problem(.readsTerminal(member.address.text, field: name), at: place)
      }
      if case .compute = member.step.action {
        return .problem(.runsNothing(member.address.text, field: name), at: place)
      }
    case .outputs:
      return output(of: node, member.step, owner, reference, from: place + 1, isOwn)
    case .outcome, .conclusion, .exitCode, .signal, .attempts, .duration: break
    }
    return self.member(of: Knowledge(type: field.type), reference, from: place + 1)
  }

  private func output(
    of node: Plan.NodeIndex, _ step: Step, _ owner: String, _ reference: ContextReference,
    from place: Int, _ isOwn: Bool
  ) -> Meaning {
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
          name, of: owner, known: names, nearest: NearestName(names).nearest(to: name)),
        at: place)
    }
    var knowledge = known[name] ?? .unknown
    if let schema = declaration.schema { knowledge.type = ExpressionType(schema) }
    knowledge.isSecret = knowledge.isSecret || declaration.isSecret
    knowledge.missingWithout =
      step.allowFailure == .none && step.computed[.allowFailure] == nil
      ? nil : outline.member(at: node).address.text
    return member(of: knowledge, reference, from: place + 1)
  }

  // MARK: Parts of values

  private func fields<Field: CaseIterable & RawRepresentable<String>>(
    _ fields: Field.Type, _ owner: String, _ reference: ContextReference
  ) -> Meaning {
    guard reference.names.count > 1 else { return .value(.unknown) }
    let name = reference.names[1].text
    let known = Field.allCases.map(\.rawValue)
    guard known.contains(name) else {
      return .problem(
        .unknownMember(
          name, of: "\"\(owner)\"", known: known, nearest: NearestName(known).nearest(to: name)),
        at: 1)
    }
    let type: ExpressionType = name == RunField.attempt.rawValue ? .number : .string
    return member(of: Knowledge(type: type), reference, from: 2)
  }

  /// What the rest of the names lead to.
  private func member(
    of knowledge: Knowledge, _ reference: ContextReference, from place: Int
  ) -> Meaning {
    guard place < reference.names.count else { return .value(knowledge) }
    var knowledge = knowledge
    let owner = ContextReference(Array(reference.names[..<place])).text
    do {
      knowledge.type = try knowledge.type.type(at: reference.names[place...], in: owner)
      return .value(knowledge)
    } catch {
      return .fault(error)
    }
  }

  private func nearest<Name: CaseIterable & RawRepresentable<String>>(
    _ name: String, _ names: Name.Type
  ) -> String? {
    NearestName(Name.allCases.map(\.rawValue)).nearest(to: name)
  }

  private func nearestStep(to name: String) -> String? {
    NearestName(outline.nodes.indices.lazy.compactMap { outline.id(at: $0)?.text }).nearest(
      to: name)
  }
}

extension StepField {
  /// What is known of it, of every step.
  fileprivate var type: ExpressionType {
    switch self {
    case .outcome, .conclusion:
      .string(values: ["success", "failure", "cancelled", "skipped"])
    case .exitCode: .either([.number, .null])
    case .signal: .either([.string, .null])
    case .stdout, .stderr: .string
    case .json, .outputs: .any
    case .attempts, .duration: .number
    }
  }
}

extension OutlineMember {
  fileprivate var isGroup: Bool {
    if case .group = step.action { true } else { false }
  }
}
