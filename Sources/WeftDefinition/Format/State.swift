public import WeftDiagnostics
public import WeftJSON

/// A value that is kept between the runs of a workflow: read as `state.NAME`, replaced when a run has succeeded.
public struct StateDeclaration: Sendable, Hashable {
  public var name: InputName
  public var schema: ValueSchema
  /// The value before the first run that has succeeded; a literal that fits the schema.
  public var initialValue: JSONValue
  /// A text with expressions, evaluated when the run has succeeded.
  public var value: String
  /// The location of its name; `nil` if it was built in Swift.
  public var place: Written<Diagnostic.Place?>

  public init(
    _ name: InputName, _ schema: ValueSchema = ValueSchema(), default initialValue: JSONValue,
    value: String, place: Diagnostic.Place? = nil
  ) {
    self.name = name
    self.schema = schema
    self.initialValue = initialValue
    self.value = value
    self.place = Written(place)
  }
}

/// `state` of the workflow.
extension DecodingPass {
  private static let stateExample: StaticString =
    "{ \"type\": \"string\", \"default\": \"\", \"value\": \"${{ steps.tag.stdout }}\" }"

  mutating func state(_ node: JSONNode, _ field: Field) -> [StateDeclaration]? {
    guard
      isObject(
        node, field, wanted: "an object of names and declarations",
        help: "write { \"last\": \(DecodingPass.stateExample) }")
    else { return nil }
    var state: [StateDeclaration] = []
    var names: Set<InputName> = []
    for member in node.members {
      let name = inputName(member.key, besides: &names)
      let own = field.member(member.key)
      let read = declaration(member.value, path(own), of: .state)
      var value: String?
      if let written = self.member("value", of: member.value), read.value != nil {
        let site = TextSite.state(member.key.stringValue ?? "")
        value = text(written.value, own.member(written.key), at: site)
      }
      let isComplete = checkKeys(of: member, own, read)
      guard let name else { continue }
      // An incomplete declaration has been reported; references to it are no consequence.
      state.append(
        StateDeclaration(
          name, isComplete && read.defaultValue != nil ? read.schema : ValueSchema(),
          default: read.defaultValue ?? .null,
          value: value ?? "", place: member.key.place))
    }
    return state
  }

  private mutating func checkKeys(
    of member: JSONMember, _ field: Field, _ read: ValueDeclaration
  ) -> Bool {
    guard member.value.kind == .object else { return false }
    var isComplete = true
    for key: StaticString in ["default", "value"]
    where self.member("\(key)", of: member.value) == nil {
      isComplete = false
      // An unknown key may be a misspelling.
      guard !read.hasUnknownKey else { continue }
      report(
        .missingKey(path: path(field), key: key, example: DecodingPass.stateExample),
        at: member.key)
    }
    return isComplete
  }
}
