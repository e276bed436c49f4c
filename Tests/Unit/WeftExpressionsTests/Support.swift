import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftExpressions

/// The value of a JSON text.
func value(_ json: String) throws -> ExpressionValue {
  let file = SourceFile(path: "value.json", bytes: Array(json.utf8))
  let (root, diagnostics) = JSONReader.read(file, beside: nil)
  try #require(diagnostics.isEmpty, "\(json)")
  return ExpressionValue(JSONValue(try #require(root)))
}

/// The contexts of most tests.
func contexts(_ json: String = sampleContexts) throws -> ExpressionObject {
  guard case .object(let object) = try value(json) else { throw NotAnObject() }
  return object
}

struct NotAnObject: Error {}

let sampleContexts = """
  {
    "text": "Hello", "empty": "", "number": 7, "yes": true, "no": false, "none": null,
    "list": ["a", "B", 3, null, true], "other": ["a"], "nested": [[1, 2], [3], "x", { "a": [4] }],
    "object": { "One": 1, "two": "2", "3": "three", "": "nothing", "deep": { "x": { "y": "z" } } },
    "people": [{ "name": "Ann", "age": 3 }, { "name": "Bob" }, { "age": 5 }, "x"],
    "case": { "name": "lower", "Name": "Title", "NAME": "UPPER" }
  }
  """

/// The value of an expression, as JSON in one line.
func evaluate(_ text: String, _ contexts: ExpressionObject? = nil) throws -> String {
  let scope = ValueScope(try contexts ?? WeftExpressionsTests.contexts())
  return try Expression.parse(text).evaluate(in: scope).value.jsonText(.compact)
}

/// The fault of an expression that is read or evaluated.
func fault(_ text: String, limits: ExpressionLimits = .standard) throws -> ExpressionError {
  let scope = ValueScope(try contexts())
  let value: ExpressionValue
  do throws(ExpressionError) {
    value = try Expression.parse(text, limits: limits).evaluate(in: scope, limits: limits).value
  } catch {
    return error
  }
  throw NoErrorThrown(value: value.jsonText(.compact))
}

struct NoErrorThrown: Error { var value: String }

/// The part of a text that a fault points at.
func pointedAt(_ text: String, _ range: SourceRange) -> String {
  String(decoding: Array(text.utf8)[Int(range.start)..<Int(range.end)], as: UTF8.self)
}
