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
  /// The location of its name; `nil` if it was built in Swift.
  public var place: Written<Diagnostic.Place?>

  public init(
    _ name: InputName, _ schema: ValueSchema = ValueSchema(), default value: JSONValue? = nil,
    isSecret: Bool = false, place: Diagnostic.Place? = nil
  ) {
    self.name = name
    self.schema = schema
    self.defaultValue = value
    self.isSecret = isSecret
    self.place = Written(place)
  }

  public var isRequired: Bool { defaultValue == nil }
}

extension [InputDeclaration] {
  /// The inputs by name, regardless of case.
  package var byName: [InputName: InputDeclaration] {
    Dictionary(map { ($0.name, $0) }) { first, _ in first }
  }
}
