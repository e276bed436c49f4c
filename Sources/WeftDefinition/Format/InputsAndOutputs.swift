public import WeftDiagnostics
public import WeftJSON

/// An input of a workflow: its name, and the schema of its values.
public struct InputDeclaration: Sendable, Hashable {
  public var name: InputName
  public var schema: ValueSchema
  /// The value if none is given; `nil` if the input is required.
  public var defaultValue: JSONValue?
  /// Whether its value must not be shown.
  public var isSecret: Bool

  public init(
    _ name: InputName, _ schema: ValueSchema = ValueSchema(), default value: JSONValue? = nil,
    isSecret: Bool = false
  ) {
    self.name = name
    self.schema = schema
    self.defaultValue = value
    self.isSecret = isSecret
  }

  public var isRequired: Bool { defaultValue == nil }

  /// The bytes that a text may have if it is secret; `nil` if it is not.
  package var secretBytes: ClosedRange<Int>? { isSecret ? WorkflowLimits.secretBytes : nil }

  /// The limits for the default, which may be empty: then there is no secret.
  var defaultSecretBytes: ClosedRange<Int>? {
    isSecret ? WorkflowLimits.secretBytes(ofOptional: defaultValue) : nil
  }
}

extension [InputDeclaration] {
  /// The inputs by name, regardless of case.
  package var byName: [InputName: InputDeclaration] {
    Dictionary(map { ($0.name, $0) }) { first, _ in first }
  }
}

/// The name of an input: `[A-Za-z_][A-Za-z0-9_-]{0,254}`.
///
/// Names are case-insensitive, as they are in expressions.
public struct InputName: Sendable {
  /// The original spelling.
  public let text: String

  /// `nil` if `text` is not a valid name.
  public init?(_ text: String) {
    guard StepID.isValid(text.utf8) else { return nil }
    self.text = text
  }

  /// The spelling by which names are compared.
  package var folded: String { InputName.folded(text) }

  /// Folds ASCII letters only, because a name is ASCII.
  package static func folded(_ text: String) -> String {
    String(decoding: text.utf8.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }, as: UTF8.self)
  }
}

extension InputName: Hashable {
  public static func == (left: InputName, right: InputName) -> Bool { left.folded == right.folded }

  public func hash(into hasher: inout Hasher) { hasher.combine(folded) }
}

extension InputName: ExpressibleByStringLiteral {
  /// - Precondition: The literal is a valid name.
  public init(stringLiteral text: String) {
    guard let name = InputName(text) else {
      preconditionFailure("\"\(text)\" is not the name of an input: [A-Za-z_][A-Za-z0-9_-]{0,254}")
    }
    self = name
  }
}

extension InputName: CustomStringConvertible {
  public var description: String { text }
}

/// A declared output of a step, a group or a workflow.
public struct OutputDeclaration: Sendable, Hashable {
  public var name: String
  /// A text with expressions; `nil` if the step's program writes the value into the file
  /// `$WEFT_OUTPUT`.
  public var value: String?
  /// The schema of the value; `nil` if any value is allowed.
  public var schema: ValueSchema?
  /// Whether it is masked wherever it is shown, and never recorded.
  public var isSecret: Bool
  /// The name, with its quotes.
  public var place: Written<SourceRange?>

  public init(
    _ name: String, value: String?, schema: ValueSchema? = nil, isSecret: Bool = false,
    place: SourceRange? = nil
  ) {
    self.name = name
    self.value = value
    self.schema = schema
    self.isSecret = isSecret
    self.place = Written(place)
  }
}

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
          isSecret: declaration.isSecret))
    }
    return inputs
  }

  mutating func inputName(
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
