package import WeftDefinition
package import WeftDiagnostics
package import WeftExpressions

/// The secrets that expressions read, by file, with the owners of those expressions.
typealias SecretReaders = [Int: [SecretName: Set<TextOwner>]]

/// The expressions of a plan, parsed, with their names resolved and their types checked.
package struct PlannedValues: Sendable {
  private let texts: PlannedTexts
  /// The parts of results that are read, by the node of a step or a group's start. Empty if there are no expressions.
  private let reads: [StepReads]
  /// The names, by file.
  private let names: [StepNames]
  private let scripts: [Int: PlannedScript]
  let secrets: SecretReaders

  package static let none = PlannedValues(
    texts: PlannedTexts(), reads: [], names: [], scripts: [:], secrets: [:])

  private init(
    texts: PlannedTexts, reads: [StepReads], names: [StepNames], scripts: [Int: PlannedScript],
    secrets: SecretReaders
  ) {
    self.texts = texts
    self.reads = reads
    self.names = names
    self.scripts = scripts
    self.secrets = secrets
  }

  /// Creates the values of a workflow without errors.
  init(_ reader: TextReader, _ checker: ValueChecker, _ names: [StepNames]) {
    guard !reader.texts.isEmpty || reader.reads.contains(where: { !$0.isEmpty }) else {
      self = .none
      return
    }
    self.init(
      texts: reader.texts, reads: reader.reads, names: names, scripts: checker.scripts,
      secrets: checker.secrets)
  }

  /// Whether there are no expressions at all.
  package var isEmpty: Bool { texts.isEmpty }

  /// The texts of a step that contain expressions.
  package func texts(ofStep index: Int) -> ArraySlice<PlannedText> { texts.texts(ofStep: index) }

  /// The group's own texts that contain expressions; for a top level, those of the workflow.
  package func texts(ofGroup index: Int) -> ArraySlice<PlannedText> { texts.texts(ofGroup: index) }

  package func haveTexts(groupsAround group: Int, in plan: Plan) -> Bool {
    !texts.areOfStepsOnly
      && plan.enclosingGroups(ofGroup: group).contains { !texts(ofGroup: $0).isEmpty }
  }

  /// The parts of the result of a step or, by its start, a group that expressions read.
  package func reads(ofNode node: Plan.NodeIndex) -> StepReads {
    reads.isEmpty ? StepReads() : reads[node]
  }

  /// The step or group that `steps.NAME` or `steps.GROUP.steps.NAME` reads, and the position of the next name.
  ///
  /// - Parameter file: The file that contains the names.
  package func node(
    named path: [ContextReference.Name], in file: Int
  ) -> (node: Plan.NodeIndex, rest: Int)? {
    guard names.indices.contains(file) else { return nil }
    let names = names[file]
    guard path.count > 1, case .node(var node) = names.meaning(of: path[1].text) else { return nil }
    var rest = 2
    while rest + 1 < path.count, path[rest].text == StepField.members,
      case .node(let member) = names.meaning(of: path[rest + 1].text)
    {
      node = member
      rest += 2
    }
    return (node, rest)
  }

  /// The script of a step, if it contains expressions.
  package func script(ofStep index: Int) -> PlannedScript? {
    scripts.isEmpty ? nil : scripts[index]
  }
}

/// A script in which variables replace the expressions.
package struct PlannedScript: Sendable {
  package let text: String
  /// The variables to pass to it; each name once.
  package let variables: [(name: String, expression: Expression)]
}

extension Plan {
  /// The location of a part of a text, `file:line:column`; `nil` for a workflow built in Swift.
  package func place(of part: SourceRange, in text: PlannedText) -> String? {
    guard let file = files[text.file].workflow.source.value,
      let range = text.part(part).range(in: file)
    else {
      return nil
    }
    let position = file.position(of: Int(range.start))
    return "\(file.path):\(position.line):\(position.column)"
  }

  /// The diagnostic for a fault in a text.
  package func diagnostic(_ fault: ExpressionError, in text: PlannedText) -> Diagnostic {
    let file = files[text.file].workflow.source.value
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
