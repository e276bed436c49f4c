/// The keys of a declaration: what JSON Schema has, and what Weft adds to the whole of one.
enum SchemaKey: String, CaseIterable {
  case type
  case `enum`, const
  case pattern, minLength, maxLength
  case minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf
  case items, minItems, maxItems, uniqueItems
  case properties, required, additionalProperties, minProperties, maxProperties
  case title, description
  // Of whole declarations only.
  case `default`, secret, value

  /// The types whose values it says something about; empty: of all.
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

/// The object that the keys of a declaration stand in.
enum SchemaOwner: Hashable, CaseIterable {
  /// An input as a whole.
  case input
  /// An output as a whole.
  case output
  /// What is inside of one.
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
