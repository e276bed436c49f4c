import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftShell

/// The contexts `steps` and `self`: the results of steps and groups.
extension ValueNames {
  func step(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let node = outline.node(of: owner)
    let meaning = outline.meaning(of: reference, to: node, files[outline.file(of: owner)].steps)
    switch meaning {
    case .unnamed, .ambiguous, .unknown, .outside, .inside, .finalizerScope:
      return nameless(meaning, reference, in: outline.file(of: owner))
    case .itself:
      let owner = outline.member(at: node ?? 0)
      return .problem(
        .readsItself(owner.address.text, isGroup: owner.isGroup), at: 1)
    case .around(let group):
      return .problem(.readsGroupAround(outline.member(at: group).address.text), at: 1)
    case .node(let target, let rest):
      // The members of a group are known to have ended only when its outputs are computed.
      if let node, outline.group(startingAt: node, encloses: target), !site.isOutput {
        return .problem(.readsMember(outline.member(at: target).address.text), at: 1)
      }
      let isOwn = outline.cleans(owner, upAfter: target)
      return part(of: target, isOwn ? .ofRound : .whole, reference, from: rest)
    }
  }

  /// The result of a step or group that is read.
  enum Reading {
    /// The complete result.
    case whole
    /// In a loop, the result of the same element.
    case ofRound
    /// The result as `self`, before its outputs are computed.
    case itself
    /// The result as `self` of a failed attempt, which has no outputs.
    case failedAttempt
  }

  /// The meaning of `self`: the result of a step or group, or of a member of the group.
  func own(_ reference: ContextReference, of node: Plan.NodeIndex, in site: TextSite) -> Meaning {
    let file = outline.file(of: node)
    let meaning = outline.meaning(ofOwn: reference, to: node, files[file].steps)
    switch meaning {
    case .unnamed, .ambiguous, .unknown, .outside, .inside, .finalizerScope:
      return nameless(meaning, reference, in: file)
    case .itself, .around:
      return part(of: node, site.isOutput ? .itself : .failedAttempt, reference, from: 1)
    case .node(let member, let rest):
      return part(of: member, .whole, reference, from: rest)
    }
  }

  /// The meaning of a reference that does not lead to a step.
  private func nameless(
    _ meaning: StepReference, _ reference: ContextReference, in file: Int
  ) -> Meaning {
    switch meaning {
    case .unnamed: return .problem(.stepNotNamed, at: 0)
    case .unknown(let place):
      let name = reference.names[place].text
      return .problem(.unknownStep(name, nearest: nearestStep(to: name, in: file)), at: place)
    case .outside(let group, let place):
      return .problem(
        .notMember(reference.names[place].text, of: outline.member(at: group).address.text),
        at: place)
    case .inside(let sealed, let place):
      return .problem(.readsInsideOf(reference.names[place].text, of: sealed), at: place)
    case .finalizerScope(let finalizerScope, let place):
      return .problem(.readsFinalizer(reference.names[place].text, finalizerScope), at: place)
    case .ambiguous, .itself, .around, .node: return .reported
    }
  }

  /// The meaning of a part of a step's or group's result.
  func part(
    of node: Plan.NodeIndex, _ reading: Reading, _ reference: ContextReference, from place: Int
  ) -> Meaning {
    let shape = outline.resultShape(of: node, asOwn: reading != .whole)
    guard place < reference.names.count else {
      return .value(Knowledge(type: .any, isSecret: hasSecretOutputs(node)))
    }
    let name = reference.names[place].text
    guard let field = StepField.named(name), shape.fields.contains(field) else {
      return .problem(unknownField(name, of: node, shape, reference, place), at: place)
    }
    switch field {
    case .stdout, .stderr, .json, .exitCode, .signal, .body:
      if let problem = missingFieldProblem(field, by: node) { return .problem(problem, at: place) }
    case .outputs: return output(of: node, reading, reference, from: place + 1)
    case .results: return member(of: results(of: node), reference, from: place + 1)
    case .winner: return member(of: winner(at: node), reference, from: place + 1)
    case .headers:
      if place + 1 < reference.names.count {
        let name = reference.names[place + 1].text
        if name != name.lowercased() { return .problem(.headerInCapitals(name), at: place + 1) }
      }
    case .outcome, .conclusion, .attempts, .duration, .status, .stale, .pages: break
    }
    return self.member(of: field.knowledge, reference, from: place + 1)
  }

  private func unknownField(
    _ name: String, of node: Plan.NodeIndex, _ shape: ResultShape, _ reference: ContextReference,
    _ place: Int
  ) -> Diagnostic {
    let member = outline.member(at: node)
    let isOfMembers = name == StepField.members
    if isOfMembers, shape.hasMembers { return .memberNotNamed(member.address.text) }
    if shape == .many, isOfMembers || isField(name, of: member.step.ownResultShape) {
      let owner = ContextReference(Array(reference.names[..<place])).text
      return .partOfMany(
        name, of: member.subject, results: "\(owner).results",
        ContextReference(Array(reference.names[place...])).text)
    }
    let known = shape.fields.map(\.rawValue) + (shape.hasMembers ? [StepField.members] : [])
    return .unknownMember(
      name, of: "the result of \(shape.owner)", known: known,
      nearest: NearestName(known).nearest(to: name))
  }

  private func isField(_ name: String, of shape: ResultShape) -> Bool {
    StepField.named(name).map(shape.fields.contains) == true
  }

  /// The reason why a step has no log to read, or no exit code; `nil` if it has.
  private func missingFieldProblem(_ field: StepField, by node: Plan.NodeIndex) -> Diagnostic? {
    guard case .step(let index) = outline.nodes[node] else { return nil }
    let step = outline.steps[Int(index)]
    // Without options, nothing that a program writes is hidden.
    if step.kind == .run, !step.hasCommandOptions { return nil }
    let (action, address) = (step.action, outline.member(at: node).address.text)
    return switch action.model.obstacle(toReading: field) {
    case .usesTerminal: .readsTerminal(address, field: field.rawValue)
    case .savesBody: .savesBody(address, field: field.rawValue)
    case .runsNothing:
      .runsNothing(address, field: field.rawValue, action.kind.rules.resultClause)
    case nil: nil
    }
  }
}

extension StepField {
  /// The type of the field, for any step.
  var knowledge: ValueNames.Knowledge {
    switch self {
    case .outcome, .conclusion: StepField.outcomeKnowledge
    case .exitCode: StepField.codeKnowledge
    case .signal: StepField.signalKnowledge
    case .stdout, .stderr: ValueNames.Knowledge(type: .string)
    case .json, .outputs, .winner, .results, .headers: .unknown
    case .status, .pages: StepField.codeKnowledge
    case .body: StepField.signalKnowledge
    case .stale: ValueNames.Knowledge(type: .either([.boolean, .null]))
    case .attempts: ValueNames.Knowledge(type: .number, text: .integer)
    case .duration: ValueNames.Knowledge(type: .number)
    }
  }

  private static let outcomeKnowledge = ValueNames.Knowledge(
    type: .string(values: ["success", "failure", "cancelled", "skipped"]))
  private static let codeKnowledge = ValueNames.Knowledge(
    type: .either([.number, .null]), text: .integer)
  private static let signalKnowledge = ValueNames.Knowledge(type: .either([.string, .null]))
}

extension OutlineMember {
  fileprivate var isGroup: Bool {
    if case .group = step.action { true } else { false }
  }
}

/// The outputs of steps and groups: their own, those of a race's winner, and those of all elements.
extension ValueNames {
  /// The meaning of `outputs` and the names after it.
  func output(
    of node: Plan.NodeIndex, _ reading: Reading, _ reference: ContextReference, from place: Int
  ) -> Meaning {
    var producer: String { outline.member(at: node).subject.description }
    switch reading {
    case .itself: return .problem(.readsOwnOutputs(producer), at: place - 1)
    case .failedAttempt: return .problem(.failedHasNoOutputs(producer), at: place - 1)
    case .whole, .ofRound: break
    }
    guard place < reference.names.count else {
      return .value(Knowledge(type: .any, isSecret: hasSecretOutputs(node)))
    }
    let name = reference.names[place].text
    let own = outline.withStep(at: node) { step in
      step.pointee.outputs.first { $0.name == name }
    }
    if let own {
      return member(of: knowledge(of: own, at: node), reference, from: place + 1)
    }
    let nodeOutputs = nodeOutputs(by: node)
    if !nodeOutputs.isComplete { return .value(.unknown) }
    guard let output = nodeOutputs.outputs.first(where: { $0.name == name }) else {
      let names = nodeOutputs.outputs.map(\.name)
      return .problem(
        .unknownOutput(
          name, of: outline.member(at: node).subject, known: names,
          nearest: NearestName(names).nearest(to: name)),
        at: place)
    }
    return member(of: output.knowledge, reference, from: place + 1)
  }

  func hasSecretOutputs(_ node: Plan.NodeIndex) -> Bool {
    nodeOutputs(by: node).outputs.contains(where: \.knowledge.isSecret)
  }

  // MARK: Outputs

  /// All outputs of a step or group.
  struct NodeOutputs {
    var outputs: [(name: String, knowledge: Knowledge)] = []
    /// Whether there are no others.
    var isComplete = true
  }

  /// The outputs of one instance of a step or group.
  private func nodeOutputs(by node: Plan.NodeIndex) -> NodeOutputs {
    let member = outline.member(at: node)
    var nodeOutputs = NodeOutputs(
      outputs: member.step.outputs.map { ($0.name, knowledge(of: $0, at: node)) })
    switch member.step.action {
    case .group(let group) where group.order == .race: add(winnersOf: node, to: &nodeOutputs)
    case .workflow(let nested):
      guard let workflow = nested.workflow, case .groupStart(let index) = outline.nodes[node] else {
        nodeOutputs.isComplete = false
        break
      }
      // The other file's top level directly follows the group of the step.
      let topLevel = outline.groups[Int(index) + 1].startNode
      nodeOutputs.outputs += workflow.outputs.map { ($0.name, knowledge(of: $0, at: topLevel)) }
    default: break
    }
    return nodeOutputs
  }

  private func knowledge(of output: OutputDeclaration, at node: Plan.NodeIndex) -> Knowledge {
    var knowledge = outputs[Int32(node)]?[output.name] ?? .unknown
    if let schema = output.schema {
      // The engine checks it before anything reads the output.
      knowledge.type = ExpressionType(schema)
      knowledge.text = ValueText(of: schema)
    }
    knowledge.isSecret = knowledge.isSecret || output.isSecret
    return knowledge
  }

  /// Adds the outputs of all members: those of the winner count, so outputs that another member lacks may be missing.
  private func add(winnersOf node: Plan.NodeIndex, to race: inout NodeOutputs) {
    guard case .groupStart(let index) = outline.nodes[node] else { return }
    let members = outline.groups[Int(index)].members.map { member in
      outline.member(at: Int(member)).step.resultShape == .many
        ? NodeOutputs() : nodeOutputs(by: Int(member))
    }
    race.isComplete = members.allSatisfy(\.isComplete)
    for output in members.flatMap(\.outputs) {
      guard !race.outputs.contains(where: { $0.name == output.name }) else { continue }
      let all = members.map { $0.outputs.first { $0.name == output.name }?.knowledge }
      let type = ExpressionType.union(all.map { $0?.type ?? .null })
      let isSecret = all.contains { $0?.isSecret == true }
      race.outputs.append((output.name, Knowledge(type: type, isSecret: isSecret)))
    }
  }

  /// The address of the winning member, or `null` while there is none.
  func winner(at node: Plan.NodeIndex) -> Knowledge {
    guard case .groupStart(let index) = outline.nodes[node] else { return .unknown }
    let members = outline.groups[Int(index)].members.map {
      outline.member(at: Int($0)).address.text
    }
    return Knowledge(type: .union([.string(values: members), .null]))
  }

  /// A member of a race that may win without an output which another member has.
  func member(without output: String, ofRaceAt node: Plan.NodeIndex) -> String? {
    guard case .groupStart(let index) = outline.nodes[node],
      outline.groups[Int(index)].order == .race
    else { return nil }
    let members = outline.groups[Int(index)].members.map(Int.init)
    let isWithout = members.map { member in
      if outline.member(at: member).step.resultShape == .many { return true }
      let nodeOutputs = nodeOutputs(by: member)
      return nodeOutputs.isComplete && !nodeOutputs.outputs.contains { $0.name == output }
    }
    // An output that no member has is reported as an error of its own.
    guard isWithout.contains(false), let first = isWithout.firstIndex(of: true) else { return nil }
    return outline.member(at: members[first]).address.text
  }

  // MARK: Elements

  /// The `results` of a step or group with a loop.
  func results(of node: Plan.NodeIndex) -> Knowledge {
    let step = outline.member(at: node).step
    var fields: [(String, ExpressionType)] = [
      (ElementField.key.rawValue, .string), (ElementField.index.rawValue, .number),
    ]
    for field in step.ownResultShape.fields where isAvailable(field, of: step) {
      fields.append((field.rawValue, type(of: field, at: node)))
    }
    return Knowledge(type: .array(of: .object(fields)), isSecret: hasSecretOutputs(node))
  }

  private func isAvailable(_ field: StepField, of step: Step) -> Bool {
    switch step.action.model.obstacle(toReading: field) {
    case .savesBody, .runsNothing: false
    case .usesTerminal, nil: true
    }
  }

  private func type(of field: StepField, at node: Plan.NodeIndex) -> ExpressionType {
    switch field {
    case .stdout, .stderr: return .union([.string, .null])
    case .winner: return .union([.string, .null])
    case .outputs:
      let nodeOutputs = nodeOutputs(by: node)
      let outputs = nodeOutputs.outputs.map { ($0.name, $0.knowledge.type.orNull) }
      return .object(outputs, rest: nodeOutputs.isComplete ? nil : .any)
    default: return field.knowledge.type
    }
  }
}
