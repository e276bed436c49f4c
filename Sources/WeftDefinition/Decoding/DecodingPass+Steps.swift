import WeftDiagnostics
import WeftJSON

extension DecodingPass {
  /// Reads one member of a list and appends it. A step with an invalid action is still a step:
  /// others may need it.
  mutating func step(_ node: JSONNode, into members: inout [Step]) {
    switch node.kind {
    case .string:
      var text: String?
      let draft = collectingTexts { text = $0.script(node, .itself) }
      members.append(
        Step(
          action: text.map(DecodingPass.running) ?? DecodingPass.nothing,
          place: StepPlace(step: node.range, texts: draft.places)))
    case .object:
      members.append(Step(action: DecodingPass.nothing, place: StepPlace(step: node.range)))
      // Read in place, since a step is large and there may be many.
      objectStep(node, into: &members[members.endIndex - 1])
    default:
      reportType(
        of: node, .itself, wanted: "a step: a script or an object",
        help: node.kind == .array
          ? "a program and its arguments are written { \"run\": […] }" : nil)
      // Later steps keep their positions, by which messages name them.
      members.append(Step(action: DecodingPass.nothing, place: StepPlace(step: node.range)))
    }
  }

  private mutating func objectStep(_ node: JSONNode, into step: inout Step) {
    var draft = ActionDraft()
    let texts = collectingTexts { pass in
      for member in node.members {
        guard let key: StepKey = pass.key(of: member, in: .step) else {
          draft.hasUnknownKey = draft.hasUnknownKey || !pass.isIgnored(member.key)
          continue
        }
        guard !pass.isInCleanup || pass.mayStandInCleanup(key, member, &draft) else { continue }
        pass.take(key, member, into: &step, &draft)
      }
    }
    if !texts.places.isEmpty { step.place.value?.texts = texts.places }
    if !texts.computed.isEmpty { step.computed = texts.computed }
    draft.computesOutputs = !step.outputs.isEmpty
    step.action = action(of: draft, at: node)
    checkCachedOutputs(of: step, at: node)
    placeCachedScript(of: &step, at: node)
    switch step.action {
    case .run, .use, .http: return
    case .group, .compute, .wait, .approve, .workflow: break
    }
    // A policy without attempts overrides `defaults`, which apply only to steps that make attempts;
    // elsewhere it means nothing.
    if step.hasControl, step.control.retry.allSatisfy({ $0.max == 0 }),
      step.computed[.retryMax] == nil
    {
      step.control.retry = []
    }
  }

  private mutating func take(
    _ key: StepKey, _ member: JSONMember, into step: inout Step, _ draft: inout ActionDraft
  ) {
    let value = member.value
    switch key {
    case .id:
      step.id = id(value)
      step.place.value?.id = value.range
    case .name: step.name = name(value)
    case .description: step.description = text(value, Field("description"))
    case .needs: step.needs = needs(value)
    case .env: step.settings.environment = environment(value)
    case .cwd: step.settings.workingDirectory = workingDirectory(value)
    case .shell: step.settings.shell = shell(value)
    case .envPolicy: step.settings.environmentPolicy = environmentPolicy(value)
    case .timeout: step.timeout = duration(value, Field("timeout"), as: .timeout)
    case .allowFailure: step.allowFailure = tolerance(value)
    case .outputs:
      step.outputs = outputs(value)
    case .run:
      begin(.run, member.key, in: &draft)
      draft.invocation = invocation(value)
    case .stdin, .successCodes, .stop, .leftovers, .stallTimeout, .mergeOutput, .logLimit, .tty,
      .jobserver, .cache:
      draft.placedKeys.append((key, member.key))
      take(key, value, into: &draft.command)
    case .steps: group(.steps, member, into: &draft)
    case .parallel: group(.parallel, member, into: &draft)
    case .race: group(.race, member, into: &draft)
    case .maxParallel, .join, .wait, .approve, .workflow, .use, .http, .with:
      takeRest(key, member, into: &draft)
    case .if, .retry, .pool, .cleanup, .forEach, .matrix, .idempotent, .onInterrupted:
      takeControl(key, member, into: &step, &draft)
    }
  }

  private mutating func group(
    _ order: StepGroup.Order, _ member: JSONMember, into draft: inout ActionDraft
  ) {
    begin(ActionKind(order), member.key, in: &draft)
    guard groupDepth < limits.groupDepth else {
      return cutShort(.groupTooDeep(path: path(Field(order.key))), at: member.key)
    }
    members(order, member, into: &draft.group)
  }

  private mutating func id(_ node: JSONNode) -> StepID? {
    guard let text = text(node, Field("id")) else {
      if let text = node.stringValue { reject(id: text) }
      return nil
    }
    if let id = StepID(text) { return id }
    if let fault = StepID.fault(in: text) { report(.invalidID(text, fault: fault), at: node) }
    reject(id: text)
    return nil
  }

  private mutating func needs(_ node: JSONNode) -> [Need]? {
    let field = Field("needs")
    guard node.kind == .array else {
      reportType(
        of: node, field, wanted: "an array of ids",
        help: node.stringValue.map { "write [\(quoted($0))]" } ?? "write [\"build\"]")
      return nil
    }
    var needs: [Need] = []
    let elements = node.elements
    needs.reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      guard let name = filledText(element, field.element(index), wanted: "the id of a step") else {
        continue
      }
      needs.append(Need(name, place: element.range))
    }
    return needs
  }
}
