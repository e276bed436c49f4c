import WeftJSON

/// `concurrency`: a key, or an object of a key and a policy.
extension DecodingPass {
  mutating func concurrency(_ node: JSONNode) -> Concurrency? {
    let field = Field("concurrency")
    switch node.kind {
    case .string: return concurrencyKey(node, field).map { Concurrency(key: $0) }
    case .object: break
    default:
      reportType(
        of: node, field, wanted: "a text, or { \"key\": …, \"policy\": … }",
        help: "write what runs have in common that are to be kept apart, such as \"deploy\"")
      return nil
    }
    var key: String?
    var policy = Concurrency.Policy.wait
    var isMissing = true
    for member in node.members {
      guard let name: ConcurrencyKey = self.key(of: member, in: .concurrency) else {
        isMissing = isMissing && isIgnored(member.key)
        continue
      }
      switch name {
      case .key:
        isMissing = false
        key = concurrencyKey(member.value, field.part("key"))
      case .policy:
        policy =
          chosen(
            member.value, field.part("policy"),
            wanted: "\"wait\", \"refuse\" or \"cancelPrevious\"") ?? policy
      }
    }
    if isMissing {
      report(
        .control(
          .missingKey(
            path: path(field), key: "key",
            example: "{ \"key\": \"deploy\", \"policy\": \"wait\" }")), at: node)
    }
    return key.map { Concurrency(key: $0, policy: policy) }
  }

  private mutating func concurrencyKey(_ node: JSONNode, _ field: Field) -> String? {
    filledText(
      node, field, at: .concurrencyKey, wanted: "what runs have in common that are kept apart")
  }
}
