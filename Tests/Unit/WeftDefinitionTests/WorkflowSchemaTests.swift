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
    let text = WorkflowSchema.text
    let (root, diagnostics) = JSONReader.read(SourceFile(path: "schema", bytes: Array(text.utf8)))
    #expect(diagnostics.isEmpty)
    let schema = JSONValue(try #require(root))
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
