import WeftDiagnostics
import WeftJSON

/// Checks of a declaration as a whole: rules that can never apply, or never be satisfied.
extension DecodingPass {
  /// - Parameter places: The nodes of its keys.
  mutating func check(_ schema: ValueSchema, _ path: String, _ places: [SchemaKey: JSONNode]) {
    checkTypes(schema, places)
    checkLimits(schema, places)
    checkRequired(schema.object, path, places[.required])
    checkValues(schema, path, places)
  }

  private mutating func checkTypes(_ schema: ValueSchema, _ places: [SchemaKey: JSONNode]) {
    guard !schema.types.isEmpty else { return }
    for key in SchemaKey.allCases {
      guard let place = places[key], !key.types.isEmpty,
        !key.types.contains(where: schema.types.contains),
        // A Boolean `required` was meant differently and has been reported.
        key != .required || JSONMember(key: place).value.kind != .bool
      else { continue }
      report(.schema(.keyOfOtherType(key, types: schema.types)), at: place)
    }
  }

  private mutating func checkLimits(_ schema: ValueSchema, _ places: [SchemaKey: JSONNode]) {
    let counts: [(SchemaKey, SchemaKey, ValueSchema.CountLimits)] = [
      (.minLength, .maxLength, schema.text.length), (.minItems, .maxItems, schema.array.count),
      (.minProperties, .maxProperties, schema.object.count),
    ]
    for (low, high, limits) in counts {
      guard let most = limits.most, limits.least > most, let place = places[high] else { continue }
      report(
        .schema(.crossedLimits(low, String(limits.least), high, String(most))), at: place)
    }
    let rules = schema.number
    checkLimits((.minimum, rules.minimum), (.maximum, rules.maximum), places) { $0 <= $1 }
    checkLimits((.minimum, rules.minimum), (.exclusiveMaximum, rules.exclusiveMaximum), places, <)
    checkLimits((.exclusiveMinimum, rules.exclusiveMinimum), (.maximum, rules.maximum), places, <)
    checkLimits(
      (.exclusiveMinimum, rules.exclusiveMinimum), (.exclusiveMaximum, rules.exclusiveMaximum),
      places, <)
  }

  private mutating func checkLimits(
    _ low: (key: SchemaKey, number: JSONNumber?), _ high: (key: SchemaKey, number: JSONNumber?),
    _ places: [SchemaKey: JSONNode], _ leavesRoom: (JSONNumber, JSONNumber) -> Bool
  ) {
    guard let least = low.number, let most = high.number, !leavesRoom(least, most),
      let place = places[high.key]
    else { return }
    report(
      .schema(
        .crossedLimits(low.key, shortened(least.text), high.key, shortened(most.text))), at: place)
  }

  private mutating func checkRequired(
    _ rules: ValueSchema.ObjectRules, _ path: String, _ place: JSONNode?
  ) {
    guard case .nothing = rules.additional, let place else { return }
    let known = rules.properties.map(\.name)
    for name in rules.required where rules.schema(of: name) == nil {
      let nearest = NearestName(known).nearest(to: name)
      report(
        .schema(.unknownRequired(path: path + ".required", name: name, nearest: nearest)), at: place
      )
    }
  }

  /// Checks the values that the declaration names against its other rules.
  private mutating func checkValues(
    _ schema: ValueSchema, _ path: String, _ places: [SchemaKey: JSONNode]
  ) {
    var rest = schema
    (rest.allowed, rest.constant) = ([], nil)
    for key in [SchemaKey.enum, .const] {
      guard let node = places[key].map({ JSONMember(key: $0).value }) else { continue }
      if key == .const {
        check(node, path + ".const", by: rest)
      } else {
        for (index, element) in node.elements.enumerated() {
          check(element, "\(path).enum[\(index)]", by: rest)
        }
      }
    }
  }

  /// Reports where a value of the file does not fit a schema.
  mutating func check(_ node: JSONNode, _ path: String, by schema: ValueSchema) {
    guard node.kind != .unreadable else { return }
    for fault in schema.faults(of: JSONValue(node)) {
      report(
        .schema(.unfitValue(message: fault.message(about: path), help: fault.help())),
        at: node.node(at: fault.path, ofName: fault.isAboutName).place)
    }
  }
}
