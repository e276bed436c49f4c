import WeftDiagnostics
import WeftJSON

/// Reads the steps of a list.
extension DecodingPass {
  /// A stand-in for an invalid action. Its file is rejected, so it never runs.
  static let nothing = StepAction.run(nothingToRun)
  static let nothingToRun = Command(.script(""))

  private static let noStep = Step(action: .compute)
  private static let success = [0]

  /// Reads one member of a list and appends it. A step with an invalid action is still a step:
  /// others may need it.
  mutating func step(_ node: JSONNode, into members: inout [Step]) {
    switch node.kind {
    case .string:
      var text: String?
      let places = collectingTexts { text = $0.script(node, .itself) }
      members.append(
        Step(
          action: text.map {
            StepAction.run(Command(.script($0), successCodes: DecodingPass.success))
          }
            ?? DecodingPass.nothing,
          place: StepPlace(step: node.range, texts: places)))
    case .object: members.append(objectStep(node))
    default:
      reportType(
        of: node, .itself, wanted: "a step: a script or an object",
        help: node.kind == .array
          ? "to run a program with arguments, write { \"run\": […] }" : nil)
      // Later steps keep their positions, by which messages name them.
      members.append(Step(action: DecodingPass.nothing, place: StepPlace(step: node.range)))
    }
  }

  private mutating func objectStep(_ node: JSONNode) -> Step {
    var draft = StepDraft(node)
    let texts = collectingTexts { pass in
      if pass.read(node, .itself, into: &draft).hasUnknownKey { draft.lacksKey = true }
    }
    if !texts.isEmpty { draft.step.place.value?.texts = texts }
    draft.step.action = action(of: &draft, at: node)
    checkCachedOutputs(of: draft.step, at: node)
    placeCachedScript(of: &draft.step, at: node)
    // A policy without attempts overrides `defaults`, which apply only to steps that make attempts;
    // elsewhere it means nothing.
    if draft.step.hasControl, !draft.step.action.kind.makesAttempts,
      draft.step.control.retry.allSatisfy({ $0.$max == .literal(0) })
    {
      draft.step.control.retry = []
    }
    // Moved, not copied.
    var step = DecodingPass.noStep
    swap(&step, &draft.step)
    return step
  }

  mutating func id(_ node: JSONNode, _ field: Field) -> StepID? {
    guard let text = text(node, field) else {
      if let text = node.stringValue { reject(id: text) }
      return nil
    }
    if let id = StepID(text) { return id }
    if let fault = StepID.fault(in: text) { report(.invalidID(text, fault: fault), at: node) }
    reject(id: text)
    return nil
  }

  mutating func needs(_ node: JSONNode, _ field: Field) -> [Need]? {
    elements(
      of: node, field, wanted: "an array of ids",
      help: node.stringValue.map { "write [\(quoted($0))]" } ?? "write [\"build\"]"
    ) { pass, element, field in
      pass.filledText(element, field, wanted: "the id of a step").map {
        Need($0, place: element.range)
      }
    }
  }

  /// Reads one cleanup step, or several that run in order.
  mutating func cleanup(_ node: JSONNode, _ field: Field) -> [Step]? {
    var steps: [Step] = []
    inCleanup { pass in
      switch node.kind {
      case .array:
        if node.elements.isEmpty { pass.report(.emptyGroup(path: pass.path(field)), at: node) }
        pass.read(node, "cleanup", into: &steps)
      case .string, .object:
        guard pass.count(node) else { return }
        pass.enter("cleanup")
        pass.step(node, into: &steps)
        pass.leave()
      default:
        pass.reportType(
          of: node, field, wanted: "a step, or an array of steps",
          help: "write a script, or { \"run\": … }")
      }
    }
    return steps
  }

  // MARK: Action

  /// Assembles the action, and reports keys that do not go together.
  private mutating func action(of draft: inout StepDraft, at node: JSONNode) -> StepAction {
    guard let kind = draft.kind ?? (draft.step.outputs.isEmpty ? nil : .compute) else {
      if !draft.lacksKey { report(.noAction, at: node) }
      return DecodingPass.nothing
    }
    if !draft.isAmbiguous { check(draft, kind, at: node) }
    // Among several actions a group wins: other steps may need its members.
    if let order = draft.group.order { return .group(group(order, of: draft)) }
    switch (kind, draft.action) {
    case (.compute, _): return .compute
    case (.run, _):
      guard let invocation = draft.invocation else { return DecodingPass.nothing }
      draft.command.invocation = invocation
      return .run(draft.command)
    case (_, .workflow(var nested)?):
      nested.parameters = draft.parameters
      return .workflow(nested)
    case (_, .use(var call)?):
      call.parameters = draft.parameters
      return .use(call)
    case (_, let action): return action ?? DecodingPass.nothing
    }
  }

  /// Reports keys that this kind of step cannot have, and points to the key that makes it one.
  private mutating func check(_ draft: StepDraft, _ kind: ActionKind, at node: JSONNode) {
    for (rule, key) in draft.placed where !rule.allows(kind) {
      report(
        .misplacedKey(rule.name.description, of: kind, onlyFor: rule.kinds ?? []), at: key,
        related: draft.place)
    }
    if kind == .run {
      checkTerminal(of: draft)
      checkCaching(of: draft)
      checkService(of: draft, at: node)
    }
    if kind.rules.settings != nil { checkSettings(of: node, besides: draft, kind) }
  }

  /// Reports settings of commands that the kind of step does not have.
  private mutating func checkSettings(
    of step: JSONNode, besides draft: StepDraft, _ kind: ActionKind
  ) {
    for member in step.members {
      guard let name = member.key.stringValue, let rule = StepDraft.format.rule(named: name),
        rule.traits.contains(.setting), !rule.allows(kind)
      else { continue }
      report(
        kind == .workflow ? .settingOfOtherFile(name) : .misplacedKey(name, of: kind),
        at: member.key, related: draft.place)
    }
  }

  /// Reports keys about pipes on a step with `tty`, which has none.
  private mutating func checkTerminal(of draft: StepDraft) {
    guard draft.command.usesTerminal, let terminal = draft.placedKey("tty") else { return }
    for (rule, key) in draft.placed where rule.traits.contains(.aboutPipes) {
      report(
        .pipeKeyBesideTerminal(rule.name.description), at: key,
        related: ("\"tty\" is here", terminal))
    }
  }
}

extension StepDraft {
  /// The location of the key that gives the action.
  fileprivate var place: (String, JSONNode)? {
    key.map { ("\"\($0.stringValue ?? "")\" is here", $0) }
  }
}
