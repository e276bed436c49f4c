import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftDefinition

/// The only input of a file, with this declaration.
func declaration(
  _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> InputDeclaration {
  let workflow = try decodedWithoutErrors(
    #"{ "inputs": { "x": \#(text) }, "steps": ["true"] }"#, sourceLocation: sourceLocation)
  return try #require(workflow.inputs.first, sourceLocation: sourceLocation)
}

func schema(
  _ text: String, sourceLocation: SourceLocation = #_sourceLocation
) throws -> ValueSchema {
  try declaration(text, sourceLocation: sourceLocation).schema
}

/// The value of a JSON text.
func json(_ text: String) throws -> JSONValue { try JSONValue(text: text) }
