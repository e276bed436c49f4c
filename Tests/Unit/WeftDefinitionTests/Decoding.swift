import Testing
import WeftDefinition
import WeftDiagnostics

/// Decodes a text, for tests that are about one text.
func decode(_ text: String) -> (workflow: Workflow?, diagnostics: [Diagnostic]) {
  WorkflowDecoder.decode(SourceFile(path: "workflow.json", bytes: Array(text.utf8)))
}

/// The workflow of a text that has no errors.
func decodedWithoutErrors(
  _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> Workflow {
  let (workflow, diagnostics) = decode(text)
  #expect(diagnostics.filter(\.isError) == [], sourceLocation: sourceLocation)
  return try #require(workflow, sourceLocation: sourceLocation)
}
