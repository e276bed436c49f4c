import Testing
import WeftDiagnostics
import WeftJSON

@testable import WeftDefinition

@Suite struct TextValueTests {
  @Test(arguments: [
    (#"{ "type": "string" }"#, "5", #""5""#), (#"{ "type": "string" }"#, "", #""""#),
    (#"{ "type": "string" }"#, " a\n", #"" a\n""#), (#"{ "type": "integer" }"#, "5", "5"),
    (#"{ "type": "number" }"#, "-1.5e3", "-1.5e3"), (#"{ "type": "boolean" }"#, "true", "true"),
    (#"{ "type": "null" }"#, "null", "null"), (#"{ "type": "array" }"#, "[1, 2]", "[1,2]"),
    (#"{ "type": "object" }"#, #"{"a":{}}"#, #"{"a":{}}"#),
    // If a string is allowed, the value is one, whatever else it looks like.
    (#"{ "type": ["null", "string"] }"#, "null", #""null""#),
    (#"{ "type": ["integer", "string"] }"#, "5", #""5""#),
    (#"{ "type": ["integer", "null"] }"#, "null", "null"),
    (#"{ "type": ["boolean", "integer"] }"#, "5", "5"),
    (#"{ "type": ["boolean", "array"] }"#, "[]", "[]"),
    // Without a type, the known values decide.
    ("{}", "5", #""5""#), (#"{ "enum": [1, 2] }"#, "2", "2"),
    (#"{ "enum": [1, "a"] }"#, "1", #""1""#),
    (#"{ "const": true }"#, "true", "true"), (#"{ "default": 3 }"#, "5", "5"),
    (#"{ "default": null }"#, "5", #""5""#),
  ])
  func isReadByTheDeclaredType(schema: String, text: String, value: String) throws {
    let declaration = try declaration(schema)
    let read = try declaration.schema.value(ofText: text, like: declaration.defaultValue)
    #expect(read.description == value)
  }

  @Test(arguments: [
    (#"{ "type": "integer" }"#, "five", #"x is "five", expected a whole number"#, nil),
    (
      #"{ "type": "integer" }"#, "+5", #"x is "+5", expected a whole number"#,
      TextValueTests.numbers
    ),
    (#"{ "type": "number" }"#, "007", #"x is "007", expected a number"#, TextValueTests.numbers),
    (#"{ "type": "number" }"#, " 7", #"x is " 7", expected a number"#, TextValueTests.numbers),
    (#"{ "type": "number" }"#, "0x10", #"x is "0x10", expected a number"#, TextValueTests.numbers),
    (#"{ "type": "number" }"#, "NaN", #"x is "NaN", expected a number"#, nil),
    (#"{ "type": "number" }"#, "", #"x is "", expected a number"#, nil),
    (#"{ "type": "boolean" }"#, "yes", #"x is "yes", expected true or false"#, "write true"),
    (#"{ "type": "boolean" }"#, "0", #"x is "0", expected true or false"#, "write false"),
    (#"{ "type": "boolean" }"#, "TRUE", #"x is "TRUE", expected true or false"#, "write true"),
    (#"{ "type": "boolean" }"#, "maybe", #"x is "maybe", expected true or false"#, nil),
    (
      #"{ "type": "array" }"#, "[1,\n 2,]", "x is not JSON, at 2:3: trailing comma before \"]\"",
      "remove the comma; only a file called NAME.jsonc may have it"
    ),
    (
      #"{ "type": "object" }"#, "",
      "x is not JSON, at 1:1: the text is empty, expected a JSON value", nil
    ),
  ])
  func tellsWhyItCannotBe(schema text: String, given: String, message: String, help: String?) throws
  {
    let rules = try schema(text)
    let fault = #expect(throws: TextError.self) { try rules.value(ofText: given) }
    #expect(fault?.message(about: "x") == message)
    #expect(fault?.help() == help)
  }

  private static let numbers =
    "numbers are written as in JSON: 7, -1.5 or 2e3, without \"+\", spaces or leading zeros"

  @Test(arguments: [
    (#"{ "type": "integer" }"#, "s3cret"), (#"{ "type": "array" }"#, "s3cret"),
    (#"{ "type": "boolean" }"#, "yes"),
  ])
  func errorRevealsNoSecret(schema text: String, given: String) throws {
    let rules = try schema(text)
    let fault = #expect(throws: TextError.self) { try rules.value(ofText: given) }
    #expect(fault?.message(about: "x", isSecret: true).contains(given) == false)
    #expect(fault?.help(isSecret: true) == nil)
  }
}
