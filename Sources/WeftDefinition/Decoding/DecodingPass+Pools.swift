import WeftDiagnostics
import WeftJSON

/// `pools`, and `pool`, which takes slots from them.
extension DecodingPass {
  mutating func pools(_ node: JSONNode) -> [Pool] {
    guard node.kind == .object else {
      reportType(
        of: node, Field("pools"), wanted: "an object of names and slots",
        help: "write { \"db\": 4 }")
      return []
    }
    var pools: [Pool] = []
    for member in node.members {
      guard let name = poolName(member.key) else { continue }
      guard let pool = pool(name, member), !pools.contains(where: { $0.name == name }) else {
        continue
      }
      pools.append(pool)
    }
    return pools
  }

  private mutating func pool(_ name: String, _ member: JSONMember) -> Pool? {
    let node = member.value
    let field = Field("pools", member: member.key)
    guard node.kind == .object else {
      return slots(node, field).map { Pool(name, slots: $0, place: member.key.range) }
    }
    var count: Int?
    var rate: Rate?
    var isMissing = true
    for inner in node.members {
      guard let key: PoolKey = key(of: inner, in: .pool) else {
        isMissing = isMissing && isIgnored(inner.key)
        continue
      }
      switch key {
      case .slots:
        isMissing = false
        count = slots(inner.value, field.part("slots"))
      case .rate: rate = self.rate(inner.value, field.part("rate"))
      }
    }
    if isMissing {
      report(
        .control(
          .missingKey(
            path: path(field), key: "slots", example: "{ \"slots\": 4, \"rate\": \"30/1m\" }")),
        at: node)
    }
    return count.map { Pool(name, slots: $0, rate: rate, place: member.key.range) }
  }

  private mutating func rate(_ node: JSONNode, _ field: Field) -> Rate? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "a rate like \"30/1m\"",
        help: "write how many, a slash, and the time in which")
      return nil
    }
    guard let text = text(node, field) else { return nil }
    do {
      return try Rate(text)
    } catch {
      report(.control(.invalidRate(path: path(field), text: text, fault: error)), at: node)
      return nil
    }
  }

  mutating func poolRequests(_ node: JSONNode) -> [PoolRequest] {
    let field = Field("pool")
    switch node.kind {
    case .string:
      guard let name = filledText(node, field, wanted: "the name of a pool") else { return [] }
      guard let fault = StepID.fault(in: name) else {
        return [PoolRequest(name, place: node.range)]
      }
      report(.schema(.invalidName(name, fault: fault)), at: node)
      return []
    case .object: return weightedRequests(node, field)
    default:
      reportType(
        of: node, field, wanted: "the name of a pool, or an object of names and slots",
        help: node.kind == .array ? "write { \"db\": 1, \"cpu\": 2 }" : nil)
      return []
    }
  }

  private mutating func weightedRequests(_ node: JSONNode, _ field: Field) -> [PoolRequest] {
    if node.members.isEmpty {
      report(.empty(path: path(field), wanted: "at least one pool"), at: node)
    }
    var requests: [PoolRequest] = []
    for member in node.members {
      guard let name = poolName(member.key),
        let slots = slots(member.value, field.member(member.key)),
        !requests.contains(where: { $0.pool == name })
      else { continue }
      requests.append(PoolRequest(name, slots: slots, place: member.key.range))
    }
    return requests
  }

  private mutating func poolName(_ key: JSONNode) -> String? {
    let name = key.stringValue ?? ""
    guard let fault = StepID.fault(in: name) else { return name }
    report(.schema(.invalidName(name, fault: fault)), at: key)
    return nil
  }

  private mutating func slots(_ node: JSONNode, _ field: Field) -> Int? {
    integer(node, field, in: ValueRule.slots)
  }
}
