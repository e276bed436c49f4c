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
