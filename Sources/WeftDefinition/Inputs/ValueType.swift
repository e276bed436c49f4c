public import WeftJSON
package import WeftPatterns
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
  /// The knowledge about the texts that a declaration allows.
  package init(of schema: ValueSchema) {
    let listed = schema.constant.map { [$0] } ?? schema.allowed
    if !listed.isEmpty {
      self = ValueText.listed.union(Self.common(listed.map { Self(of: $0) }))
    } else {
      self = Self.common(schema.types.map { Self(of: $0, schema) })
    }
  }

  /// The knowledge about a value that is one of these.
  package static func common(_ alternatives: [ValueText]) -> ValueText {
    alternatives.dropFirst().reduce(alternatives.first ?? .any) { $0.intersection($1) }
  }

  private init(of value: JSONValue) {
    self =
      switch value {
      case .string(let text): Self(of: text)
      case .number(let number) where number.isWhole: .integer
      case .bool: .name
      case .number, .null, .array, .object: .any
      }
  }

  /// The knowledge about one text.
  package init(of text: String) {
    self = .any
    if TextLanguage.word.contains(text) { insert(.word) }
    if TextLanguage.name.contains(text) { formUnion(.name) }
    if TextLanguage.integer.contains(text) { formUnion(.integer) }
  }

  private init(of type: ValueType, _ schema: ValueSchema) {
    switch type {
    case .integer: self = .integer
    case .number: self = .listed
    case .boolean: self = [.listed, .name]
    case .string:
      self = .any
      guard let pattern = schema.text.pattern else { return }
      if pattern.isConfined(to: .word) { insert(.word) }
      if pattern.isConfined(to: .name) { formUnion(.name) }
      if pattern.isConfined(to: .integer) { formUnion(.integer) }
    case .array, .object, .null: self = .any
    }
  }
}

extension TextLanguage {
  private static let letters = Set(
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-".unicodeScalars)

  /// The texts of ``ValueText/word``.
  package static let word = undashed(letters.union(",:/@+=".unicodeScalars))
  /// The texts of ``ValueText/name``.
  package static let name = undashed(letters)

  /// Texts of an alphabet that do not begin with a dash.
  private static func undashed(_ alphabet: Set<Unicode.Scalar>) -> TextLanguage {
    TextLanguage(alphabet: alphabet, ends: [0, 1]) { state, scalar in
      state == 0 && scalar == "-" ? nil : 1
    }
  }

  /// The texts of ``ValueText/integer``.
  package static let integer = TextLanguage(
    alphabet: Set("-0123456789".unicodeScalars), ends: [2, 3]
  ) { state, scalar in
    switch (state, scalar) {
    case (0, "-"): 1
    case (_, "-"), (2, _): nil
    case (0, "0"), (1, "0"): 2
    default: 3
    }
  }
}
