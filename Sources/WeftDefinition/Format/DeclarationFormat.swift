import WeftDiagnostics
import WeftJSON

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

/// A declaration as read: its schema, and the keys beside it.
struct ValueDeclaration {
  var schema = ValueSchema()
  var defaultValue: JSONValue?
  var isSecret = false
  /// The value of an output, for the caller to read.
  var value: JSONNode?
}

/// Declarations of values in JSON Schema.
extension DecodingPass {
  /// Reads the declaration of an input or an output; invalid parts are reported and dropped.
  ///
  /// - Parameters:
  ///   - path: Its JSON path, such as `inputs.version`.
  ///   - owner: The object that determines which keys are allowed.
  mutating func declaration(
    _ node: JSONNode, _ path: String, of owner: SchemaOwner
  ) -> ValueDeclaration {
    var declaration = ValueDeclaration()
    guard node.kind == .object else {
      reportType(
        of: node, path, wanted: "an object such as { \"type\": \"string\" }",
        help: declarationHelp(for: node))
      return declaration
    }
    var places: [SchemaKey: JSONNode] = [:]
    for member in node.members {
      guard let key = schemaKey(member, of: owner) else { continue }
      places[key] = member.key
      take(key, member.value, path + "." + key.rawValue, into: &declaration)
    }
    check(declaration.schema, path, places)
    if let value = node.member("default"), declaration.defaultValue != nil {
      check(value, path + ".default", by: declaration.schema)
    }
    return declaration
  }

  private func declarationHelp(for node: JSONNode) -> String? {
    guard let word = node.stringValue else { return nil }
    let type = ValueType(rawValue: word)?.rawValue ?? ValueType.nearest(to: word)
    return type.map { "write { \"type\": \"\($0)\" }" }
  }

  private mutating func schemaKey(_ member: JSONMember, of owner: SchemaOwner) -> SchemaKey? {
    let name = member.key.stringValue ?? ""
    if isIgnored(member.key) { return nil }
    if let known = SchemaKey(rawValue: name) {
      if owner.keys.contains(known) { return known }
      if owner == .part {
        report(.keyOfWholeDeclaration(name), at: member.key)
        return nil
      }
    }
    report(owner.problem(withUnknownKey: name), at: member.key)
    return nil
  }

  private mutating func take(
    _ key: SchemaKey, _ node: JSONNode, _ path: String, into declaration: inout ValueDeclaration
  ) {
    switch key {
    case .default: declaration.defaultValue = value(node, path)
    case .secret: declaration.isSecret = flag(node, path) ?? false
    case .value: declaration.value = node
    case .type: declaration.schema.types = types(node, path)
    case .enum: declaration.schema.allowed = allowedValues(node, path)
    case .const: declaration.schema.constant = node.kind == .unreadable ? nil : JSONValue(node)
    case .title: declaration.schema.title = plainText(node, path)
    case .description: declaration.schema.description = plainText(node, path)
    case .pattern, .minLength, .maxLength:
      take(key, node, path, into: &declaration.schema.text)
    case .minimum, .maximum, .exclusiveMinimum, .exclusiveMaximum, .multipleOf:
      take(key, node, path, into: &declaration.schema.number)
    case .items, .minItems, .maxItems, .uniqueItems:
      take(key, node, path, into: &declaration.schema.array)
    case .properties, .required, .additionalProperties, .minProperties, .maxProperties:
      take(key, node, path, into: &declaration.schema.object)
    }
  }

  // MARK: For all types

  private mutating func types(_ node: JSONNode, _ path: String) -> [ValueType] {
    switch node.kind {
    case .string: return type(node, path).map { [$0] } ?? []
    case .array where !node.elements.isEmpty:
      var types: [ValueType] = []
      for (index, element) in node.elements.enumerated() {
        guard let type = type(element, "\(path)[\(index)]") else { continue }
        guard !types.contains(type) else {
          report(.repeatedType(path: path, word: type.rawValue), at: element)
          continue
        }
        types.append(type)
      }
      return types
    case .array: report(.empty(path: path, wanted: "at least one type"), at: node)
    default: reportType(of: node, path, wanted: "a type, or an array of types")
    }
    return []
  }

  private mutating func type(_ node: JSONNode, _ path: String) -> ValueType? {
    guard let word = plainText(node, path) else { return nil }
    if let type = ValueType(rawValue: word) { return type }
    report(
      .unknownType(path: path, word: word, nearest: ValueType.nearest(to: word)), at: node)
    return nil
  }

  private mutating func allowedValues(_ node: JSONNode, _ path: String) -> [JSONValue] {
    guard node.kind == .array, !node.elements.isEmpty else {
      if node.kind == .array {
        report(.empty(path: path, wanted: "at least one allowed value"), at: node)
      } else {
        reportType(of: node, path, wanted: "an array of allowed values")
      }
      return []
    }
    var values: Set<JSONValue> = []
    return node.elements.enumerated().compactMap { index, element in
      guard element.kind != .unreadable else { return nil }
      let value = JSONValue(element)
      guard values.insert(value).inserted else {
        report(
          .repeatedEnum(path: "\(path)[\(index)]", noun: value.noun), at: element)
        return nil
      }
      return value
    }
  }

  /// A literal value; expressions in it are reported.
  private mutating func value(_ node: JSONNode, _ path: String) -> JSONValue? {
    guard node.kind != .unreadable else { return nil }
    if node.holdsExpression {
      report(.unboundValue(path: path), at: node)
      return nil
    }
    return JSONValue(node)
  }
}

extension SchemaOwner {
  fileprivate func problem(withUnknownKey name: String) -> Diagnostic {
    if ["$ref", "$dynamicRef", "$defs", "definitions"].contains(name) { return .reference(name) }
    let known = keys.map(\.rawValue)
    let other = SchemaOwner.elsewhere[name].flatMap { known.contains($0) ? $0 : nil }
    return .unknownSchemaKey(name, of: self, nearest: other ?? NearestName(known).nearest(to: name))
  }

  /// Names for the keys in CI services and other schema languages.
  private static let elsewhere: [String: String] = [
    "options": "enum", "choices": "enum", "values": "enum", "oneOf": "enum", "anyOf": "enum",
    "regex": "pattern", "regexp": "pattern", "match": "pattern", "format": "pattern",
    "min": "minimum", "max": "maximum", "value": "default", "fallback": "default",
    "optional": "default", "sensitive": "secret", "password": "secret", "masked": "secret",
    "writeOnly": "secret", "step": "multipleOf", "elements": "items", "prefixItems": "items",
    "fields": "properties", "help": "description", "summary": "description", "doc": "description",
    "label": "title", "name": "title",
  ]
}

extension Diagnostic {
  static func unknownSchemaKey(_ key: String, of owner: SchemaOwner, nearest: String?) -> Diagnostic
  {
    Diagnostic(
      .unknownKey, "\(quoted(key)) is not a key of \(owner.noun)",
      help: nearest.asSuggestion
        ?? "known keys are \(owner.keys.map(\.rawValue).joined(separator: ", ")), and any that "
        + "begin with x-")
  }

  static func reference(_ key: String) -> Diagnostic {
    Diagnostic(
      .unknownKey, "\(quoted(key)) refers to another schema, which is not supported",
      help: "write the referenced schema here instead")
  }

  static func keyOfWholeDeclaration(_ key: String) -> Diagnostic {
    Diagnostic(
      .misplacedKey, "\"\(key)\" is for an input or output as a whole, not for a part of one",
      help: "move it next to the outermost \"type\"")
  }

  static func unknownType(path: String, word: String, nearest: String?) -> Diagnostic {
    Diagnostic(
      .unknownWord, "\(path) is \(quoted(word)), expected a type of JSON Schema",
      help: nearest.asSuggestion ?? "the types are \(ValueType.listing)")
  }

  static func repeatedType(path: String, word: String) -> Diagnostic {
    Diagnostic(.repeatedValue, "\(path) has \(quoted(word)) twice")
  }

  static func repeatedEnum(path: String, noun: String) -> Diagnostic {
    Diagnostic(.repeatedValue, "\(path) is \(noun), which is already listed")
  }

  static func unboundValue(path: String) -> Diagnostic {
    Diagnostic(
      .expression,
      "\(path) contains \"${{\", but declarations are not evaluated",
      help:
        "omit the default and pass the value with -i, or use an expression where the input is used")
  }
}

extension ValueType {
  static let listing = allCases.map { "\"\($0.rawValue)\"" }.joined(separator: ", ")

  var plural: String {
    switch self {
    case .string: "strings"
    case .number: "numbers"
    case .integer: "integers"
    case .boolean: "booleans"
    case .array: "arrays"
    case .object: "objects"
    case .null: "null"
    }
  }

  /// The type meant by a word, including those of other languages and services.
  static func nearest(to word: String) -> String? {
    elsewhere[word.lowercased()]?.rawValue ?? names.nearest(to: word)
  }

  private static let names = NearestName(allCases.map(\.rawValue))
  private static let elsewhere: [String: ValueType] = [
    "str": .string, "text": .string, "choice": .string, "file": .string, "path": .string,
    "environment": .string, "int": .integer, "long": .integer, "float": .number, "double": .number,
    "decimal": .number, "bool": .boolean, "flag": .boolean, "list": .array, "sequence": .array,
    "map": .object, "dict": .object, "json": .object, "none": .null, "nil": .null,
  ]
}
