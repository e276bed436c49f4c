import WeftDiagnostics
import WeftJSON

/// `workflow` and `with`: a nested workflow and its parameters.
extension DecodingPass {
  /// Reads the path alone; the caller of the decoder reads the file, because it knows where this one is.
  mutating func nestedWorkflow(_ node: JSONNode) -> NestedWorkflow? {
    let field = Field("workflow")
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "the path of a workflow file",
        help: node.kind == .object ? "its inputs are given by \"with\" beside it" : nil)
      return nil
    }
    guard let path = filledText(node, field, wanted: "the path of a workflow file") else {
      return nil
    }
    guard path.utf8.first != UInt8(ascii: "/") else {
      report(.control(.absolutePath(path: self.path(field), text: path)), at: node)
      return nil
    }
    namesOtherFiles = true
    return NestedWorkflow(path: path, place: node.range)
  }

  mutating func parameters(_ node: JSONNode) -> [Parameter] {
    guard node.kind == .object else {
      reportType(
        of: node, Field("with"), wanted: "an object of names and values",
        help: "write { \"version\": \"${{ inputs.version }}\" }")
      return []
    }
    var parameters: [Parameter] = []
    var names: [String: JSONNode] = [:]
    for member in node.members {
      guard let name = name(member.key, in: &names), let value = parameter(name, member) else {
        continue
      }
      parameters.append(Parameter(name, value, place: member.key.range))
    }
    return parameters
  }

  private mutating func parameter(_ name: String, _ member: JSONMember) -> Parameter.Value? {
    let node = member.value
    switch node.kind {
    case .unreadable: return nil
    case .string:
      let text = text(node, Field("with", member: member.key), at: .parameter(name)) ?? ""
      return text.hasExpression ? .text(text) : .value(.string(text))
    default:
      if let inner = node.firstExpression {
        let path = path(Field("with", member: member.key))
        report(.control(.expressionInside(path: path)), at: inner)
        return nil
      }
      return .value(JSONValue(node))
    }
  }

  /// A name by which expressions refer to something, in any case; `nil` if it is not a valid name, or
  /// is taken.
  mutating func name(_ key: JSONNode, in names: inout [String: JSONNode]) -> String? {
    let text = key.stringValue ?? ""
    if let fault = StepID.fault(in: text) {
      report(.schema(.invalidName(text, fault: fault)), at: key)
      return nil
    }
    guard let first = names.updateValue(key, forKey: InputName.folded(text)) else { return text }
    // The JSON reader has already reported an exact repetition.
    if !first.isString(equalTo: text) {
      report(
        .equalNames(text, first: first.stringValue ?? ""), at: key,
        related: ("the first is here", first))
    }
    return nil
  }
}

extension JSONNode {
  /// The first string in the value, itself included, that contains an expression.
  var firstExpression: JSONNode? {
    switch kind {
    case .string:
      guard isEscaped || withContent(\.hasDollar) else { return nil }
      return stringValue?.hasExpression == true ? self : nil
    case .array:
      for element in elements { if let found = element.firstExpression { return found } }
    case .object:
      for member in members { if let found = member.value.firstExpression { return found } }
    case .null, .bool, .number, .unreadable: break
    }
    return nil
  }
}
