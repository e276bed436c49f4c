import WeftDiagnostics
import WeftJSON

/// `workflow` and `use`, and `with`, which gives them their parameters.
extension DecodingPass {
  /// An action of the embedding program.
  mutating func actionCall(_ node: JSONNode, _ field: Field) -> ActionCall? {
    let wanted = "the name of an action"
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: wanted,
        help: node.kind == .object ? "pass values to it with \"with\" next to it" : nil)
      return nil
    }
    guard let text = filledText(node, field, wanted: wanted) else { return nil }
    if let fault = ActionName.fault(in: text) {
      report(.invalidActionName(text, fault: fault), at: node)
    }
    return ActionName(text).map { ActionCall($0, place: node.range) }
  }

  /// Reads the path alone; the caller of the decoder reads the file, because it knows where this one is.
  mutating func nestedWorkflow(_ node: JSONNode, _ field: Field) -> NestedWorkflow? {
    guard node.kind == .string else {
      reportType(
        of: node, field, wanted: "the path of a workflow file",
        help: node.kind == .object ? "pass its inputs with \"with\" next to it" : nil)
      return nil
    }
    guard let path = filledText(node, field, wanted: "the path of a workflow file") else {
      return nil
    }
    guard path.utf8.first != UInt8(ascii: "/") else {
      report(.absolutePath(path: self.path(field), text: path), at: node)
      return nil
    }
    namesOtherFiles = true
    return NestedWorkflow(path: path, place: node.range)
  }

  mutating func parameters(_ node: JSONNode, _ field: Field) -> [Parameter]? {
    guard
      isObject(
        node, field, wanted: "an object of names and values",
        help: "write { \"version\": \"${{ inputs.version }}\" }")
    else { return nil }
    var parameters: [Parameter] = []
    var names: [String: JSONNode] = [:]
    for member in node.members {
      guard let name = name(member.key, in: &names),
        let value = parameter(name, member.value, field.member(member.key))
      else { continue }
      parameters.append(Parameter(name, value, place: member.key.range))
    }
    return parameters
  }

  private mutating func parameter(
    _ name: String, _ node: JSONNode, _ field: Field
  ) -> Parameter.Value? {
    switch node.kind {
    case .unreadable: return nil
    case .string:
      let text = text(node, field, at: .parameter(name)) ?? ""
      return text.hasExpression ? .text(text) : .value(.string(text))
    default:
      if let inner = node.firstExpression {
        report(.expressionInside(path: path(field)), at: inner)
        return nil
      }
      return .value(JSONValue(node))
    }
  }

  /// A name by which expressions refer to something, in any case; `nil` if it is not a valid name, or
  /// is taken.
  mutating func name(_ key: JSONNode, in names: inout [String: JSONNode]) -> String? {
    guard let text = declaredName(key) else { return nil }
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

extension Diagnostic {
  static func absolutePath(path: String, text: String) -> Diagnostic {
    Diagnostic(
      .absolutePath, "\(path) is the absolute path \(quoted(text)), expected a relative one",
      help: "it is relative to the file that names it")
  }

  static func invalidActionName(_ name: String, fault: StepID.ParseError) -> Diagnostic {
    Diagnostic(
      .invalidID, "the name \(quoted(name)) \(fault.complaint)",
      help: "an action name has at most \(StepID.longest) characters: letters, digits, \"_\", "
        + "\"-\" and \".\"; it begins with a letter or \"_\"")
  }
}
