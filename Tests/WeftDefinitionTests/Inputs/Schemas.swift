import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftDefinition

/// The one input of a file, declared so.
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

/// A JSON text as a value.
func json(_ text: String) throws -> JSONValue { try JSONValue(text: text) }
