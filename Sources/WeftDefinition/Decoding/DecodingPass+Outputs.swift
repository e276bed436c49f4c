import WeftDiagnostics
import WeftJSON

/// `outputs` of a step, a group or the workflow.
extension DecodingPass {
  mutating func outputs(_ node: JSONNode) -> [OutputDeclaration] {
    guard node.kind == .object else {
      reportType(
        of: node, Field("outputs"), wanted: "an object of names and values",
        help: "write { \"version\": \"${{ self.stdout }}\" }")
      return []
    }
    var outputs: [OutputDeclaration] = []
    for member in node.members {
      let output = output(member)
      // The JSON reader has already reported a repeated name.
      if let output, !outputs.contains(where: { $0.name == output.name }) { outputs.append(output) }
    }
    return outputs
  }

  private mutating func output(_ member: JSONMember) -> OutputDeclaration? {
    let name = member.key.stringValue ?? ""
    if let fault = StepID.fault(in: name) {
      report(.schema(.invalidName(name, fault: fault)), at: member.key)
      return nil
    }
    var output = OutputDeclaration(name, value: nil, place: member.key.range)
    let field = Field("outputs", member: member.key)
    if member.value.kind == .string {
      output.value = text(member.value, field, at: .output(name)) ?? ""
      return output
    }
    guard member.value.kind == .object else {
      reportType(
        of: member.value, field,
        wanted: "a text with an expression, or an object with \"value\", \"type\" or both",
        help: "write { \"type\": \"string\" } for what the step writes into $WEFT_OUTPUT")
      return nil
    }
    let declaration = declaration(member.value, path(field), of: .output)
    if declaration.schema != ValueSchema() { output.schema = declaration.schema }
    output.isSecret = declaration.isSecret
    if let value = declaration.value {
      output.value = text(value, field, at: .output(name)) ?? ""
    }
    return output
  }
}
