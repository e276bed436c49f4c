import WeftDiagnostics
import WeftExpressions
import WeftJSON
import WeftPatterns

/// The keys of a declaration, in the order of the schema: those of JSON Schema, and Weft's own for a whole declaration.
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
}

/// The object that contains the keys of a declaration.
enum SchemaOwner: Hashable, CaseIterable {
  /// An input as a whole.
  case input
  /// An output as a whole.
  case output
  /// A state variable as a whole.
  case state
  /// A schema inside an input, an output or a state variable.
  case part

  var noun: String {
    switch self {
    case .input: "an input"
    case .output: "an output"
    case .state: "a state variable"
    case .part: "the schema of a part"
    }
  }

  var keys: [SchemaKey] {
    switch self {
    case .input: SchemaKey.allCases.filter { $0 != .value }
    case .output: SchemaKey.allCases.filter { $0 != .default }
    case .state: SchemaKey.allCases.filter { $0 != .secret }
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
  /// Whether a key was reported as unknown, which may be a misspelling of another one.
  var hasUnknownKey = false
}

/// One key of a declaration: how it is read, and what messages and the JSON Schema say about it.
///
/// Its path is a text, unlike that of a ``FormatKey``: declarations are nested, and name properties as the file likes.
struct SchemaRule: Sendable {
  /// The types whose values it restricts; empty for all types.
  let types: [ValueType]
  /// Its JSON Schema.
  let schema: StaticString
  /// Names for it in CI services and other schema languages, separated by spaces.
  let synonyms: StaticString
  let read: @Sendable (inout DecodingPass, JSONNode, String, inout ValueDeclaration) -> Void

  /// A key whose value is kept at a path, unless `read` returns `nil`.
  init<Value>(
    for types: [ValueType] = [], _ schema: StaticString, synonyms: StaticString = "",
    at path: any WritableKeyPath<ValueDeclaration, Value> & Sendable,
    read: @escaping @Sendable (inout DecodingPass, JSONNode, String) -> Value?
  ) {
    self.types = types
    self.schema = schema
    self.synonyms = synonyms
    self.read = { pass, node, key, declaration in
      if let value = read(&pass, node, key) { declaration[keyPath: path] = value }
    }
  }
}

extension SchemaKey {
  var rule: SchemaRule {
    guard let rule = SchemaKey.rules[self] else { preconditionFailure("no rule for \(self)") }
    return rule
  }

  private static let numbers: [ValueType] = [.number, .integer]

  private static let rules: [SchemaKey: SchemaRule] = [
    .type: SchemaRule(
      #"""
      {"title": "Type",
      "description": "The type of the value, or several types of which it must have one. \#
      Without it, any value is allowed.",
      "anyOf": ["@valueType", {"type": "array", "items": "@valueType", "minItems": 1,
      "uniqueItems": true}]}
      """#, at: \.schema.types
    ) { $0.types($1, $2) },
    .enum: SchemaRule(
      #"""
      {"title": "Allowed values", "description": "The allowed values.", "type": "array",
      "minItems": 1, "uniqueItems": true}
      """#, synonyms: "options choices values oneOf anyOf", at: \.schema.allowed
    ) { $0.allowedValues($1, $2) },
    .const: SchemaRule(
      #"{"title": "Only value", "description": "The only allowed value."}"#, at: \.schema.constant
    ) { _, node, _ in node.kind == .unreadable ? nil : JSONValue(node) },
    .pattern: SchemaRule(
      for: [.string],
      #"""
      {"title": "Pattern",
      "description": "A regular expression (ECMA-262) that a string must match somewhere; use \#
      ^…$ for the whole string. Lookaround and backreferences are not supported.",
      "type": "string"}
      """#, synonyms: "regex regexp match format", at: \.schema.text.pattern
    ) { $0.pattern($1, $2) },
    .minLength: SchemaRule(
      for: [.string],
      #"{"description": "The minimum number of characters of a string.", "$ref": "limit"}"#,
      at: \.schema.text.length.least
    ) { $0.count($1, $2) },
    .maxLength: SchemaRule(
      for: [.string],
      #"{"description": "The maximum number of characters of a string.", "$ref": "limit"}"#,
      at: \.schema.text.length.most
    ) { $0.count($1, $2) },
    .minimum: SchemaRule(
      for: numbers, #"{"description": "The minimum.", "type": "number"}"#, synonyms: "min",
      at: \.schema.number.minimum
    ) { $0.number($1, $2) },
    .maximum: SchemaRule(
      for: numbers, #"{"description": "The maximum.", "type": "number"}"#, synonyms: "max",
      at: \.schema.number.maximum
    ) { $0.number($1, $2) },
    .exclusiveMinimum: SchemaRule(
      for: numbers,
      #"{"description": "A number that it must be greater than.", "type": "number"}"#,
      at: \.schema.number.exclusiveMinimum
    ) { $0.number($1, $2) },
    .exclusiveMaximum: SchemaRule(
      for: numbers,
      #"{"description": "A number that it must be less than.", "type": "number"}"#,
      at: \.schema.number.exclusiveMaximum
    ) { $0.number($1, $2) },
    .multipleOf: SchemaRule(
      for: numbers,
      #"""
      {"description": "A number of which it must be an exact multiple.",
      "type": "number", "exclusiveMinimum": 0}
      """#, synonyms: "step", at: \.schema.number.divisor
    ) { $0.divisor($1, $2) },
    .items: SchemaRule(
      for: [.array],
      #"{"description": "The schema of each element of an array.", "$ref": "valueSchema"}"#,
      synonyms: "elements prefixItems", at: \.schema.array.elements
    ) { .matching($0.declaration($1, $2, of: .part).schema) },
    .minItems: SchemaRule(
      for: [.array],
      #"{"description": "The minimum number of elements of an array.", "$ref": "limit"}"#,
      at: \.schema.array.count.least
    ) { $0.count($1, $2) },
    .maxItems: SchemaRule(
      for: [.array],
      #"{"description": "The maximum number of elements of an array.", "$ref": "limit"}"#,
      at: \.schema.array.count.most
    ) { $0.count($1, $2) },
    .uniqueItems: SchemaRule(
      for: [.array],
      #"""
      {"description": "Whether the elements of an array must be unique.",
      "type": "boolean"}
      """#, at: \.schema.array.isUnique
    ) { $0.flag($1, $2) },
    .properties: SchemaRule(
      for: [.object],
      #"""
      {"description": "The schemas of the properties of an object.",
      "type": "object", "additionalProperties": "@valueSchema"}
      """#, synonyms: "fields", at: \.schema.object.properties
    ) { $0.properties($1, $2) },
    .required: SchemaRule(
      for: [.object],
      #"""
      {"description": "The properties that an object must have.", "type": "array",
      "items": {"type": "string"}, "uniqueItems": true}
      """#, at: \.schema.object.required
    ) { $0.requiredNames($1, $2) },
    .additionalProperties: SchemaRule(
      for: [.object],
      #"""
      {"description": "The schema of properties that are not among \#
      \"properties\"; false: there must be none.",
      "anyOf": [{"type": "boolean"}, "@valueSchema"]}
      """#, at: \.schema.object.additional
    ) { pass, node, path in
      node.boolValue.map { $0 ? .anything : .nothing }
        ?? .matching(pass.declaration(node, path, of: .part).schema)
    },
    .minProperties: SchemaRule(
      for: [.object],
      #"{"description": "The minimum number of properties of an object.", "$ref": "limit"}"#,
      at: \.schema.object.count.least
    ) { $0.count($1, $2) },
    .maxProperties: SchemaRule(
      for: [.object],
      #"{"description": "The maximum number of properties of an object.", "$ref": "limit"}"#,
      at: \.schema.object.count.most
    ) { $0.count($1, $2) },
    .title: SchemaRule(
      #"{"description": "A name for display.", "type": "string"}"#, synonyms: "label name",
      at: \.schema.title
    ) { $0.plainText($1, $2) },
    .description: SchemaRule(
      #"{"description": "The purpose, shown by weft run FILE --help.", "type": "string"}"#,
      synonyms: "help summary doc", at: \.schema.description
    ) { $0.plainText($1, $2) },
    .default: SchemaRule(
      #"""
      {"title": "Default",
      "description": "The value if none is given, or none is kept yet; it must fit the rest of the \#
      declaration, and is not evaluated. An input without it is required; a state variable must have it."}
      """#, synonyms: "value fallback optional", at: \.defaultValue
    ) { $0.value($1, $2) },
    .secret: SchemaRule(
      #"""
      {"description": "Whether its value is secret: it is not shown, and rejected \#
      where it could be seen.",
      "type": "boolean", "default": false}
      """#, synonyms: "sensitive password masked writeOnly", at: \.isSecret
    ) { $0.flag($1, $2) },
    .value: SchemaRule(
      #"""
      {"title": "Value", "description": "A string; a single expression keeps its type.",
      "$ref": "text"}
      """#, at: \.value
    ) { _, node, _ in node },
  ]
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
      guard let key = schemaKey(member, of: owner) else {
        if !isIgnored(member.key) { declaration.hasUnknownKey = true }
        continue
      }
      places[key] = member.key
      key.rule.read(&self, member.value, path + "." + key.rawValue, &declaration)
    }
    check(declaration.schema, path, places)
    if let value = node.member("default"), declaration.defaultValue != nil,
      !check(
        value, path + ".default", by: declaration.schema,
        secretBytes: declaration.isSecret
          ? WorkflowLimits.secretBytes(ofOptional: declaration.defaultValue) : nil)
    {
      // Whatever is given is no consequence of that.
      (declaration.schema, declaration.defaultValue) = (ValueSchema(), .null)
    }
    if let value = declaration.value, let text = value.stringValue, Template.parse(text).isLiteral {
      check(value, path + ".value", by: declaration.schema)
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

  // MARK: For all types

  fileprivate mutating func types(_ node: JSONNode, _ path: String) -> [ValueType] {
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

  fileprivate mutating func allowedValues(_ node: JSONNode, _ path: String) -> [JSONValue] {
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
  fileprivate mutating func value(_ node: JSONNode, _ path: String) -> JSONValue? {
    guard node.kind != .unreadable else { return nil }
    if node.holdsExpression {
      report(.unboundValue(path: path), at: node)
      return nil
    }
    return JSONValue(node)
  }

  // MARK: For values of one type

  fileprivate mutating func pattern(_ node: JSONNode, _ path: String) -> Pattern? {
    guard let text = plainText(node, path) else { return nil }
    do { return try Pattern(text) } catch {
      report(
        .invalidPattern(path: path, fault: error), at: node.place(ofUTF8: error.range))
      return nil
    }
  }

  fileprivate mutating func number(_ node: JSONNode, _ path: String) -> JSONNumber? {
    if let number = node.numberValue { return number }
    reportType(of: node, path, wanted: "a number", help: unquotingHelp(for: node))
    return nil
  }

  fileprivate mutating func divisor(_ node: JSONNode, _ path: String) -> JSONNumber? {
    guard let number = number(node, path) else { return nil }
    if number <= 0 {
      report(.notPositive(path: path, number: number.text), at: node)
    } else if JSONNumber(0).isMultiple(of: number) == nil {
      report(.longDivisor(path: path, number: number.text), at: node)
    } else {
      return number
    }
    return nil
  }

  fileprivate mutating func properties(_ node: JSONNode, _ path: String) -> [ValueSchema.Property] {
    guard node.kind == .object else {
      reportType(of: node, path, wanted: "an object of names and declarations")
      return []
    }
    return node.members.map { member in
      let name = member.key.stringValue ?? ""
      let place = ValuePath([.property(name)]).description
      return ValueSchema.Property(
        name, declaration(member.value, DecodingPass.elided(path + place), of: .part).schema)
    }
  }

  fileprivate mutating func requiredNames(_ node: JSONNode, _ path: String) -> [String] {
    if node.kind == .bool {
      report(.requiredFlag(path: path), at: node)
      return []
    }
    guard node.kind == .array else {
      reportType(of: node, path, wanted: "an array of property names")
      return []
    }
    var names: [String] = []
    for (index, element) in node.elements.enumerated() {
      let place = "\(path)[\(index)]"
      guard let name = plainText(element, place) else { continue }
      if names.contains(where: { $0.utf8.elementsEqual(name.utf8) }) {
        report(.repeatedRequired(path: place, name: name), at: element)
      } else {
        names.append(name)
      }
    }
    return names
  }
}

extension SchemaOwner {
  fileprivate func problem(withUnknownKey name: String) -> Diagnostic {
    if ["$ref", "$dynamicRef", "$defs", "definitions"].contains(name) { return .reference(name) }
    let other = keys.first {
      $0.rule.synonyms.description.split(separator: " ").contains(name[...])
    }
    let nearest = other?.rawValue ?? NearestName(keys.map(\.rawValue)).nearest(to: name)
    return .unknownSchemaKey(name, of: self, nearest: nearest)
  }
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
      .misplacedKey,
      "\"\(key)\" is for an input, an output or a state variable as a whole, not for a part of one",
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
