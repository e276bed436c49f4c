import WeftJSON

/// `use`: an action of the embedding program. Like a nested workflow, it takes its parameters from `with`.
extension DecodingPass {
  mutating func actionCall(_ node: JSONNode) -> ActionCall? {
    let field = Field("use")
    let wanted = "the name of an action"
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .object ? "what it is given is said by \"with\" beside it" : nil)
      return nil
    }
    guard let text = filledText(node, field, wanted: wanted) else { return nil }
    if let fault = ActionName.fault(in: text) {
      report(.control(.invalidActionName(text, fault: fault)), at: node)
    }
    return ActionName(text).map { ActionCall($0, place: node.range) }
  }
}
