import WeftDiagnostics
import WeftJSON
import WeftPatterns

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
      guard let place = places[key], !key.rule.types.isEmpty,
        !key.rule.types.contains(where: schema.types.contains),
        // A Boolean `required` was meant differently and has been reported.
        key != .required || JSONMember(key: place).value.kind != .bool
      else { continue }
      report(.keyOfOtherType(key, types: schema.types), at: place)
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
        .crossedLimits(low, String(limits.least), high, String(most)), at: place)
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
      .crossedLimits(low.key, shortened(least.text), high.key, shortened(most.text)), at: place)
  }

  private mutating func checkRequired(
    _ rules: ValueSchema.ObjectRules, _ path: String, _ place: JSONNode?
  ) {
    guard case .nothing = rules.additional, let place else { return }
    let known = rules.properties.map(\.name)
    for name in rules.required where rules.schema(of: name) == nil {
      let nearest = NearestName(known).nearest(to: name)
      report(
        .unknownRequired(path: path + ".required", name: name, nearest: nearest), at: place
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
  ///
  /// - Returns: Whether it fits.
  @discardableResult
  mutating func check(
    _ node: JSONNode, _ path: String, by schema: ValueSchema,
    secretBytes: ClosedRange<Int>? = nil
  ) -> Bool {
    guard node.kind != .unreadable else { return true }
    let faults = schema.faults(of: JSONValue(node), secretBytes: secretBytes)
    for fault in faults {
      report(
        .unfitValue(message: fault.message(about: path), help: fault.help()),
        at: node.node(at: fault.path, ofName: fault.isAboutName).place)
    }
    return faults.isEmpty
  }
}

extension Diagnostic {
  static func keyOfOtherType(_ key: SchemaKey, types: [ValueType]) -> Diagnostic {
    Diagnostic(
      .misplacedKey,
      "\"\(key.rawValue)\" does not apply to \(listed(types.map(\.plural), conjunction: "or")), "
        + "only to \(key.rule.types[0].plural)",
      help: counterpart(of: key, for: types).map { "use \"\($0)\" instead" })
  }

  static func requiredFlag(path: String) -> Diagnostic {
    Diagnostic(
      .wrongType, "\(path) is a boolean, expected an array of property names",
      help:
        "an input is required unless it has a \"default\"; for an optional one, write "
        + "\"type\": [\"string\", \"null\"], \"default\": null")
  }

  static func crossedLimits(_ low: SchemaKey, _ least: String, _ high: SchemaKey, _ most: String)
    -> Diagnostic
  {
    Diagnostic(
      .emptyRange,
      "\"\(low.rawValue)\" is \(least) and \"\(high.rawValue)\" is \(most), so no value fits both")
  }

  static func notPositive(path: String, number: String) -> Diagnostic {
    Diagnostic(
      .numberOutOfRange, "\(path) is \(shortened(number)), expected a number greater than zero")
  }

  static func longDivisor(path: String, number: String) -> Diagnostic {
    Diagnostic(
      .numberOutOfRange,
      "\(path) is \(shortened(number)), expected at most \(JSONNumber.longestDivisor) "
        + "significant digits")
  }

  static func invalidPattern(path: String, fault: PatternError) -> Diagnostic {
    Diagnostic(.pattern, "\(path): \(fault.message)", help: fault.help)
  }

  static func unfitValue(message: String, help: String?) -> Diagnostic {
    Diagnostic(.unfitValue, message, help: help)
  }

  static func repeatedRequired(path: String, name: String) -> Diagnostic {
    Diagnostic(.repeatedValue, "\(path) is \(quoted(name)), which is already listed")
  }

  static func unknownRequired(path: String, name: String, nearest: String?) -> Diagnostic {
    Diagnostic(
      .emptyRange,
      "\(path) is \(quoted(name)), which is not one of the \"properties\", and "
        + "\"additionalProperties\" is false: no value fits",
      help: nearest.asSuggestion)
  }

  /// The equivalent key for one of the types, such as `minItems` for `minLength`.
  private static func counterpart(of key: SchemaKey, for types: [ValueType]) -> String? {
    let families: [[SchemaKey]] = [
      [.minLength, .minimum, .minItems, .minProperties],
      [.maxLength, .maximum, .maxItems, .maxProperties],
    ]
    let family = families.first { $0.contains(key) } ?? []
    return family.first { $0.rule.types.contains(where: types.contains) }?.rawValue
  }
}
