package import WeftDefinition
package import WeftDiagnostics
import WeftEncoding
package import WeftExpressions
import WeftShell

/// A text with expressions; a class because it is passed around more often than it is created.
package final class PlannedText: Sendable {
  package let site: TextSite
  package let template: Template
  /// The range of the string in the file, including its quotes; `nil` for a workflow built in Swift.
  let place: SourceRange?
  /// The location of the text, if it is not one string.
  let source: TextSource?
  /// The file that contains it, as an index into ``Plan/files``.
  package let file: Int

  init(
    site: TextSite, template: Template, place: SourceRange?, source: TextSource? = nil, file: Int
  ) {
    self.file = file
    self.source = source
    self.site = site
    self.template = template
    self.place = place
  }

  /// Visits its expressions, in order.
  func visitExpressions(_ visit: (Expression) -> Void) {
    template.visitExpressions(visit)
  }

  func part(_ range: SourceRange) -> TextPart {
    TextPart(string: place, source: source, part: range)
  }
}

/// The owner of a text.
enum TextOwner: Sendable, Hashable {
  /// A workflow, by its top level among the groups.
  case workflow(Int)
  case group(Int)
  case step(Int)

  var isWorkflow: Bool {
    if case .workflow = self { true } else { false }
  }
}

extension Step {
  /// Visits every text of the step or group that may contain expressions, without those of members.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    withUnsafePointer(to: self) { $0.visitTexts(visit) }
  }
}

extension UnsafePointer<Step> {
  /// Visits the texts of the step, as its own method does, and copies it only if it has control options or computed
  /// keys.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    if let name = pointee.name { visit(.name, name, nil) }
    pointee.settings.visitTexts(visit)
    pointee.action.visitTexts(visit)
    if pointee.hasControl { pointee.control.visitTexts(visit) }
    for output in pointee.outputs { output.value.map { visit(.output(output.name), $0, nil) } }
    guard mayBeComputed else { return }
    pointee.visitComputedKeys { visit(.computed($0), $1.text, $1.place.value) }
  }
}

extension Workflow {
  /// Visits the texts of the workflow itself.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    settings.visitTexts(visit)
    if let concurrency { visit(.concurrencyKey, concurrency.key, nil) }
    for output in outputs { output.value.map { visit(.output(output.name), $0, nil) } }
    for variable in state { visit(.state(variable.name.text), variable.value, nil) }
    visitComputedKeys { visit(.computed($0), $1.text, $1.place.value) }
  }
}

extension CommandSettings {
  fileprivate func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    if let workingDirectory { visit(.workingDirectory, workingDirectory, nil) }
    // In an order that is the same in every run of the planner.
    let names = environment.count < 2 ? Array(environment.keys) : environment.keys.sorted()
    for name in names {
      if case .some(.some(let value)) = environment[name] { visit(.variable(name), value, nil) }
    }
  }
}

/// The texts of a workflow that contain expressions, by owner. Those of steps are adjacent in one array, because there
/// may be very many.
struct PlannedTexts: Sendable {
  private var ofSteps: [PlannedText] = []
  /// The start of each step's texts: one entry for each closed step, and one more.
  private var starts: [Int32] = [0]
  /// The texts of groups; a workflow's own are at its top level.
  private var ofGroups: [Int: [PlannedText]] = [:]

  var isEmpty: Bool { ofSteps.isEmpty && ofGroups.isEmpty }

  /// The texts of steps, then those of groups.
  var all: some Sequence<PlannedText> { ([ofSteps] + ofGroups.values).joined() }

  /// Whether neither a group nor the workflow has any.
  var areOfStepsOnly: Bool { ofGroups.isEmpty }

  func texts(ofStep index: Int) -> ArraySlice<PlannedText> {
    guard index + 1 < starts.count else { return [] }
    return ofSteps[Int(starts[index])..<Int(starts[index + 1])]
  }

  func texts(ofGroup index: Int) -> ArraySlice<PlannedText> {
    ofGroups.isEmpty ? [] : ofGroups[index, default: []][...]
  }

  func texts(of owner: TextOwner) -> ArraySlice<PlannedText> {
    switch owner {
    case .workflow(let index), .group(let index): texts(ofGroup: index)
    case .step(let index): texts(ofStep: index)
    }
  }

  mutating func append(_ text: PlannedText, of owner: TextOwner) {
    switch owner {
    case .workflow(let index), .group(let index): ofGroups[index, default: []].append(text)
    case .step: ofSteps.append(text)
    }
  }

  /// Ends the texts of one step, which may have none; steps come in the order of the plan.
  mutating func closeStep() { starts.append(Int32(ofSteps.count)) }
}

extension StepControl {
  /// Visits the texts that may contain expressions; those of cleanup steps belong to those steps.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    func visitExpression(_ site: TextSite, _ expression: Condition?) {
      if let expression { visit(site, expression.text, expression.place.value) }
    }
    visitExpression(.condition, condition)
    for (index, policy) in retry.enumerated() {
      visitExpression(.retryCondition(index), policy.condition)
    }
    switch fanOut {
    case .forEach(let loop):
      visitExpression(.elements, loop.elements.expression)
      visitExpression(.elementKey, loop.key)
    case .matrix(let matrix):
      for axis in matrix.axes { visitExpression(.axis(axis.name), axis.values.expression) }
      visitExpression(.include, matrix.include?.expression)
      visitExpression(.exclude, matrix.exclude?.expression)
    case nil: break
    }
  }
}

extension Listing {
  /// `nil` for a literal one.
  fileprivate var expression: Condition? {
    if case .computed(let expression) = self { expression } else { nil }
  }
}

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

  /// Whether an expression reads a member of `run`.
  package func read(_ field: RunField) -> Bool {
    texts.all.contains { text in
      text.template.expressions.contains { $0.references.contains { $0.reads(field) } }
    }
  }

  /// The names of the variables that expressions read.
  package var variables: Set<String> {
    var names: Set<String> = []
    for text in texts.all {
      for reference in text.template.expressions.flatMap(\.references)
      where reference.valueContext == .env && reference.names.count > 1 {
        names.insert(reference.names[1].text)
      }
    }
    return names
  }

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
    reads.isEmpty ? StepReads() : reads[node].all
  }

  /// The parts that expressions of other steps and groups read.
  package func readsOfOthers(ofNode node: Plan.NodeIndex) -> StepReads {
    reads.isEmpty ? StepReads() : reads[node].ofOthers
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
  package struct Variable: Sendable {
    package let name: String
    package let expression: Expression
    /// Whether the value is an array: then there is a variable for each element.
    package let isList: Bool

    /// The names of the variables for a number of values.
    package func names(ofValues count: Int) -> [String] {
      isList ? (0..<count).map { "\(name)_\($0 + 1)" } : [name]
    }

    /// Whether a name is one of ``names(ofValues:)``.
    package func isNamed(_ other: String) -> Bool {
      isList ? other.hasPrefix(name + "_") : other == name
    }
  }

  private let text: String
  /// The variables to pass to it; each name once.
  package let variables: [Variable]

  init(text: String, variables: [Variable]) {
    self.text = text
    self.variables = variables
  }

  /// The script to run. The rest of the script does not mention the names, so each reference to an array is found.
  ///
  /// - Parameter counts: The number of values of each variable, in their order.
  package func text(withValues counts: [Int]) -> String {
    zip(variables, counts).reduce(text) { text, variable in
      guard variable.0.isList else { return text }
      let references = variable.0.names(ofValues: variable.1).map(ShellQuoting.bare.reference)
      return text.replacing(
        ShellQuoting.bare.reference(to: variable.0.name), with: references.joined(separator: " "))
    }
  }
}

extension Plan {
  /// The location of a part of a text, `file:line:column`; `nil` for a workflow built in Swift.
  package func place(of part: SourceRange, in text: PlannedText) -> String? {
    guard let place = text.part(part).place(in: files[text.file].workflow.source.value) else {
      return nil
    }
    let position = place.file.position(of: Int(place.range.start))
    return "\(place.file.path):\(position.line):\(position.column)"
  }

  /// The diagnostic for a fault in a text.
  package func diagnostic(_ fault: ExpressionError, in text: PlannedText) -> Diagnostic {
    Diagnostic(
      .error, code: fault.code, message: "\(text.site.key): \(fault.message)",
      place: text.part(fault.range).place(in: files[text.file].workflow.source.value),
      help: fault.help)
  }

  /// The address of the step or group at a node.
  package func title(ofNode node: NodeIndex) -> String { address(of: node).text }
}
