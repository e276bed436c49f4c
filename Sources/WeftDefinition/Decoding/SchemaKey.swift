/// The keys of a declaration: those of JSON Schema, and Weft's own for a whole declaration.
enum SchemaKey: String, CaseIterable {
  case type
  case `enum`, const
  case pattern, minLength, maxLength
  case minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
  case items, minItems, maxItems, uniqueItems
  case properties, required, additionalProperties, minProperties, maxProperties
  case title, description
  // Only in whole declarations.
  case `default`, secret, value

  /// The types whose values it restricts; empty for all types.
  var types: [ValueType] {
    switch self {
    case .pattern, .minLength, .maxLength: [.string]
    case .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum, .multipleOf: [.number, .integer]
    case .items, .minItems, .maxItems, .uniqueItems: [.array]
    case .properties, .required, .additionalProperties, .minProperties, .maxProperties: [.object]
    case .type, .enum, .const, .title, .description, .default, .secret, .value: []
    }
  }
}

/// The object that contains the keys of a declaration.
enum SchemaOwner: Hashable, CaseIterable {
  /// An input as a whole.
  case input
  /// An output as a whole.
  case output
  /// A schema inside an input or output.
  case part

  var noun: String {
    switch self {
    case .input: "an input"
    case .output: "an output"
    case .part: "the schema of a part"
    }
  }

  var keys: [SchemaKey] {
    switch self {
    case .input: SchemaKey.allCases.filter { $0 != .value }
    case .output: SchemaKey.allCases.filter { $0 != .default }
    case .part: SchemaKey.allCases.filter { ![.default, .secret, .value].contains($0) }
    }
  }
}
