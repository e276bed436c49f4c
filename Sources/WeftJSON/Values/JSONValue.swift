/// A JSON value that is independent of any text.
///
/// Strings and keys compare and hash by Unicode scalars, not by canonical equivalence as `String` does: `é` as one
/// scalar and `é` as two are different values, as they are in JSON.
public enum JSONValue: Sendable {
  case null
  case bool(Bool)
  case number(JSONNumber)
  case string(String)
  case array([JSONValue])
  case object(JSONObject)
}

extension JSONValue: Hashable {
  public static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.bool(let left), .bool(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)): left == right
    case (.null, _), (.bool, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }

  public func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .bool(let value): hasher.combine(value)
    case .number(let value): hasher.combine(value)
    case .string(let value): hasher.combine(ScalarString(value))
    case .array(let elements): hasher.combine(elements)
    case .object(let members): hasher.combine(members)
    }
  }
}

extension JSONValue {
  /// Copies a value out of its text. If a key is repeated, the last value counts; unreadable values become `null`.
  package init(_ node: JSONNode) {
    switch node.kind {
    case .null, .unreadable: self = .null
    case .bool: self = .bool(node.boolValue ?? false)
    case .number: self = node.numberValue.map(JSONValue.number) ?? .null
    case .string: self = .string(node.stringValue ?? "")
    case .array: self = .array(node.elements.map(JSONValue.init))
    case .object:
      var object = JSONObject()
      for member in node.members {
        object[member.key.stringValue ?? ""] = JSONValue(member.value)
      }
      self = .object(object)
    }
  }

  /// A whole number.
  public static func int(_ value: some BinaryInteger) -> JSONValue { .number(JSONNumber(value)) }

  /// A member of an object; `nil` for other kinds.
  public subscript(key: String) -> JSONValue? {
    guard case .object(let object) = self else { return nil }
    return object[key]
  }

  /// An element of an array; `nil` outside its bounds and for other kinds.
  public subscript(index: Int) -> JSONValue? {
    guard case .array(let elements) = self, elements.indices.contains(index) else { return nil }
    return elements[index]
  }
}

extension JSONValue: CustomStringConvertible {
  /// The value as compact JSON.
  public var description: String {
    var writer = JSONWriter()
    writer.value(self)
    return writer.text
  }
}

extension JSONValue: ExpressibleByNilLiteral, ExpressibleByBooleanLiteral,
  ExpressibleByIntegerLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
  ExpressibleByDictionaryLiteral, ExpressibleByFloatLiteral
{
  public init(nilLiteral: ()) { self = .null }
  public init(booleanLiteral value: Bool) { self = .bool(value) }
  public init(integerLiteral value: Int) { self = .int(value) }
  public init(stringLiteral value: String) { self = .string(value) }
  public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }

  /// Traps on a literal that is not finite, a programming error.
  public init(floatLiteral value: Double) {
    guard let number = JSONNumber(value) else { preconditionFailure("not finite: \(value)") }
    self = .number(number)
  }

  /// Creates an object. If a key is repeated, the last value counts.
  public init(dictionaryLiteral members: (String, JSONValue)...) {
    self = .object(JSONObject(members))
  }
}
