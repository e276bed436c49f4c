import WeftDiagnostics
import WeftJSON

/// `inputs`, and `outputs` of a step, a group or the workflow.
extension DecodingPass {
  mutating func inputs(_ node: JSONNode, _ field: Field) -> [InputDeclaration]? {
    guard
      isObject(
        node, field, wanted: "an object of names and declarations",
        help: "write { \"version\": { \"type\": \"string\" } }")
    else { return nil }
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
    guard let text = declaredName(key), let name = InputName(text) else { return nil }
    // The JSON reader has already reported an exact repetition.
    let (isNew, first) = others.insert(name)
    if isNew { return name }
    if first.text != text { report(.equalNames(text, first: first.text), at: key) }
    return nil
  }

  mutating func outputs(_ node: JSONNode, _ field: Field) -> [OutputDeclaration]? {
    guard
      isObject(
        node, field, wanted: "an object of names and values",
        help: "write { \"version\": \"${{ self.stdout }}\" }")
    else { return nil }
    var outputs: [OutputDeclaration] = []
    for member in node.members {
      let output = output(member, field.member(member.key))
      // The JSON reader has already reported a repeated name.
      if let output, !outputs.contains(where: { $0.name == output.name }) { outputs.append(output) }
    }
    return outputs
  }

  private mutating func output(_ member: JSONMember, _ field: Field) -> OutputDeclaration? {
    guard let name = declaredName(member.key) else { return nil }
    var output = OutputDeclaration(name, value: nil, place: member.key.range)
    if member.value.kind == .string {
      output.value = text(member.value, field, at: .output(name)) ?? ""
      return output
    }
    guard
      isObject(
        member.value, field,
        wanted: "a string with an expression, or an object with \"value\", \"type\" or both",
        help: "write { \"type\": \"string\" } for a value that the step writes to $WEFT_OUTPUT")
    else { return nil }
    let declaration = declaration(member.value, path(field), of: .output)
    if declaration.schema != ValueSchema() { output.schema = declaration.schema }
    output.isSecret = declaration.isSecret
    if let value = declaration.value {
      output.value = text(value, field, at: .output(name)) ?? ""
    }
    return output
  }
}
