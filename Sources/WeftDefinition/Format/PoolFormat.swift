import WeftDiagnostics
import WeftJSON

struct PoolDraft: FormatObject {
  var slots: Int?
  var rate: Rate?

  static let format = ObjectFormat<PoolDraft>("a pool") {
    FormatKey(
      "slots", .integer(ValueRule.slots), "Slots",
      synonyms: "size capacity limit max count", required: "{ \"slots\": 4, \"rate\": \"30/1m\" }"
    ) { $0.slots = $1 }
    FormatKey(
      "rate", ValueFormat { $0.rate($1, $2) }, "Rate",
      "The number of slots that may be taken in a period.",
      schema: #"{"$ref": "rate", "examples": ["30/1m"]}"#, synonyms: "rateLimit throttle"
    ) { $0.rate = $1 }
  }
}

/// `pools`, and `pool`, which takes slots from them.
extension DecodingPass {
  mutating func pools(_ node: JSONNode, _ field: Field) -> [Pool]? {
    guard
      isObject(
        node, field, wanted: "an object of names and slots", help: "write { \"db\": 4 }")
    else { return nil }
    var pools: [Pool] = []
    for member in node.members {
      guard let name = declaredName(member.key),
        let pool = pool(name, member, field.member(member.key)),
        !pools.contains(where: { $0.name == name })
      else { continue }
      pools.append(pool)
    }
    return pools
  }

  private mutating func pool(_ name: String, _ member: JSONMember, _ field: Field) -> Pool? {
    var draft = PoolDraft()
    if member.value.kind == .object {
      read(member.value, field, into: &draft)
    } else {
      draft.slots = integer(member.value, field, in: ValueRule.slots)
    }
    return draft.slots.map { Pool(name, slots: $0, rate: draft.rate, place: member.key.range) }
  }

  fileprivate mutating func rate(_ node: JSONNode, _ field: Field) -> Rate? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a rate like \"30/1m\"",
        help: "write a count, a slash and a period")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try Rate(text)
    } catch {
      report(.invalidRate(path: path(field), text: text, fault: error), at: node)
      return nil
    }
  }

  mutating func poolRequests(_ node: JSONNode, _ field: Field) -> [PoolRequest]? {
    switch node.kind {
    case .string:
      guard let name = filledText(node, field, wanted: "the name of a pool"),
        declaredName(node) != nil
      else { return nil }
      return [PoolRequest(name, place: node.range)]
    case .object: return weightedRequests(node, field)
    default:
      reportType(
        of: node, field, wanted: "the name of a pool, or an object of names and slots",
        help: node.kind == .array ? "write { \"db\": 1, \"cpu\": 2 }" : nil)
      return nil
    }
  }

  private mutating func weightedRequests(_ node: JSONNode, _ field: Field) -> [PoolRequest] {
    if node.members.isEmpty {
      report(.empty(path: path(field), wanted: "at least one pool"), at: node)
    }
    var requests: [PoolRequest] = []
    for member in node.members {
      guard let name = declaredName(member.key),
        let slots = integer(member.value, field.member(member.key), in: ValueRule.slots),
        !requests.contains(where: { $0.pool == name })
      else { continue }
      requests.append(PoolRequest(name, slots: slots, place: member.key.range))
    }
    return requests
  }

  /// A name that follows the rule for ids; `nil` if it does not, which is reported.
  mutating func declaredName(_ node: JSONNode) -> String? {
    let name = node.stringValue ?? ""
    guard let fault = StepID.fault(in: name) else { return name }
    report(.invalidName(name, fault: fault), at: node)
    return nil
  }
}

extension Diagnostic {
  static func invalidRate(path: String, text: String, fault: Rate.ParseError) -> Diagnostic {
    Diagnostic(.invalidRate, "\(path) is \(quoted(text)), \(fault.expectation)", help: fault.help)
  }

  static func invalidName(_ name: String, fault: StepID.ParseError) -> Diagnostic {
    Diagnostic(
      .invalidID, "the name \(quoted(name)) \(fault.complaint)",
      help:
        "a name has at most \(StepID.longest) characters: letters, digits, \"_\" and \"-\"; it "
        + "begins with a letter or \"_\"")
  }
}
