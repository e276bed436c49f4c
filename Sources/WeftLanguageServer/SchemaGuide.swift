import WeftDefinition
import WeftDiagnostics
import WeftJSON

/// Answers what may stand at a place of a workflow file, from the JSON Schema that the tables of the format print.
struct SchemaGuide {
  static let workflow = SchemaGuide(WorkflowSchema.text)
  static let test = SchemaGuide(TestFileSchema.text)

  private let root: JSONValue
  /// The names of the keys whose values are conditions: bare expressions.
  let conditionKeys: Set<String>
  /// The keys whose values name something that the file declares.
  let namingKeys: NamingKeys

  init(_ text: String) {
    let (root, _) = JSONReader.read(SourceFile(path: "<schema>", bytes: Array(text.utf8)))
    self.root = root.map(JSONValue.init) ?? .null
    var keys: Set<String> = []
    SchemaGuide.collectConditionKeys(self.root, into: &keys)
    conditionKeys = keys
    namingKeys = NamingKeys(self.root)
  }

  private static func collectConditionKeys(_ value: JSONValue, into keys: inout Set<String>) {
    if case .object(let members) = value["properties"] ?? .null {
      for member in members where member.value["$ref"]?.text == "#/$defs/condition" {
        keys.insert(member.key)
      }
    }
    switch value {
    case .object(let members):
      for member in members { collectConditionKeys(member.value, into: &keys) }
    case .array(let elements):
      for element in elements { collectConditionKeys(element, into: &keys) }
    case .null, .bool, .number, .string: break
    }
  }

  /// A key that an object may have.
  struct Key {
    let name: String
    let title: String?
    let help: String?
    let isRequired: Bool
    /// The alternatives for its value.
    let schemas: [JSONValue]
  }

  /// The schemas of the value at a path.
  ///
  /// - Parameter containers: The objects and arrays on the path; their contents choose between alternatives.
  func schemas(at path: [TextCursor.PathStep], _ containers: [JSONNode]) -> [JSONValue] {
    var found = [root]
    for (step, node) in zip(path, containers) {
      let around = alternatives(found, for: node)
      found =
        switch step {
        case .key(let name): around.flatMap { SchemaGuide.values(of: name, in: $0) }
        case .element: around.compactMap { $0["items"] }
        }
    }
    return found
  }

  /// The keys that an object may have, in the order of the format; those that all its alternatives exclude are missing.
  func keys(of object: JSONNode, _ schemas: [JSONValue]) -> [Key] {
    var found: [Key] = []
    var known: Set<String> = []
    for schema in alternatives(schemas, for: object) {
      guard case .object(let properties) = schema["properties"] ?? .null else { continue }
      let required = Set((schema["required"]?.list ?? []).compactMap(\.text))
      for property in properties
      where property.value != false && known.insert(property.key).inserted {
        found.append(key(property.key, property.value, isRequired: required.contains(property.key)))
      }
    }
    return found
  }

  private func key(_ name: String, _ schema: JSONValue, isRequired: Bool) -> Key {
    let referred = followed(schema)
    return Key(
      name: name, title: schema["title"]?.text ?? referred["title"]?.text,
      help: schema["description"]?.text ?? referred["description"]?.text, isRequired: isRequired,
      schemas: [schema])
  }

  /// The literal values that the schemas name, as JSON.
  func values(_ schemas: [JSONValue]) -> [JSONValue] {
    var found: [JSONValue] = []
    for schema in schemas.flatMap({ flattened($0) }) {
      if let value = schema["const"] { found.append(value) }
      found += schema["enum"]?.list ?? []
      if schema["type"]?.text == "boolean" { found += [true, false] }
    }
    var known: Set<JSONValue> = []
    return found.filter { known.insert($0).inserted }
  }

  /// The kinds of values that the schemas allow: `string`, `array`, `object` …
  func types(_ schemas: [JSONValue]) -> [String] {
    schemas.flatMap { flattened($0) }.flatMap { schema -> [String] in
      if let type = schema["type"]?.text { return [type] }
      return schema["type"]?.list?.compactMap(\.text) ?? []
    }
  }

  // MARK: Schemas

  private static func values(of name: String, in schema: JSONValue) -> [JSONValue] {
    if let property = schema["properties"]?[name] { return property == false ? [] : [property] }
    guard let others = schema["additionalProperties"], case .object = others else { return [] }
    return [others]
  }

  /// The alternatives of schemas that fit what a node is: by its kind, and by the keys that alternatives require.
  private func alternatives(_ schemas: [JSONValue], for node: JSONNode) -> [JSONValue] {
    let type = node.kind == .object ? "object" : node.kind == .array ? "array" : "string"
    let fitting = schemas.flatMap { flattened($0) }.filter { schema in
      guard let known = schema["type"] else { return true }
      return known.text == type || known.list?.contains(.string(type)) == true
    }
    guard node.kind == .object else { return fitting }
    let required = fitting.map { ($0["required"]?.list ?? []).compactMap(\.text) }
    let isWhole = required.map { $0.allSatisfy { node.member(named: $0) != nil } }
    guard zip(required, isWhole).contains(where: { !$0.isEmpty && $1 }) else { return fitting }
    return zip(fitting, isWhole).filter(\.1).map(\.0)
  }

  /// A schema and the schemas that it refers to or chooses from, without those inside of values.
  private func flattened(_ schema: JSONValue, depth: Int = 0) -> [JSONValue] {
    guard depth < 12, case .object = schema else { return [] }
    var found = [schema]
    if let target = schema["$ref"]?.text.flatMap({ SchemaGuide.definition($0, in: root) }) {
      found += flattened(target, depth: depth + 1)
    }
    for keyword in ["oneOf", "anyOf", "allOf"] {
      for part in schema[keyword]?.list ?? [] { found += flattened(part, depth: depth + 1) }
    }
    return found
  }

  private func followed(_ schema: JSONValue) -> JSONValue {
    var schema = schema
    for _ in 0..<12 {
      guard schema["title"] == nil, let reference = schema["$ref"]?.text,
        let next = SchemaGuide.definition(reference, in: root)
      else { break }
      schema = next
    }
    return schema
  }

  static func definition(_ reference: String, in root: JSONValue) -> JSONValue? {
    guard reference.hasPrefix("#/") else { return nil }
    return reference.dropFirst(2).split(separator: "/").reduce(root as JSONValue?) { value, name in
      value?[String(name)]
    }
  }
}
