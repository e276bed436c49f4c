import WeftDefinition
import WeftDiagnostics

/// Checks the literal parameters that steps pass to other files: the inputs exist, none is missing, and constants are
/// valid. Values of expressions are left to the value checker.
struct NestingChecker {
  private let outline: Outline
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    guard outline.hasControl else { return [] }
    var checker = NestingChecker(outline)
    for step in outline.steps where step.runsAnotherFile {
      checker.tellUnread(step)
    }
    for file in outline.files { checker.check(file) }
    return checker.found.problems
  }

  private init(_ outline: Outline) {
    self.outline = outline
  }

  private mutating func tellUnread(_ step: PlannedStep) {
    guard case .workflow(let nested) = step.action, !nested.isRejected else { return }
    let member = outline.member(at: step.node)
    found.file = outline.groups[step.group].file
    found.node = step.node
    found.append(.fileNotRead(member.subject, path: nested.path), nested.place.value)
  }

  private mutating func check(_ file: PlannedFile) {
    guard let caller = file.caller,
      case .workflow(let nested)? = outline.groups[caller].step?.action
    else { return }
    found.file = outline.groups[caller].file
    found.node = outline.groups[caller].startNode
    let declared = file.workflow.inputs.byName
    var given: Set<InputName> = []
    for parameter in nested.parameters {
      guard let name = InputName(parameter.name), let input = declared[name] else {
        let known = file.workflow.inputs.map(\.name.text)
        let nearest = NearestName(known).nearest(to: parameter.name)
        // That the intended input is missing is only a consequence.
        nearest.flatMap { InputName($0) }.map { _ = given.insert($0) }
        found.append(
          .unknownParameter(parameter.name, of: nested.path, known: known, nearest: nearest),
          parameter.place.value)
        continue
      }
      given.insert(name)
      check(parameter, against: input)
    }
    let missing = file.workflow.inputs.filter { $0.isRequired && !given.contains($0.name) }
    if !missing.isEmpty {
      found.append(
        .missingParameters(missing.map(\.name.text), of: nested.path), nested.place.value)
    }
  }

  private mutating func check(_ parameter: Parameter, against input: InputDeclaration) {
    guard case .value(let value) = parameter.value else { return }
    for fault in input.schema.faults(of: value) {
      let subject = "with.\(parameter.name)"
      found.append(
        .unfitParameter(
          message: fault.message(about: subject, isSecret: input.isSecret),
          help: fault.help(isSecret: input.isSecret)), parameter.place.value)
    }
  }
}

/// Checks that the actions of steps are registered. Their parameters are known only to the program that registered
/// them.
struct ActionChecker {
  private let outline: Outline
  private let names: [String]
  private let nearest: NearestName
  private var found = FoundProblems()

  static func problems(
    of outline: Outline, registered actions: Set<ActionName>
  ) -> [PlacedProblem] {
    guard outline.hasControl else { return [] }
    var checker = ActionChecker(outline, actions.map(\.text).sorted())
    for step in outline.steps where step.callsAction {
      guard let call = step.call, !actions.contains(call.name) else { continue }
      checker.report(call, of: step)
    }
    return checker.found.problems
  }

  private init(_ outline: Outline, _ names: [String]) {
    self.outline = outline
    self.names = names
    nearest = NearestName(names)
  }

  private mutating func report(_ call: ActionCall, of step: PlannedStep) {
    found.file = outline.groups[step.group].file
    found.node = step.node
    found.append(
      .unknownAction(
        of: outline.member(at: step.node).subject, named: call.name.text, known: names,
        nearest: nearest.nearest(to: call.name.text)), call.place.value)
  }
}
