import Testing
import WeftDiagnostics
import WeftJSON
import WeftTestKit

@testable import WeftDefinition

@Suite struct WorkflowSchemaTests {
  /// `UPDATE_GOLDEN=1` writes the file.
  @Test func theSchemaFileIsWhatTheTablesPrint() {
    let file = Golden("../../../schemas/workflow.schema.json")
    let mismatch = file.mismatch(with: WorkflowSchema.text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }

  @Test func eachReferenceHasADefinitionAndEachDefinitionAReference() throws {
    let schema = try WorkflowSchemaTests.schema()
    guard case .object(let definitions)? = schema["$defs"] else {
      Issue.record("no definitions")
      return
    }
    let defined = Set(definitions.members.map(\.key))
    for kind in ActionKind.allCases { #expect(defined.contains("\(kind)Step")) }
    // The keys of steps are referred to one by one.
    let referenced = references(in: schema).map { name in
      String(name.prefix { $0 != "/" })
    }
    #expect(Set(referenced) == defined)
  }

  /// An editor shows a description beside the value at the same place.
  @Test func eachValueOfADescribedListIsDescribed() throws {
    let lists = objects(in: try WorkflowSchemaTests.schema())
      .compactMap { object in object["enumDescriptions"].map { ($0, object["enum"]) } }
    #expect(lists.count > 5)
    for case (.array(let descriptions), let values) in lists {
      guard case .array(let values)? = values else {
        Issue.record("nothing to describe: \(descriptions)")
        continue
      }
      #expect(descriptions.count == values.count, "\(values)")
    }
  }

  private func objects(in value: JSONValue) -> [JSONObject] {
    switch value {
    case .array(let elements): elements.flatMap(objects)
    case .object(let object): [object] + object.members.flatMap { objects(in: $0.value) }
    default: []
    }
  }

  private static func schema() throws -> JSONValue {
    let text = WorkflowSchema.text
    let (root, diagnostics) = JSONReader.read(SourceFile(path: "schema", bytes: Array(text.utf8)))
    #expect(diagnostics.isEmpty)
    return JSONValue(try #require(root))
  }

  private func references(in value: JSONValue) -> [String] {
    switch value {
    case .array(let elements): elements.flatMap(references)
    case .object(let object):
      object.members.flatMap { member -> [String] in
        if member.key == "$ref", case .string(let name) = member.value {
          return [String(name.dropFirst("#/$defs/".count))]
        }
        return references(in: member.value)
      }
    default: []
    }
  }
}
