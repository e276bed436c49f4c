public import WeftJSON
import WeftPatterns
package import WeftShell

/// The types of JSON Schema. A value may have two of them: a whole number is an `integer` and a `number`.
public enum ValueType: String, Sendable, Hashable, CaseIterable {
  case string, number, integer, boolean, array, object, null

  /// Whether a value is of this type. `5.0` is an integer, because its value is one.
  public func holds(for value: JSONValue) -> Bool {
    switch (self, value) {
    case (.string, .string), (.number, .number), (.boolean, .bool), (.array, .array),
      (.object, .object), (.null, .null):
      true
    case (.integer, .number(let number)): number.isWhole
    case (.string, _), (.number, _), (.integer, _), (.boolean, _), (.array, _), (.object, _),
      (.null, _):
      false
    }
  }

  /// The type of a value; `number` for every number.
  package init(of value: JSONValue) {
    switch value {
    case .null: self = .null
    case .bool: self = .boolean
    case .number: self = .number
    case .string: self = .string
    case .array: self = .array
    case .object: self = .object
    }
  }

  /// The expectation in a message: `a string`, `true or false`.
  var expectation: String {
    switch self {
    case .string: "a string"
    case .number: "a number"
    case .integer: "a whole number"
    case .boolean: "true or false"
    case .array: "an array"
    case .object: "an object"
    case .null: "null"
    }
  }
}

extension ValueText {
  /// The texts that the declaration of an input allows.
  package init(of schema: ValueSchema) {
    let plain: Set<ValueType> = [.integer, .number, .boolean]
    if schema.constant != nil || !schema.allowed.isEmpty {
      self = .listed
    } else if !schema.types.isEmpty, schema.types.allSatisfy(plain.contains) {
      self = .listed
    } else if schema.types.allSatisfy({ plain.contains($0) || $0 == .string }),
      !schema.types.isEmpty,
      schema.text.pattern?.confines(to: Self.signs, first: Self.firstSigns) == true
    {
      self = .word
    } else {
      self = .any
    }
  }

  private static let firstSigns = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:/@+=".unicodeScalars)
  private static let signs = firstSigns.union(["-"])
}
