public import WeftDiagnostics
public import WeftJSON

/// An input of a workflow: its name, and what may be given for it.
public struct InputDeclaration: Sendable, Hashable {
  public var name: InputName
  public var schema: ValueSchema
  /// What it is when nothing is given; without one something must be given.
  public var defaultValue: JSONValue?
  /// Whether nothing of its value may be shown.
  public var isSecret: Bool
  /// Where its name stands; `nil` when it was built in Swift.
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
  /// The inputs by their names, which are found in upper or lower case.
  package var byName: [InputName: InputDeclaration] {
    Dictionary(map { ($0.name, $0) }) { first, _ in first }
  }
}
