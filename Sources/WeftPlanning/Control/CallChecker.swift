import WeftDefinition
import WeftDiagnostics

/// Checks the literal parameters that steps pass to other files: the inputs exist, none is missing, and constants are
/// valid. Values of expressions are left to the value checker.
struct NestingChecker {
  private let outline: Outline
  private var found = FoundProblems()

  static func problems(of outline: Outline) -> [PlacedProblem] {
    guard outline.hasControl else { return [] }
    var checker = NestingChecker(outline: outline)
    for step in outline.steps where step.kind == .workflow {
      checker.reportUnread(step)
    }
    for file in outline.files { checker.check(file) }
    return checker.found.problems
  }

  private mutating func reportUnread(_ step: PlannedStep) {
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
    for fault in input.schema.faults(of: value, secretBytes: input.secretBytes) {
      let subject = "with.\(parameter.name)"
      found.append(
        Diagnostic(
          "W0223", fault.message(about: subject, isSecret: input.isSecret), key: "with",
          help: fault.help(isSecret: input.isSecret)),
        parameter.place.value)
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
    of outline: Outline, registered actions: Set<ActionName>?
  ) -> [PlacedProblem] {
    guard outline.hasControl, let actions else { return [] }
    var checker = ActionChecker(outline, actions.map(\.text).sorted())
    for step in outline.steps where step.kind == .use {
      guard let call = step.action.call, !actions.contains(call.name) else { continue }
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

// MARK: Wording

extension Diagnostic {
  /// The other file was not read, so its contents are unknown.
  fileprivate static func fileNotRead(
    _ subject: OutlineMember.Subject, path: String
  ) -> Diagnostic {
    problem(
      "W0220", of: subject, "runs the file \"\(shortName(path))\", which has not been read",
      key: "workflow",
      help: "read the workflow with Workflow(contentsOf:), or pass the nested workflow as a value")
  }

  fileprivate static func unknownParameter(
    _ name: String, of path: String, known: [String], nearest: String?
  ) -> Diagnostic {
    let path = shortName(path)
    return Diagnostic(
      "W0221", "\"\(path)\" has no input \"\(shortName(name))\"", key: "with.\(name)",
      help: nearest.asSuggestion
        ?? (known.isEmpty
          ? "declare it in \"\(path)\": \"inputs\": { \"…\": { \"type\": \"string\" } }"
          : "its inputs are \(listed(known.map { "\"\($0)\"" }, conjunction: "and"))"))
  }

  fileprivate static func missingParameters(_ names: [String], of path: String) -> Diagnostic {
    let list = listed(names.map { "\"\($0)\"" }, conjunction: "and")
    return Diagnostic(
      "W0222",
      "\"\(shortName(path))\" requires \(names.count == 1 ? "input" : "inputs") \(list),"
        + " not given here", key: "with",
      help: "write \"with\": { "
        + names.prefix(12).map { "\"\($0)\": …" }.joined(separator: ", ") + " }")
  }

  fileprivate static func unknownAction(
    of subject: OutlineMember.Subject, named name: String, known: [String], nearest: String?
  ) -> Diagnostic {
    let verb = known.count == 1 ? "is" : "are"
    return problem(
      "W0224", of: subject, "uses the action \"\(name)\", which is not registered", key: "use",
      help: nearest.asSuggestion
        ?? (known.isEmpty
          ? "actions are registered by programs that embed Weft; this program has registered none"
          : "registered \(verb) \(known.prefix(12).joined(separator: ", "))"))
  }
}
