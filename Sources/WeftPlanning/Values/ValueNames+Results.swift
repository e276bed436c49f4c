import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// The outputs of steps and groups: their own, those of a race's winner, and those of all elements.
extension ValueNames {
  /// The meaning of `outputs` and the names after it.
  func output(
    of node: Plan.NodeIndex, _ reading: Reading, _ reference: ContextReference, from place: Int
  ) -> Meaning {
    let producer = outline.member(at: node)
    switch reading {
    case .itself: return .problem(.readsOwnOutputs(producer.subject.description), at: place - 1)
    case .failedAttempt:
      return .problem(.failedHasNoOutputs(producer.subject.description), at: place - 1)
    case .whole, .ofRound: break
    }
    guard place < reference.names.count else {
      return .value(Knowledge(type: .any, isSecret: hasSecretOutputs(node)))
    }
    let name = reference.names[place].text
    if let own = producer.step.outputs.first(where: { $0.name == name }) {
      return member(of: knowledge(of: own, at: node), reference, from: place + 1)
    }
    let nodeOutputs = nodeOutputs(by: node)
    if !nodeOutputs.isComplete { return .value(.unknown) }
    guard let output = nodeOutputs.outputs.first(where: { $0.name == name }) else {
      let names = nodeOutputs.outputs.map(\.name)
      return .problem(
        .unknownOutput(
          name, of: producer.subject, known: names, nearest: NearestName(names).nearest(to: name)),
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
    if let schema = output.schema { knowledge.type = ExpressionType(schema) }
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
