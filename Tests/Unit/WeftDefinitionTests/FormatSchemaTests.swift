import Testing
import WeftDiagnostics
import WeftJSON
import WeftTestKit

@testable import WeftDefinition

/// The parts of `schemas/workflow.schema.json` that come from the tables of the format: the keys of every object and
/// those that it must have, their titles and descriptions, and the types of plain values.
///
/// `UPDATE_GOLDEN=1` writes them into the schema; its other rules stay as they are.
@Suite struct FormatSchemaTests {
  private static let file = Golden("../../../schemas/workflow.schema.json")

  /// An object of the format, and the schemas in which its keys are declared.
  struct Object: Sendable, CustomTestStringConvertible {
    let name: String
    let rules: [KeyRule]
    let schemas: [String]

    init<Format: FormatObject>(_ format: Format.Type, _ schemas: String...) {
      name = Format.format.noun
      rules = Format.format.keys.map(\.rule)
      self.schemas = schemas
    }

    var testDescription: String { name }
  }

  static let objects = [
    Object(WorkflowDraft.self, ""), Object(StepDefaults.self, "defaults"),
    Object(
      StepDraft.self, "stepCommon", "commandStep", "sequentialGroup", "parallelGroup", "raceGroup",
      "waitStep", "approveStep", "workflowStep", "actionStep", "httpStep"),
    Object(ConcurrencyDraft.self, "concurrency/anyOf/1"),
    Object(StandardInputDraft.self, "stdin/anyOf/1", "stdin/anyOf/2"),
    Object(StopDraft.self, "stop"), Object(Command.Caching.self, "cache"),
    Object(RetryDraft.self, "retryPolicy"), Object(ForEachDraft.self, "forEach"),
    Object(PoolDraft.self, "pools/additionalProperties/anyOf/1"),
    Object(JoinDraft.self, "join/anyOf/1"), Object(WaitDraft.self, "wait/anyOf/3"),
    Object(Approval.self, "approve/anyOf/1"), Object(HTTPDraft.self, "http"),
    Object(AuthDraft.self, "http/properties/auth/oneOf/0", "http/properties/auth/oneOf/1"),
    Object(BasicAuthDraft.self, "http/properties/auth/oneOf/1/properties/basic"),
    Object(HTTPCall.Timeouts.self, "http/properties/timeout/anyOf/1"),
    Object(RedirectsDraft.self, "http/properties/redirects/anyOf/2"),
    Object(HTTPCall.TLS.self, "http/properties/tls"),
    Object(HTTPCall.Expectation.self, "http/properties/expect"),
    Object(HTTPCall.Polling.self, "http/properties/poll"),
    Object(HTTPCall.Paging.self, "http/properties/pages"),
    Object(PartDraft.self, "requestPart/anyOf/1"),
    Object(
      SecretDraft.self, "secret/anyOf/0", "secret/anyOf/1", "secret/anyOf/2", "secret/anyOf/3"),
  ]

  private static func schema() throws -> JSONValue {
    let bytes = try #require(file.read())
    let (root, diagnostics) = JSONReader.read(SourceFile(path: file.path, bytes: bytes))
    #expect(diagnostics.isEmpty)
    return JSONValue(try #require(root))
  }

  @Test(arguments: objects)
  func theSchemaHasTheKeysOfTheTable(object: Object) throws {
    let schema = try Self.schema()
    var found: Set<String> = []
    for place in object.schemas {
      let part = try #require(schema[at: place.split(separator: "/")])
      for (key, value) in part["properties"]?.members ?? [] where value != .bool(false) {
        found.insert(key)
      }
      guard object.schemas.count == 1 else { continue }
      let required = part["required"]?.texts ?? []
      #expect(required == object.rules.filter { $0.example != nil }.map(\.name.description))
    }
    #expect(found == Set(object.rules.map(\.name.description)))
  }

  /// The keys that the table allows for each kind of step are those of its schema.
  @Test(
    arguments: [
      (.run, "commandStep"), (.steps, "sequentialGroup"), (.parallel, "parallelGroup"),
      (.race, "raceGroup"), (.wait, "waitStep"), (.approve, "approveStep"),
      (.workflow, "workflowStep"), (.use, "actionStep"), (.http, "httpStep"),
    ] as [(ActionKind, String)])
  func theSchemaOfAStepHasTheKeysOfItsKind(kind: ActionKind, name: String) throws {
    let schema = try Self.schema()
    let own = try #require(schema["$defs"]?[name]?["properties"]?.members)
    let keys = Set(own.filter { $0.1 != .bool(false) }.map(\.0))
    let placed = StepDraft.format.keys.map(\.rule).filter { rule in
      rule.kinds?.contains(kind) == true
        || rule.traits.contains(.action) && rule.name.description == "\(kind)"
    }
    #expect(keys == Set(placed.map(\.name.description)))
  }

  @Test func titlesDescriptionsAndPlainTypesComeFromTheTables() throws {
    let schema = try Self.schema()
    var updated = schema
    for object in Self.objects {
      for place in object.schemas {
        for rule in object.rules where !rule.title.description.isEmpty {
          // A new key of an object with several schemas needs a decision in which of them it belongs.
          if object.schemas.count == 1 { updated.add(rule, to: place) }
          updated.update(rule, of: place)
        }
      }
    }
    if updated == schema { return }
    var writer = JSONWriter(.pretty)
    writer.value(updated)
    let mismatch = Self.file.mismatch(with: writer.text + "\n")
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }
}

extension JSONValue {
  fileprivate var members: [(String, JSONValue)] {
    guard case .object(let object) = self else { return [] }
    return object.members.map { ($0.key, $0.value) }
  }

  fileprivate var texts: [String] {
    guard case .array(let elements) = self else { return [] }
    return elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
  }

  /// The part of a schema at a path from its definitions on; the schema itself for the empty path.
  fileprivate subscript(at path: [Substring]) -> JSONValue? {
    path.isEmpty ? self : self["$defs"]?[steps: path[...]]
  }

  private subscript(steps path: ArraySlice<Substring>) -> JSONValue? {
    guard let step = path.first else { return self }
    let next = Int(step).map { self[$0] } ?? self[String(step)]
    return next?[steps: path.dropFirst()]
  }

  /// Changes the value at a path.
  private mutating func change(_ path: ArraySlice<String>, _ change: (inout JSONValue) -> Void) {
    guard let step = path.first else { return change(&self) }
    switch self {
    case .object(var object):
      guard var value = object[step] else { return }
      value.change(path.dropFirst(), change)
      object[step] = value
      self = .object(object)
    case .array(var elements):
      guard let index = Int(step), elements.indices.contains(index) else { return }
      elements[index].change(path.dropFirst(), change)
      self = .array(elements)
    default: break
    }
  }

  private static func path(ofPropertiesAt place: String) -> [String] {
    let path = place.split(separator: "/").map(String.init)
    return (path.isEmpty ? [] : ["$defs"]) + path + ["properties"]
  }

  fileprivate mutating func add(_ rule: KeyRule, to place: String) {
    change(JSONValue.path(ofPropertiesAt: place)[...]) { value in
      guard case .object(var object) = value, object[rule.name.description] == nil else { return }
      object[rule.name.description] = [:]
      value = .object(object)
    }
  }

  /// Writes a key's title, description and type into the schema of its object.
  fileprivate mutating func update(_ rule: KeyRule, of place: String) {
    var definition: String?
    let path = JSONValue.path(ofPropertiesAt: place) + [rule.name.description]
    change(path[...]) { value in
      if case .object(let object) = value, object["title"] == nil,
        case .string(let reference)? = object["$ref"]
      {
        if object["description"] == nil {
          definition = String(reference.dropFirst("#/$defs/".count))
        } else {
          value.set("description", rule.help)
        }
      } else if value != .bool(false) {
        value.describe(rule)
      }
    }
    if let definition {
      change(["$defs", definition]) { $0.describe(rule) }
    }
  }

  private mutating func set(_ key: String, _ text: StaticString) {
    guard case .object(var object) = self else { return }
    object[key] = text.description.isEmpty ? nil : .string(text.description)
    self = .object(object)
  }

  private mutating func describe(_ rule: KeyRule) {
    set("title", rule.title)
    set("description", rule.help)
    guard let type = rule.type.schema, case .object(var object) = self else { return }
    for key in ["type", "minimum", "maximum", "enum", "anyOf", "$ref"] where type[key] == nil {
      object[key] = nil
    }
    for (key, value) in type.members { object[key] = value }
    self = .object(object)
  }
}

extension FormatType {
  /// The type in the schema; `nil` where the schema describes it by itself.
  fileprivate var schema: JSONValue? {
    let reference = { (name: String) -> JSONValue in ["$ref": .string("#/$defs/\(name)")] }
    var alternatives: [JSONValue]
    switch kind {
    case .integer(let range):
      alternatives = [
        ["type": "integer", "minimum": .int(range.lowerBound), "maximum": .int(range.upperBound)]
      ]
    case .duration(let allowsZero):
      alternatives = [reference("duration")] + (allowsZero ? [reference("nothing")] : [])
    case .size: alternatives = [reference("size")]
    case .flag: alternatives = [["type": "boolean"]]
    case .words(let words): alternatives = [["enum": .array(words.map(JSONValue.string))]]
    case .other: return nil
    }
    if isComputable { alternatives.append(reference("expression")) }
    return alternatives.count == 1 ? alternatives[0] : ["anyOf": .array(alternatives)]
  }
}
