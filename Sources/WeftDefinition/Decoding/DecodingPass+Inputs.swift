import WeftDiagnostics
import WeftJSON

/// The declarations in `inputs`.
extension DecodingPass {
  mutating func inputs(_ node: JSONNode) -> [InputDeclaration] {
    guard node.kind == .object else {
      reportType(
        of: node, "inputs", wanted: "an object of names and declarations",
        help: "write { \"version\": { \"type\": \"string\" } }")
      return []
    }
    var inputs: [InputDeclaration] = []
    var names: Set<InputName> = []
    for member in node.members {
      let name = inputName(member.key, besides: &names)
      let text = member.key.stringValue ?? ""
      let path = DecodingPass.elided("inputs" + ValuePath([.property(text)]).description)
      let declaration = declaration(member.value, path, of: .input)
      guard let name else { continue }
      inputs.append(
        InputDeclaration(
          name, declaration.schema, default: declaration.defaultValue,
          isSecret: declaration.isSecret, place: member.key.place))
    }
    return inputs
  }

  private mutating func inputName(
    _ key: JSONNode, besides others: inout Set<InputName>
  ) -> InputName? {
    let text = key.stringValue ?? ""
    guard let name = InputName(text) else {
      report(
        .schema(.invalidName(text, fault: StepID.fault(in: text) ?? .empty)), at: key)
      return nil
    }
    // The JSON reader has already reported an exact repetition.
    let (isNew, first) = others.insert(name)
    if isNew { return name }
    if first.text != text { report(.schema(.equalNames(text, first: first.text)), at: key) }
    return nil
  }
}
