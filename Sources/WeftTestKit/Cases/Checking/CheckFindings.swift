import WeftDefinition
import WeftDiagnostics
import WeftExecution
import WeftPlanning

/// A test file and its workflow, and the problems found between them.
struct CheckFindings {
  let file: TestFile
  let plan: Plan
  private let shapes: AddressShapes
  private let nearest: NearestName
  /// The shapes that were found, since cases repeat their names.
  private var known: [String: [AddressShapes.Shape]] = [:]
  private(set) var diagnostics: [Diagnostic] = []

  init(_ file: TestFile, _ plan: Plan) {
    (self.file, self.plan) = (file, plan)
    shapes = AddressShapes(of: plan)
    nearest = NearestName(shapes.shapes.map(\.pattern.text))
  }

  mutating func report(
    _ code: String, _ message: String, at range: SourceRange, help: String? = nil,
    related: (message: String, range: SourceRange)? = nil
  ) {
    diagnostics.append(
      Diagnostic(
        .error, code: code, message: message, place: file.place(range), help: help,
        related: related.map { [.init(message: $0.message, place: file.place($0.range))] } ?? []))
  }

  mutating func add(_ others: [Diagnostic]) { diagnostics += others }

  /// Reports an expectation that no run of the case can meet.
  mutating func reportImpossible(
    _ message: String, at range: SourceRange, help: String? = nil,
    related: (message: String, range: SourceRange)? = nil
  ) {
    report(CaseCode.impossible, message, at: range, help: help, related: related)
  }

  /// The steps and groups that an address or a pattern may mean.
  mutating func matching(_ text: String) -> [AddressShapes.Shape] {
    if let found = known[text] { return found }
    let found = shapes.matching(StepPattern(text))
    known[text] = found
    return found
  }

  /// The steps and groups that an address or a pattern may mean; if there are none, that is reported.
  @discardableResult
  mutating func find(_ name: Placed<String>) -> [AddressShapes.Shape] {
    let found = matching(name.value)
    guard found.isEmpty else { return found }
    let isPattern = !StepPattern(name.value).isExact
    report(
      CaseCode.noSuchStep,
      isPattern
        ? "the pattern \(quoted(name.value)) matches no step of the workflow"
        : "\(quoted(name.value)) is not a step of the workflow", at: name.range,
      help: nearest.nearest(to: name.value).asSuggestion ?? CheckFindings.helpForAddresses)
    return []
  }

  private static let helpForAddresses = "\"weft graph FILE\" shows the addresses"

  /// Reports a name that no step or group of the plan has, as a command line names them.
  ///
  /// - Returns: Whether there is one.
  mutating func findInPlan(_ name: Placed<String>) -> Bool {
    do throws(StepChoiceError) {
      _ = try plan.stepsExcluded(by: StepChoice(skip: [name.value]))
      return true
    } catch {
      report(
        CaseCode.noSuchStep, "\(quoted(name.value)) is not a step of the workflow",
        at: name.range, help: error.help ?? CheckFindings.helpForAddresses)
      return false
    }
  }

  // MARK: The plan

  /// The step or group of a shape, as written.
  func step(of shape: AddressShapes.Shape) -> Step? {
    switch plan.nodes[shape.node] {
    case .step(let index): plan.steps[Int(index)].step
    case .groupStart(let index), .groupEnd(let index): plan.groups[Int(index)].step
    }
  }

  /// The kind of a single step or an element; `nil` for a group or a loop.
  func kind(of shape: AddressShapes.Shape) -> ActionKind? { single(shape)?.kind }

  /// A single step or an element; `nil` for a group or a loop.
  func single(_ shape: AddressShapes.Shape) -> PlannedStep? {
    guard !shape.isGroup, case .step(let index) = plan.nodes[shape.node] else { return nil }
    return plan.steps[Int(index)]
  }

  /// The outputs that a step or a group declares; a loop has none.
  func outputs(of shape: AddressShapes.Shape) -> [OutputDeclaration] {
    let step = step(of: shape)
    if step?.control.fanOut != nil, !shape.pattern.text.hasSuffix("]") { return [] }
    if case .groupStart(let group) = plan.nodes[shape.node],
      let file = plan.file(runByGroup: Int(group))
    {
      return plan.files[file].workflow.outputs
    }
    return step?.outputs ?? []
  }

  /// The most attempts of a step or group; a computed number may be any.
  func mostAttempts(of shape: AddressShapes.Shape) -> Int {
    step(of: shape).map(\.mostAttempts) ?? 1
  }

  /// The most attempts of a step over all attempts of the groups around it, under one engine.
  func mostExecutions(of shape: AddressShapes.Shape) -> Int {
    groups(around: shape).compactMap(\.step).map(\.mostAttempts)
      .reduce(mostAttempts(of: shape)) {
        let (product, isMany) = $0.multipliedReportingOverflow(by: $1)
        return isMany ? .max : product
      }
  }

  /// The groups around a shape, from the innermost.
  func groups(around shape: AddressShapes.Shape) -> [PlannedGroup] {
    plan.allEnclosingGroups(ofGroup: plan.group(around: shape.node)).map { plan.groups[$0] }
  }

  /// The steps in a group, or the elements of a loop.
  func members(of shape: AddressShapes.Shape) -> String? {
    guard case .groupStart(let group) = plan.nodes[shape.node] else {
      return shape.isGroup ? quoted(shape.pattern.text + "[*]") : nil
    }
    let inside = Set(plan.steps(inGroup: Int(group)).map { plan.steps[$0].node })
    let names = self.shapes.shapes.filter { inside.contains($0.node) && !$0.isGroup }
      .map { quoted($0.pattern.text) }
    return names.isEmpty ? nil : shortList(names)
  }
}

extension Step {
  fileprivate var mostAttempts: Int {
    if computed[.retryMax] != nil || computed[.serviceRestarts] != nil { return .max }
    return 1 + control.retry.map(\.max).reduce(0, +) + (action.command?.service?.restarts ?? 0)
  }
}
