public import WeftDiagnostics
public import WeftJSON

/// A value for an input of another workflow, or for an action.
public struct Parameter: Sendable, Hashable {
  public enum Value: Sendable, Hashable {
    /// Data that is passed as it is: `${{` in it is not evaluated.
    case value(JSONValue)
    /// A text with expressions.
    case text(String)
  }

  public var name: String
  public var value: Value
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(_ name: String, _ value: Value, place: SourceRange? = nil) {
    self.name = name
    self.value = value
    self.place = Written(place)
  }
}

extension [Parameter] {
  /// Visits the texts that may contain expressions.
  func visitTexts(_ visit: (TextSite, String, SourceRange?) -> Void) {
    for parameter in self {
      if case .text(let text) = parameter.value {
        visit(.parameter(parameter.name), text, nil)
      }
    }
  }

  func check(_ values: inout BuiltValues) {
    values.checkRepetitions("with", map { ($0.name, $0.name) })
  }

  /// A remark for plans: their names.
  var remarks: [String] { isEmpty ? [] : ["with " + shortList(map(\.name))] }
}

extension DecodingPass {
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
