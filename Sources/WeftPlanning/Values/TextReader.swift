import WeftDefinition
import WeftDiagnostics
import WeftExpressions

/// Parses the expressions of a workflow, and derives dependencies from them.
///
/// The meaning of their names is checked once the graph is known: see ``ValueChecker``.
struct TextReader {
  private let outline: Outline
  private let names: [StepNames]
  private(set) var texts = PlannedTexts()
  private(set) var references = ReferenceEdges()
  /// The parts of the result of each step and, by its start node, each group that are read.
  private(set) var reads: [StepReads]
  private(set) var found = FoundProblems()
  /// The first word of a command line, until it is known whether another follows.
  private var firstArgument: (text: String, place: SourceRange?)?

  static func read(_ outline: Outline, _ names: [StepNames]) -> TextReader {
    var reader = TextReader(outline: outline, names: names)
    for (index, file) in outline.files.enumerated() {
      reader.found.file = index
      file.workflow.visitTexts {
        reader.take($1, $0, $2, of: .workflow(file.topLevel), file.workflow.texts.value)
      }
    }
    for (index, group) in outline.groups.enumerated() {
      guard let step = group.step, !group.isTopLevel else { continue }
      reader.found.file = group.file
      step.visitTexts { reader.take($1, $0, $2, of: .group(index), step.place.value?.texts ?? []) }
    }
    for index in outline.steps.indices {
      reader.found.file = outline.groups[outline.steps[index].group].file
      outline.steps[index].visitTexts { site, text, place, places in
        reader.take(text, site, place, of: .step(index), places)
      }
      reader.closeArguments(ofStep: index)
      reader.texts.closeStep()
    }
    reader.recordForwardedValues()
    reader.references.sort(nodeCount: outline.nodes.count)
    return reader
  }

  private init(outline: Outline, names: [StepNames]) {
    self.outline = outline
    self.names = names
    reads = Array(repeating: StepReads(), count: outline.nodes.count)
  }

  /// A race outputs those of a member, and a step that runs another file those of that file.
  private mutating func recordForwardedValues() {
    for file in outline.files.dropFirst() {
      reads[outline.groups[file.topLevel].startNode].formUnion(StepReads.result.byOthers)
    }
    guard outline.hasSealedGroups else { return }
    for group in outline.groups where group.order == .race {
      for member in group.members { reads[Int(member)].formUnion(StepReads.result.byOthers) }
    }
  }

  /// - Parameter ownPlace: The location of the text, where it is not among `places`.
  private mutating func take(
    _ text: String, _ site: TextSite, _ ownPlace: SourceRange?, of owner: TextOwner,
    _ places: [TextPlace]
  ) {
    remark(on: text, site, of: owner, places)
    guard site.isBare || text.hasExpression else { return }
    let template = site.isBare ? Template.parse(condition: text) : Template.parse(text)
    let known = ownPlace == nil ? places.first { $0.site == site } : nil
    let planned = PlannedText(
      site: site, template: template, place: ownPlace ?? known?.range, source: known?.source,
      file: found.file)
    if !template.faults.isEmpty { found.node = outline.anyNode(of: owner) }
    for fault in template.faults {
      found.append(
        .expression(fault),
        at: planned.part(fault.range).place(in: outline.files[found.file].workflow.source.value),
        key: site.key)
    }
    texts.append(planned, of: owner)
    planned.visitExpressions { expression in
      expression.root.visitReferences { reference, part in
        record(reference, part, in: planned, of: owner)
      }
    }
  }

  // MARK: Literals

  private mutating func remark(
    on text: String, _ site: TextSite, of owner: TextOwner, _ places: [TextPlace]
  ) {
    if case .argument(let index) = site {
      let place = places.first { $0.site == site }?.range
      firstArgument = index == 0 ? (text, place) : nil
    }
    guard let remark = LiteralRemark(text, at: site, in: outline.files[found.file].workflow)
    else { return }
    found.append(.literal(remark), places.first { $0.site == site }?.range ?? place(of: owner))
  }

  private mutating func closeArguments(ofStep index: Int) {
    guard let (text, range) = firstArgument else { return }
    firstArgument = nil
    let remark = LiteralRemark(
      text, at: .argument(0), in: outline.files[found.file].workflow, isOnly: true)
    guard let remark else { return }
    found.append(.literal(remark), range ?? place(of: .step(index)))
  }

  private func place(of owner: TextOwner) -> SourceRange? {
    switch owner {
    case .workflow: nil
    case .group(let index): outline.groups[index].step?.place.value?.step
    case .step(let index): outline.steps[index].step.place.value?.step
    }
  }

  private mutating func record(
    _ reference: ContextReference, _ part: String?, in text: PlannedText, of owner: TextOwner
  ) {
    switch reference.valueContext {
    case .steps: recordStep(reference, part, in: text, of: owner)
    case .itself:
      guard let node = outline.node(of: owner) else { return }
      switch outline.meaning(ofOwn: reference, to: node, names[text.file]) {
      case .node(let member, let rest):
        reads[member].formUnion(fields(of: reference, part, from: rest).byOthers)
      default: reads[node].formUnion(fields(of: reference, part, from: 1))
      }
    case .inputs, .env, .secrets, .item, .index, .matrix, .run, .workflow, .state, nil: break
    }
  }

  private mutating func recordStep(
    _ reference: ContextReference, _ part: String?, in text: PlannedText, of owner: TextOwner
  ) {
    let node = outline.node(of: owner)
    guard
      case .node(let target, let rest) = outline.meaning(of: reference, to: node, names[text.file])
    else { return }
    reads[target].formUnion(fields(of: reference, part, from: rest).byOthers)
    // Where no step may be read, only that is reported, not its consequences.
    guard let node,
      SiteRules(site: text.site, owner: owner).obstacle(to: .steps, called: "steps") == nil
    else { return }
    // A group's outputs are computed when all its members have ended; elsewhere it may not read its members.
    guard !outline.group(startingAt: node, encloses: target) else { return }
    references.insert(outline.end(of: target), of: node, at: text.part(reference.range))
  }

  /// The parts of a result that are read by the names from `place` on, and of each of `results` by `part`.
  private func fields(
    of reference: ContextReference, _ part: String?, from place: Int
  ) -> StepReads {
    guard place < reference.names.count else { return .everything }
    let field = StepField.named(reference.names[place].text)
    guard field == .results else { return field?.reads ?? .result }
    // Either results['0'].stdout, or results[0].stdout and results.*.stdout.
    let isNamed = place + 2 < reference.names.count
    guard let name = isNamed ? reference.names[place + 2].text : part else { return .everything }
    return (StepField.named(name)?.reads ?? .result).union(.elements)
  }
}

extension ExpressionNode {
  /// Visits the references, each with the name of the part that is read of its elements: `reference[0].part`,
  /// `reference.*.part`.
  fileprivate func visitReferences(_ visit: (ContextReference, String?) -> Void) {
    switch form {
    case .reference(let reference): visit(reference, nil)
    case .index(let element, by: let name):
      guard let (reference, index) = element.elementsRead,
        case .literal(.string(let part)) = name.form
      else {
        element.visitReferences(visit)
        return name.visitReferences(visit)
      }
      visit(reference, part)
      index?.visitReferences(visit)
    default: for child in children { child.visitReferences(visit) }
    }
  }

  /// The reference of which this is an element, with the index, or all elements.
  private var elementsRead: (ContextReference, index: ExpressionNode?)? {
    switch form {
    case .index(let base, by: let index):
      if case .reference(let reference) = base.form { (reference, index) } else { nil }
    case .filter(let base):
      if case .reference(let reference) = base.form { (reference, nil) } else { nil }
    default: nil
    }
  }
}
