import WeftDefinition
import WeftDiagnostics
import WeftExpressions
import WeftJSON
import WeftShell

/// The meaning of names in expressions, as far as known before anything runs.
final class ValueNames {
  /// The known type and secrecy of a value.
  struct Knowledge: Sendable {
    var type: ExpressionType
    var isSecret = false
    /// More than the type says about its text.
    var text: ValueText = .any

    static let unknown = Knowledge(type: .any)
  }

  /// The meaning of a reference.
  enum Meaning {
    case value(Knowledge)
    /// - Parameter at: The index of the offending name.
    case problem(Diagnostic, at: Int)
    /// A value of that type does not have the parts that the reference names.
    case fault(ExpressionError)
    /// A problem that is already reported.
    case reported
  }

  let outline: Outline
  /// The name spaces, by file.
  private(set) var files: [NameSpace]
  /// The known types of computed variables.
  private var variables = LayerVariables()
  /// The known types of loop elements.
  var loops = LoopKnowledge()
  /// The known types of outputs, by the node of a step or a group's start.
  private(set) var outputs: [Int32: [String: Knowledge]] = [:]

  init(_ outline: Outline, _ steps: [StepNames], _ texts: PlannedTexts) {
    self.outline = outline
    files = NameSpace.all(of: outline, steps, texts)
  }

  /// The closest id of a step or group in a file.
  func nearestStep(to name: String, in file: Int) -> String? {
    files[file].nearestStep.nearest(to: name)
  }

  /// Stores what is known of a text that others may read.
  func learn(_ text: PlannedText, of owner: TextOwner, _ knowledge: Knowledge) {
    switch text.site {
    case .variable(let name):
      // A variable is a string, whatever it was computed from.
      let type: ExpressionType = text.template.isOneExpression ? .any : .string
      // Variables that are not stored are strings without secrets.
      guard knowledge.isSecret || type == .any else { return }
      variables.learn(name, of: owner, Knowledge(type: type, isSecret: knowledge.isSecret))
    case .output(let name):
      guard let node = outline.producer(of: owner) else { return }
      outputs[Int32(node), default: [:]][name] = knowledge
    case .elements, .axis: loops.learn(text.site, of: owner, knowledge)
    default: break
    }
  }

  /// The known types of the computed variables of a layer.
  func variables(of layer: TextOwner) -> [String: Knowledge] { variables.known(of: layer) }

  // MARK: Meanings

  /// The meaning of a reference in a text of `owner`; whether its context is allowed there is checked elsewhere.
  func meaning(
    of reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    switch reference.valueContext {
    case nil:
      return loop(reference, in: site, of: owner)
        ?? .problem(
          .unknownContext(
            reference.context,
            help: reference.helpForUnknownName
              ?? nearestContext(to: reference.context, of: owner).asSuggestion
              ?? "available: \(listed(contexts(in: site, of: owner), conjunction: "and")); text goes in '…'"
          ), at: 0)
    case .item, .index, .matrix: return loop(reference, in: site, of: owner) ?? .reported
    case .inputs: return input(reference, in: site, of: owner)
    case .state: return state(reference, in: outline.file(of: owner))
    case .secrets: return secret(reference, in: outline.file(of: owner))
    case .env: return variable(reference, in: site, of: owner)
    case .run:
      if reference.reads(.failures),
        !outline.isFinal(owner) || SiteRules(site: site, owner: owner).isEarly
      {
        return .problem(
          .unavailable(
            "run.failures", in: site,
            help: "it is known to the steps of \"finally\" when they start"), at: 1)
      }
      return fields(RunField.self, "run", reference)
    case .workflow: return fields(WorkflowField.self, "workflow", reference)
    case .steps: return step(reference, in: site, of: owner)
    case .itself:
      guard let node = outline.node(of: owner) else { return .value(.unknown) }
      return own(reference, of: node, in: site)
    }
  }

  private func input(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let file = outline.file(of: owner)
    guard reference.names.count > 1 else {
      return .value(Knowledge(type: .any, isSecret: files[file].hasSecretInputs))
    }
    let name = reference.names[1].text
    guard let input = files[file].input(named: name) else {
      let nearest = files[file].nearestInput.nearest(to: name)
      return .problem(.unknownInput(name, known: files[file].inputNames, nearest: nearest), at: 1)
    }
    // Names are shown as written in this case.
    if case .computed = site, SiteRules(site: site, owner: owner).isEarly,
      let input = InputName(name), files[file].lateInputs.contains(input)
    {
      return .problem(.lateInput(name, in: site), at: 1)
    }
    return member(of: input.knowledge, reference, from: 2)
  }

  /// The schema of an input or a part of it; `nil` if the reference is not to an input.
  func schema(of reference: ContextReference, in file: Int) -> ValueSchema? {
    guard reference.valueContext == .inputs, reference.names.count > 1,
      let input = files[file].input(named: reference.names[1].text)
    else { return nil }
    return reference.names[2...].reduce(input.schema) { $0.member($1.text) }
  }

  private func state(_ reference: ContextReference, in file: Int) -> Meaning {
    let declared = files[file].workflow.state
    guard reference.names.count > 1 else {
      return .value(
        Knowledge(
          type: .object(declared.map { ($0.name.text, ExpressionType($0.schema)) })))
    }
    let name = reference.names[1].text
    guard let variable = declared.first(where: { $0.name == InputName(name) }) else {
      let known = declared.map(\.name.text)
      let nearest = NearestName(known).nearest(to: name)
      return .problem(.unknownState(name, known: known, nearest: nearest), at: 1)
    }
    return member(of: Knowledge(type: ExpressionType(variable.schema)), reference, from: 2)
  }

  private func secret(_ reference: ContextReference, in file: Int) -> Meaning {
    guard reference.names.count > 1 else { return .problem(.secretNotNamed, at: 0) }
    let name = reference.names[1].text
    let secrets = files[file].workflow.secrets
    guard let secret = SecretName(name), secrets.contains(where: { $0.name == secret }) else {
      let known = files[file].secretNames
      let nearest = NearestName(known).nearest(to: name)
      return .problem(.unknownSecret(name, known: known, nearest: nearest), at: 1)
    }
    return member(of: Knowledge(type: .string, isSecret: true), reference, from: 2)
  }

  // MARK: Parts of values

  fileprivate func fields<Field: CaseIterable & RawRepresentable<String>>(
    _ fields: Field.Type, _ owner: String, _ reference: ContextReference
  ) -> Meaning {
    guard reference.names.count > 1 else { return .value(.unknown) }
    let name = reference.names[1].text
    let known = Field.allCases.map(\.rawValue)
    guard known.contains(name) else {
      return .problem(
        .unknownMember(
          name, of: "\"\(owner)\"", known: known, nearest: NearestName(known).nearest(to: name)),
        at: 1)
    }
    let knowledge =
      switch RunField(rawValue: name) {
      case .attempt: Knowledge(type: .number, text: .integer)
      // A run may have no directory.
      case .dir: Knowledge(type: .either([.string, .null]))
      case .args: Knowledge(type: .array(of: .string))
      case .failures:
        Knowledge(
          type: .array(
            of: .object([
              ("step", .string), ("class", .either([.string, .null])), ("message", .string),
              ("lastLines", .array(of: .string)),
            ])))
      case .id, nil: Knowledge(type: .string)
      }
    return member(of: knowledge, reference, from: 2)
  }

  /// The meaning of the remaining names.
  func member(
    of knowledge: Knowledge, _ reference: ContextReference, from place: Int
  ) -> Meaning {
    guard place < reference.names.count else { return .value(knowledge) }
    var knowledge = knowledge
    knowledge.text = .any
    let owner = ContextReference(Array(reference.names[..<place])).text
    do {
      knowledge.type = try knowledge.type.type(at: reference.names[place...], in: owner)
      return .value(knowledge)
    } catch {
      return .fault(error)
    }
  }

  /// The contexts that a text may read.
  private func contexts(in site: TextSite, of owner: TextOwner) -> [String] {
    let rules = SiteRules(site: site, owner: owner)
    return ValueContext.allCases.filter { context in
      guard rules.obstacle(to: context, called: context.rawValue) == nil else { return false }
      switch context {
      case .item, .index, .matrix:
        let name = ContextReference.Name(context.rawValue, SourceRange(start: 0, end: 0))
        return outline.loop(giving: ContextReference([name]), to: site, of: owner) != nil
      case .inputs, .env, .secrets, .steps, .itself, .run, .workflow, .state: return true
      }
    }.map(\.rawValue)
  }

  private func nearestContext(to name: String, of owner: TextOwner) -> String? {
    NearestName(ValueContext.allCases.map(\.rawValue) + outline.elementNames(around: owner))
      .nearest(to: name)
  }
}

/// The context `env`: the variables set by the layers around a text.
extension ValueNames {
  func variable(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning {
    let layers = layers(read: site, of: owner)
    guard reference.names.count > 1 else {
      let isSecret = layers.contains { variables(of: $0).values.contains(where: \.isSecret) }
      return .value(Knowledge(type: .any, isSecret: isSecret))
    }
    let name = reference.names[1].text
    for layer in layers {
      guard let written = settings(of: layer).environment[name] else { continue }
      let known = variables(of: layer)[name] ?? Knowledge(type: written == nil ? .null : .string)
      return member(of: known, reference, from: 2)
    }
    if EnvironmentPolicy.isKept(name) { return .value(.unknown) }
    let known = EnvironmentName.essential.union(
      layers.flatMap { settings(of: $0).environment.keys })
    return .problem(
      .unknownVariable(
        name, isOfSameLayer: settings(of: owner).environment[name] != nil,
        nearest: NearestName(known.sorted()).nearest(to: name)), at: 1)
  }

  /// The layers that a text reads, innermost first. The value of a variable reads only layers outside of its own, and
  /// so do texts that determine elements, because their own layer may read the element.
  private func layers(read site: TextSite, of owner: TextOwner) -> [TextOwner] {
    var layers: [TextOwner]
    switch owner {
    case .workflow(let group), .group(let group): layers = self.layers(around: group)
    case .step(let index): layers = [owner] + self.layers(around: outline.steps[index].group)
    }
    if site.isVariable || site.makesElements { layers.removeFirst() }
    return layers
  }

  private func layers(around group: Int) -> [TextOwner] {
    EnclosingGroups(outline.groups, from: group).map(outline.owner(ofGroup:))
  }

  private func settings(of layer: TextOwner) -> CommandSettings {
    switch layer {
    case .workflow(let group): outline.files[outline.groups[group].file].workflow.settings
    case .group(let index): outline.groups[index].step?.settings ?? CommandSettings()
    case .step(let index): outline.steps[index].settings
    }
  }
}

/// The known types of computed variables, by the layers that set them. Variables of a step are read only by that step,
/// and the texts of a step are checked in sequence, so only one step is kept at a time.
struct LayerVariables {
  private var ofGroups: [TextOwner: [String: ValueNames.Knowledge]] = [:]
  private var step: (owner: TextOwner, known: [String: ValueNames.Knowledge])?

  func known(of layer: TextOwner) -> [String: ValueNames.Knowledge] {
    if let step, step.owner == layer { return step.known }
    return ofGroups[layer] ?? [:]
  }

  mutating func learn(_ name: String, of owner: TextOwner, _ knowledge: ValueNames.Knowledge) {
    guard case .step = owner else {
      ofGroups[owner, default: [:]][name] = knowledge
      return
    }
    if step?.owner != owner { step = (owner, [:]) }
    step?.known[name] = knowledge
  }
}

/// The contexts `item`, `index` and `matrix`, and the names that `as` defines.
extension ValueNames {
  /// The meaning of a reference to a loop; `nil` if it is none.
  func loop(
    _ reference: ContextReference, in site: TextSite, of owner: TextOwner
  ) -> Meaning? {
    if let (loop, value) = outline.loop(giving: reference, to: site, of: owner) {
      switch value {
      case .index:
        return member(of: Knowledge(type: .number, text: .integer), reference, from: 1)
      case .element: return member(of: element(of: loop), reference, from: 1)
      case .combination: return combination(of: loop, reference)
      }
    }
    if isLoopValue(reference, of: owner) {
      return .problem(.beforeElements(reference.context, in: site), at: 0)
    }
    if let context = reference.valueContext {
      let hasOther = hasLoop(of: context == .matrix ? .item : .matrix, around: owner)
      return .problem(.outsideOfLoop(context, hasOther: hasOther), at: 0)
    }
    return elsewhere(reference).map { .problem($0, at: 0) }
  }

  /// The context `item` for the name that `as` gives the element of an enclosing loop.
  func loopContext(of reference: ContextReference, of owner: TextOwner) -> ValueContext? {
    isLoopValue(reference, of: owner) ? .item : nil
  }

  /// Whether any text of the same owner could read it.
  private func isLoopValue(_ reference: ContextReference, of owner: TextOwner) -> Bool {
    outline.loop(giving: reference, to: .condition, of: owner) != nil
  }

  private func hasLoop(of context: ValueContext, around owner: TextOwner) -> Bool {
    let name = ContextReference.Name(context.rawValue, .init(start: 0, end: 0))
    return isLoopValue(ContextReference([name]), of: owner)
  }

  /// The problem with a name that `as` gives the elements of a loop which does not enclose the reference.
  private func elsewhere(_ reference: ContextReference) -> Diagnostic? {
    for node in outline.nodes.indices {
      let owner: TextOwner? =
        switch outline.nodes[node] {
        case .step(let index): .step(Int(index))
        case .groupStart(let index): .group(Int(index))
        case .groupEnd: nil
        }
      guard let owner, outline.fanOut(of: owner)?.value(of: reference) != nil else { continue }
      let member = outline.member(at: node)
      return .elementOf(
        reference.context, of: member.address.text, hasID: member.step.id != nil)
    }
    return nil
  }

  // MARK: Elements

  private func element(of loop: TextOwner) -> Knowledge {
    guard case .forEach(let forEach) = outline.fanOut(of: loop) else { return .unknown }
    return loops.element(of: forEach.elements, .elements, loop)
  }

  private func combination(of loop: TextOwner, _ reference: ContextReference) -> Meaning {
    guard case .matrix(let matrix) = outline.fanOut(of: loop) else { return .value(.unknown) }
    let known = loops.combination(of: matrix, loop)
    guard reference.names.count > 1 else {
      return .value(Knowledge(type: .object(known)))
    }
    let name = reference.names[1].text
    guard let type = known.type(of: name) else {
      let names = known.fields.map(\.name)
      let address = outline.node(of: loop).map { outline.member(at: $0).address.text } ?? ""
      return .problem(
        .unknownMember(
          name, of: "the matrix of \"\(address)\"", known: names,
          nearest: NearestName(names).nearest(to: name)), at: 1)
    }
    return member(of: Knowledge(type: type), reference, from: 2)
  }
}

extension ContextReference {
  /// The help for a name that other tools have, and for a function without parentheses.
  fileprivate var helpForUnknownName: String? {
    let rest = names.dropFirst().map(\.text)
    switch context {
    case "needs":
      return "write steps." + (rest.isEmpty ? "a.outputs.x" : rest.joined(separator: "."))
    case "github" where rest.count == 1:
      return "declare an input, or read $GITHUB_\(rest[0].uppercased()) in the script"
    case "github", "vars":
      return "declare an input, and pass the value with -i"
    case "runner" where rest.first == "os" || rest.first == "arch":
      return "use $(uname) in the script"
    case "runner" where rest.first == "temp":
      return "use $TMPDIR in the script"
    case "job": return "use success(), failure() or cancelled()"
    case "strategy": return "use matrix, or index"
    default:
      return ExpressionFunction(named: context).map { "did you mean \($0.signature)?" }
    }
  }
}
