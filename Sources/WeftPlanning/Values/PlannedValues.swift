package import WeftDefinition
package import WeftDiagnostics
package import WeftExpressions

/// The expressions of a plan: read, their names resolved, their types checked.
package struct PlannedValues: Sendable {
  private let stepTexts: [Int: [PlannedText]]
  /// The workflow's own under 0.
  private let groupTexts: [Int: [PlannedText]]
  /// By node: a step's, a group's start.
  private let reads: [Int32: StepReads]
  /// The steps and groups that are read, by their ids.
  private let nodes: [String: Int32]
  private let scripts: [Int: PlannedScript]
  /// The secrets that some expression reads.
  package let secrets: Set<SecretName>

  package static let none = PlannedValues(
    stepTexts: [:], groupTexts: [:], reads: [:], nodes: [:], scripts: [:], secrets: [])

  init(
    stepTexts: [Int: [PlannedText]], groupTexts: [Int: [PlannedText]], reads: [Int32: StepReads],
    nodes: [String: Int32], scripts: [Int: PlannedScript], secrets: Set<SecretName>
  ) {
    self.stepTexts = stepTexts
    self.groupTexts = groupTexts
    self.reads = reads
    self.nodes = nodes
    self.scripts = scripts
    self.secrets = secrets
  }

  /// Whether there is no expression at all.
  package var isEmpty: Bool { stepTexts.isEmpty && groupTexts.isEmpty }

  /// The texts of a step that have expressions.
  package func texts(ofStep index: Int) -> [PlannedText] {
    stepTexts.isEmpty ? [] : stepTexts[index, default: []]
  }

  /// The texts of a group's own that have expressions; the workflow's, of the top level.
  package func texts(ofGroup index: Int) -> [PlannedText] {
    groupTexts.isEmpty ? [] : groupTexts[index, default: []]
  }

  package func haveTexts(groupsAround group: Int, in plan: Plan) -> Bool {
    !groupTexts.isEmpty
      && plan.enclosingGroups(ofGroup: group).contains { !texts(ofGroup: $0).isEmpty }
  }

  /// What expressions read of a step or, by its start, of a group.
  package func reads(ofNode node: Plan.NodeIndex) -> StepReads {
    reads.isEmpty ? [] : reads[Int32(node), default: []]
  }

  /// The step or group that `steps.NAME` or `steps.GROUP.steps.NAME` reads, and where the names go on.
  package func node(
    named names: [ContextReference.Name]
  ) -> (node: Plan.NodeIndex, rest: Int)? {
    guard names.count > 1, var node = nodes[names[1].text] else { return nil }
    var rest = 2
    while rest + 1 < names.count, names[rest].text == GroupField.steps.rawValue,
      let member = nodes[names[rest + 1].text]
    {
      node = member
      rest += 2
    }
    return (Int(node), rest)
  }

  /// A step's script, if there are expressions in it.
  package func script(ofStep index: Int) -> PlannedScript? {
    scripts.isEmpty ? nil : scripts[index]
  }
}

extension PlannedValues {
  /// What was found of a workflow without errors.
  init(_ reader: TextReader, _ checker: ValueChecker, _ outline: Outline) {
    var (steps, groups) = ([Int: [PlannedText]](), [Int: [PlannedText]]())
    for (owner, texts) in reader.texts {
      switch owner {
      case .workflow: groups[0] = texts
      case .group(let index): groups[index] = texts
      case .step(let index): steps[index] = texts
      }
    }
    var nodes: [String: Int32] = [:]
    for node in reader.reads.keys {
      if let id = outline.id(at: Int(node)) { nodes[id.text] = node }
    }
    self.init(
      stepTexts: steps, groupTexts: groups, reads: reader.reads, nodes: nodes,
      scripts: checker.scripts, secrets: checker.secrets)
  }
}

/// A script in which variables stand for expressions.
package struct PlannedScript: Sendable {
  package let text: String
  /// What is to be handed over; each name once.
  package let variables: [(name: String, expression: Expression)]
}

extension Plan {
  /// `file:line:column` of a part of a text; `nil` of a workflow built in Swift.
  package func place(of part: SourceRange, in text: PlannedText) -> String? {
    guard let file = workflow.source.value, let range = text.part(part).range(in: file) else {
      return nil
    }
    let position = file.position(of: Int(range.start))
    return "\(file.path):\(position.line):\(position.column)"
  }

  /// A fault in a text, as the file's diagnostics tell it.
  package func diagnostic(_ fault: ExpressionFault, in text: PlannedText) -> Diagnostic {
    let file = workflow.source.value
    var place: Diagnostic.Place?
    if let file, let range = text.part(fault.range).range(in: file) {
      place = Diagnostic.Place(file: file, range: range)
    }
    return Diagnostic(
      .error, code: fault.code, message: "\(text.site.key): \(fault.message)", place: place,
      help: fault.help)
  }

  /// The address of the step or group at a node.
  package func title(ofNode node: NodeIndex) -> String { address(of: node).text }
}

extension TextSite {
  package var isVariable: Bool {
    if case .variable = self { true } else { false }
  }
}
