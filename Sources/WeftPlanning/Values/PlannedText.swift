package import WeftDefinition
import WeftDiagnostics
package import WeftExpressions

/// A text with expressions; a class because it is passed around more often than it is created.
package final class PlannedText: Sendable {
  package let site: TextSite
  package let template: Template
  /// The range of the string in the file, including its quotes; `nil` for a workflow built in Swift.
  let place: SourceRange?
  /// The file that contains it, as an index into ``Plan/files``.
  package let file: Int

  init(site: TextSite, template: Template, place: SourceRange?, file: Int) {
    self.file = file
    self.site = site
    self.template = template
    self.place = place
  }

  /// Visits its expressions, in order.
  func visitExpressions(_ visit: (Expression) -> Void) {
    template.visitExpressions(visit)
  }

  func part(_ range: SourceRange) -> TextPart { TextPart(string: place, part: range) }
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
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let name { visit(.name, name) }
    settings.visitTexts(visit)
    action.visitTexts(visit)
    if hasControl { control.visitTexts(visit) }
    guard hasValues else { return }
    for output in outputs { output.value.map { visit(.output(output.name), $0) } }
    for key in ComputedKey.allCases where computed[key] != nil {
      visit(.computed(key), computed[key] ?? "")
    }
  }
}

extension Workflow {
  /// Visits the texts of the workflow itself.
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    settings.visitTexts(visit)
    if let concurrency { visit(.concurrencyKey, concurrency.key) }
    for output in outputs { output.value.map { visit(.output(output.name), $0) } }
    for key in ComputedKey.allCases where computed[key] != nil {
      visit(.computed(key), computed[key] ?? "")
    }
  }
}

extension CommandSettings {
  fileprivate func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let workingDirectory { visit(.workingDirectory, workingDirectory) }
    // In an order that is the same in every run of the planner.
    let names = environment.count < 2 ? Array(environment.keys) : environment.keys.sorted()
    for name in names {
      if case .some(.some(let value)) = environment[name] { visit(.variable(name), value) }
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
  func visitTexts(_ visit: (TextSite, String) -> Void) {
    if let condition { visit(.condition, condition.text) }
    for (index, policy) in retry.enumerated() {
      if let condition = policy.condition { visit(.retryCondition(index), condition.text) }
    }
    switch fanOut {
    case .forEach(let loop):
      loop.elements.computedText.map { visit(.elements, $0) }
      if let key = loop.key { visit(.elementKey, key.text) }
    case .matrix(let matrix): matrix.visitTexts(visit)
    case nil: break
    }
  }
}

extension Matrix {
  fileprivate func visitTexts(_ visit: (TextSite, String) -> Void) {
    for axis in axes { axis.values.computedText.map { visit(.axis(axis.name), $0) } }
    include?.computedText.map { visit(.include, $0) }
    exclude?.computedText.map { visit(.exclude, $0) }
  }
}

extension Listing {
  /// The text of a computed listing; `nil` for a literal one.
  fileprivate var computedText: String? {
    guard case .computed(let condition) = self else { return nil }
    return condition.text
  }
}

extension TextSite {
  /// Whether the text is an expression, with or without `${{` and `}}` around it.
  var isBare: Bool {
    switch self {
    case .condition, .retryCondition, .elementKey: true
    case .http(let site): site.isBare
    default: false
    }
  }

  /// Whether the text must be exactly one expression.
  var isAlone: Bool {
    switch self {
    case .elements, .axis, .include, .exclude, .waiting, .computed: true
    default: false
    }
  }
}
