import WeftDiagnostics
import WeftJSON

/// The keys for conditions, retries, loops, pools and other control of a step.
extension DecodingPass {
  mutating func takeControl(
    _ key: StepKey, _ member: JSONMember, into step: inout Step, _ draft: inout ActionDraft
  ) {
    let value = member.value
    switch key {
    case .if: step.control.condition = condition(value, Field("if"), at: .condition)
    case .retry:
      draft.placedKeys.append((key, member.key))
      step.control.retry = retry(value, Field("retry"))
    case .pool:
      draft.placedKeys.append((key, member.key))
      step.control.pools = poolRequests(value)
    case .idempotent:
      draft.placedKeys.append((key, member.key))
      step.control.isIdempotent = flag(value, path(Field("idempotent")))
    case .onInterrupted:
      draft.placedKeys.append((key, member.key))
      step.control.onInterrupted = chosen(
        value, Field("onInterrupted"), wanted: "\"rerun\" or \"fail\"")
    case .cleanup: step.control.cleanup = cleanup(value)
    case .forEach, .matrix:
      guard mayFanOut(by: key, member.key, &draft) else { return }
      step.control.fanOut =
        key == .forEach ? forEach(value).map(FanOut.forEach) : matrix(value).map(FanOut.matrix)
    default: break
    }
  }

  /// Whether it is the first of `forEach` and `matrix`; a second one is reported with the locations
  /// of both.
  private mutating func mayFanOut(
    by key: StepKey, _ node: JSONNode, _ draft: inout ActionDraft
  ) -> Bool {
    guard let (first, place) = draft.rest?.fanOut else {
      draft.withRest { $0.fanOut = (key, node) }
      return true
    }
    // The JSON reader has already reported a repeated key.
    if first != key {
      report(
        .control(.bothFanOuts(first.rawValue, key.rawValue)), at: node,
        related: ("\"\(first.rawValue)\" is here", place))
    }
    return false
  }

  /// Reads the keys of an action, except those of commands and the members of groups.
  mutating func takeRest(
    _ key: StepKey, _ member: JSONMember, into draft: inout ActionDraft
  ) {
    let value = member.value
    switch key {
    case .maxParallel:
      draft.placedKeys.append((key, member.key))
      draft.maxParallel = maxParallel(value)
    case .join:
      draft.placedKeys.append((key, member.key))
      if let join = join(value) { draft.withRest { $0.join = (join, value) } }
    case .with:
      draft.placedKeys.append((key, member.key))
      let parameters = parameters(value)
      draft.withRest { $0.parameters = parameters }
    case .wait:
      begin(.wait, member.key, in: &draft)
      let waiting = waiting(value)
      draft.withRest { $0.waiting = waiting }
    case .approve:
      begin(.approve, member.key, in: &draft)
      let approval = approval(value)
      draft.withRest { $0.approval = approval }
    case .workflow:
      begin(.workflow, member.key, in: &draft)
      let nested = nestedWorkflow(value)
      draft.withRest { $0.nested = nested }
    case .use:
      begin(.use, member.key, in: &draft)
      let call = actionCall(value)
      draft.withRest { $0.called = call }
    case .http:
      begin(.http, member.key, in: &draft)
      let request = httpCall(value)
      draft.withRest { $0.request = request }
    default: break
    }
  }

  /// Reads an expression, bare or as `${{ … }}`. It is checked once the whole file is known.
  mutating func condition(_ node: JSONNode, _ field: Field, at site: TextSite) -> Condition? {
    if node.kind == .bool { return Condition(node.sourceText, place: node.range) }
    guard let text = node.stringValue else {
      reportType(
        of: node, field, wanted: "a condition", help: "write an expression such as \"success()\"")
      return nil
    }
    return bareExpression(text, node, field, at: site, wanted: "a condition")
  }

  mutating func bareExpression(
    _ text: String, _ node: JSONNode, _ field: Field, at site: TextSite, wanted: String
  ) -> Condition? {
    guard !text.isEmpty else {
      report(.control(.noCondition(path: path(field), wanted: wanted)), at: node)
      return nil
    }
    texts.places.append(TextPlace(site, at: node.range))
    return Condition(text, place: node.range)
  }

  /// The text in place of a whole value; `nil` if it contains no expression.
  ///
  /// Whether it is exactly one expression is checked once the whole file is known.
  mutating func wholeExpression(_ node: JSONNode, at site: TextSite) -> Condition? {
    guard node.kind == .string, mayHaveExpression(node), let text = node.stringValue,
      text.hasExpression
    else { return nil }
    texts.places.append(TextPlace(site, at: node.range))
    return Condition(text, place: node.range)
  }

  mutating func join(_ node: JSONNode) -> StepGroup.Join? {
    let field = Field("join")
    let wanted = "\"all\" or { \"atLeast\": 1 }"
    switch node.kind {
    case .string:
      guard let word = text(node, field) else { return nil }
      if word == "all" { return .all }
      report(
        .unknownWord(
          path: path(field), word: word, wanted: wanted, nearest: nil,
          help: "a group that is over with its first success is a \"race\""), at: node)
      return nil
    case .object: return joinOfSome(node, field)
    default:
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .number ? "write { \"atLeast\": \(shortened(node.sourceText)) }" : nil)
      return nil
    }
  }

  private mutating func joinOfSome(_ node: JSONNode, _ field: Field) -> StepGroup.Join? {
    var wanted: Int?
    var isMissing = true
    for member in node.members {
      guard let _: JoinKey = key(of: member, in: .join) else {
        isMissing = isMissing && isIgnored(member.key)
        continue
      }
      isMissing = false
      wanted = integer(member.value, field.part("atLeast"), in: ValueRule.successesOfJoin)
    }
    if isMissing {
      report(
        .control(
          .missingKey(path: path(field), key: "atLeast", example: "{ \"atLeast\": 1 }")), at: node)
    }
    return wanted.map(StepGroup.Join.atLeast)
  }
}
