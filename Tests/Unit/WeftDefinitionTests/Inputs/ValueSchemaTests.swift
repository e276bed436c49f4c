import Testing
import WeftJSON

@testable import WeftDefinition

@Suite struct ValueSchemaTests {
  struct Case: CustomTestStringConvertible {
    let schema: String
    let value: String
    /// Empty if the value fits.
    let messages: [String]

    init(_ schema: String, _ value: String, _ messages: String...) {
      self.schema = schema
      self.value = value
      self.messages = messages
    }

    var testDescription: String { "\(value) by \(schema)" }
  }

  @Test(arguments: [
    Case(#"{}"#, "null"), Case(#"{}"#, "[1, {}]"),
    // Types.
    Case(#"{ "type": "string" }"#, #""a""#),
    Case(#"{ "type": "string" }"#, "5", "x is 5, expected a string"),
    Case(#"{ "type": "integer" }"#, "5.0"), Case(#"{ "type": "integer" }"#, "1e2"),
    Case(#"{ "type": "integer" }"#, "5.5", "x is 5.5, expected a whole number"),
    Case(#"{ "type": "number" }"#, "5"), Case(#"{ "type": "number" }"#, "1.7e308"),
    Case(#"{ "type": "integer" }"#, "1e400"), Case(#"{ "type": "integer" }"#, "9007199254740993"),
    Case(#"{ "type": "number" }"#, "9007199254740992"),
    Case(#"{ "type": "number" }"#, "1e22"),
    Case(#"{ "type": "number" }"#, "0.12345678901234567890"),
    Case(#"{ "items": {} }"#, "[-12345678901234567890, -1e400]"),
    Case(#"{ "type": "number" }"#, #""5""#, #"x is "5", expected a number"#),
    Case(#"{ "type": "boolean" }"#, "true"),
    Case(#"{ "type": "boolean" }"#, "0", "x is 0, expected true or false"),
    Case(#"{ "type": "null" }"#, "null"),
    Case(#"{ "type": "null" }"#, "false", "x is false, expected null"),
    Case(#"{ "type": ["string", "null"] }"#, "null"),
    Case(
      #"{ "type": ["string", "null"] }"#, "[]", "x is an empty array, expected a string or null"),
    Case(#"{ "type": "object" }"#, "[1]", "x is an array, expected an object"),
    // Values.
    Case(#"{ "enum": ["a", "b", 3] }"#, "3.0"),
    Case(#"{ "enum": ["a", "b", 3] }"#, #""c""#, #"x is "c", expected "a", "b" or 3"#),
    Case(#"{ "const": { "a": 1, "b": 2 } }"#, #"{ "b": 2.0, "a": 1 }"#),
    Case(#"{ "const": 5 }"#, "6", "x is 6, expected 5"),
    // Strings: lengths count scalars.
    Case(#"{ "maxLength": 1 }"#, #""😀""#),
    Case(
      #"{ "minLength": 2, "maxLength": 3 }"#, #""a""#,
      "x has 1 character, expected at least 2 characters"),
    Case(
      #"{ "minLength": 2, "maxLength": 3 }"#, #""abcd""#,
      "x has 4 characters, expected at most 3 characters"),
    Case(#"{ "pattern": "^a" }"#, #""ba""#, #"x is "ba", expected a string that matches "^a""#),
    Case(
      #"{ "pattern": "^a", "minLength": 3 }"#, #""b""#,
      "x has 1 character, expected at least 3 characters",
      #"x is "b", expected a string that matches "^a""#),
    // Rules for a different type do not apply.
    Case(#"{ "minLength": 5, "minimum": 5, "minItems": 5, "minProperties": 5 }"#, "null"),
    // Numbers, exactly.
    Case(#"{ "minimum": 1, "maximum": 3 }"#, "1"), Case(#"{ "minimum": 1, "maximum": 3 }"#, "3.0"),
    Case(
      #"{ "minimum": 1 }"#, "0.9999999999999999999999",
      "x is 0.9999999999999999999999, expected at least 1"),
    Case(
      #"{ "maximum": 9007199254740992 }"#, "9007199254740993",
      "x is 9007199254740993, expected at most 9007199254740992"),
    Case(#"{ "minimum": -1 }"#, "-1e-400"),
    Case(#"{ "minimum": -1 }"#, "-1e400", "x is -1e400, expected at least -1"),
    Case(#"{ "exclusiveMinimum": 1 }"#, "1.0", "x is 1.0, expected more than 1"),
    Case(#"{ "exclusiveMaximum": 1 }"#, "1", "x is 1, expected less than 1"),
    Case(#"{ "exclusiveMaximum": 0 }"#, "-0", "x is -0, expected less than 0"),
    Case(#"{ "multipleOf": 0.1 }"#, "0.3"), Case(#"{ "multipleOf": 0.01 }"#, "19.99"),
    Case(#"{ "multipleOf": 3 }"#, "-9"), Case(#"{ "multipleOf": 3 }"#, "0"),
    Case(#"{ "multipleOf": 3 }"#, "1e30", "x is 1e30, expected a multiple of 3"),
    Case(#"{ "multipleOf": 7 }"#, "1e1000000", "x is 1e1000000, expected a multiple of 7"),
    Case(#"{ "multipleOf": 100 }"#, "1e3"),
    Case(#"{ "multipleOf": 100 }"#, "50", "x is 50, expected a multiple of 100"),
    Case(#"{ "multipleOf": 2.5 }"#, "1e-1", "x is 1e-1, expected a multiple of 2.5"),
    // Arrays.
    Case(#"{ "minItems": 1 }"#, "[]", "x has 0 elements, expected at least 1"),
    Case(#"{ "maxItems": 1 }"#, "[1, 2]", "x has 2 elements, expected at most 1"),
    Case(#"{ "uniqueItems": true }"#, #"[1, "1", true, [1], { "a": 1, "b": 2 }]"#),
    Case(
      #"{ "uniqueItems": true }"#, #"[1, 2, 1.0]"#,
      "x has equal elements at [0] and [2], expected unique elements"),
    Case(
      #"{ "uniqueItems": true }"#, #"[{ "a": 1, "b": 2 }, { "b": 2, "a": 1 }]"#,
      "x has equal elements at [0] and [1], expected unique elements"),
    Case(#"{ "uniqueItems": false }"#, "[1, 1]"),
    Case(
      #"{ "items": { "type": "integer" } }"#, #"[1, "a", null]"#,
      #"[1] of x is "a", expected a whole number"#, "[2] of x is null, expected a whole number"),
    // Objects.
    Case(
      #"{ "required": ["a", "b"] }"#, #"{ "b": null }"#,
      #"x has only "b", expected the property "a""#),
    Case(#"{ "required": ["a"] }"#, "{}", #"x is an empty object, expected the property "a""#),
    Case(
      #"{ "properties": { "port": { "maximum": 9 } } }"#, #"{ "port": 10, "other": 1 }"#,
      ".port of x is 10, expected at most 9"),
    Case(
      #"{ "properties": { "port": {} }, "additionalProperties": false }"#, #"{ "prot": 1 }"#,
      #"x has the property "prot", expected "port""#),
    Case(
      #"{ "additionalProperties": false }"#, #"{ "a": 1 }"#,
      #"x has the property "a", expected none"#),
    Case(
      #"{ "properties": { "a": {} }, "additionalProperties": { "type": "null" } }"#,
      #"{ "a": 1, "b c": 1 }"#, #"["b c"] of x is 1, expected null"#),
    Case(#"{ "minProperties": 1 }"#, "{}", "x has no properties, expected at least 1"),
    Case(
      #"{ "maxProperties": 1 }"#, #"{ "a": 1, "b": 1 }"#, "x has 2 properties, expected at most 1"),
    // Each message contains the path.
    Case(
      #"{ "items": { "properties": { "name": { "type": "string" } }, "required": ["name"] } }"#,
      #"[{ "name": "a" }, {}, { "name": [] }]"#,
      #"[1] of x is an empty object, expected the property "name""#,
      "[2].name of x is an empty array, expected a string"),
  ])
  func tellsAllThatDoesNotFit(_ one: Case) throws {
    let faults = try schema(one.schema).faults(of: json(one.value))
    #expect(faults.map { $0.message(about: "x") } == one.messages)
  }

  @Test func errorRevealsNoSecret() throws {
    let free = try schema(
      #"""
      { "minLength": 99, "properties": { "a": { "type": "null" } }, "additionalProperties": false,
        "uniqueItems": true, "minimum": 9 }
      """#)
    var rules = free
    rules.allowed = ["swordfish"]
    let values = [
      #""swordfisj""#, #"{ "swordfish": 1 }"#, #"{ "a": "swordfish" }"#, "7",
      #"["swordfish", "swordfish"]"#,
    ]
    for (value, schema) in values.flatMap({ value in [(value, rules), (value, free)] }) {
      let faults = schema.faults(of: try json(value))
      #expect(!faults.isEmpty)
      for fault in faults {
        let said = fault.message(about: "it", isSecret: true)
        #expect(!said.contains("swordfisj") && !said.contains("has ") && !said.contains("7"))
        #expect(fault.help(isSecret: true) == nil)
      }
    }
  }

  @Test func textTooLongToMatchIsReported() throws {
    let text = String(repeating: "a", count: WorkflowLimits.matchedBytes + 1)
    let faults = try schema(#"{ "pattern": "a" }"#).faults(of: .string(text))
    #expect(
      faults.map { $0.message(about: "x") }
        == ["x has 1048577 bytes, expected at most 1 MiB, because it must match a pattern"])
  }

  @Test func aLongValueIsCut() throws {
    let text = String(repeating: "é", count: 100_000)
    let fault = try #require(
      try schema(#"{ "maxLength": 1, "enum": ["a"] }"#).faults(of: .string(text)).first)
    #expect(fault.message(about: "x").utf8.count < 200)
  }

  @Test func onlyTheFirstErrorsAreReported() throws {
    let rules = try schema(#"{ "items": { "type": "null" } }"#)
    let faults = rules.faults(of: .array(Array(repeating: 1, count: 100_000)))
    #expect(faults.count == ValueError.mostTold)
  }

  @Test(arguments: [
    (#"{ "enum": ["stable", "nightly"] }"#, #""stabel""#, #"did you mean "stable"?"#),
    (
      #"{ "properties": { "port": {} }, "additionalProperties": false }"#, #"{ "prot": 1 }"#,
      #"did you mean "port"?"#
    ),
    (#"{ "type": "integer" }"#, #""5""#, "write 5 without quotes"),
    (#"{ "type": "boolean" }"#, #""true""#, "write true without quotes"),
    (#"{ "type": "string" }"#, "1.5", #"write "1.5""#),
  ])
  func tellsTheCureWhereThereIsOne(schema text: String, value: String, help: String) throws {
    let fault = try #require(try schema(text).faults(of: json(value)).first)
    #expect(fault.help() == help)
  }

  @Test(arguments: [
    ("{}", "any value"), (#"{ "type": "string" }"#, "a string"),
    (
      #"{ "type": "integer", "minimum": 1, "maximum": 9 }"#, "a whole number, at least 1, at most 9"
    ),
    (#"{ "enum": ["a", "b", 3] }"#, #""a", "b" or 3"#), (#"{ "const": true }"#, "true"),
    (
      #"{ "type": "string", "pattern": "^v", "minLength": 2 }"#,
      #"a string, matching "^v", at least 2 characters"#
    ),
    (#"{ "type": "string", "minLength": 2, "maxLength": 2 }"#, "a string, 2 characters"),
    (
      #"{ "type": "array", "items": { "type": "string" }, "uniqueItems": true }"#,
      "an array, unique elements, each a string"
    ),
    (#"{ "type": "object", "required": ["a", "b"] }"#, #"an object, with "a" and "b""#),
    (#"{ "type": ["string", "null"] }"#, "a string or null"),
  ])
  func saysWhatItWants(schema text: String, summary: String) throws {
    #expect(try schema(text).summary == summary)
  }

  /// An example fits its schema; where there is none, no value was found.
  @Test(
    arguments: [
      (#"{}"#, #""x""#), (#"{ "type": "string" }"#, #""x""#), (#"{ "const": [1] }"#, "[1]"),
      (#"{ "enum": ["b", "c"] }"#, #""b""#),
      (#"{ "pattern": "^v[0-9]+$" }"#, #""v1""#),
      (#"{ "pattern": "^[0-9]+\\.[0-9]+\\.[0-9]+$" }"#, #""1.0.0""#),
      (#"{ "pattern": "^[a-z]{3,5}-\\d{2}$" }"#, #""xxx-11""#),
      (#"{ "pattern": "^(?:dev|prod)-[A-F]+$", "minLength": 8 }"#, #""dev-AAAA""#),
      (#"{ "pattern": "^(?:ab|cd)*$", "minLength": 5 }"#, #""ababab""#),
      (#"{ "pattern": "\\bx\\B" }"#, #""xx""#), (#"{ "pattern": "\\Bq" }"#, nil),
      (#"{ "minLength": 4, "maxLength": 4 }"#, #""xxxx""#),
      (#"{ "type": "integer", "multipleOf": 7, "minimum": 10 }"#, "14"),
      (
        #"{ "type": "number", "multipleOf": 0.05, "exclusiveMinimum": 0.3, "maximum": 0.37 }"#,
        "0.35"
      ),
      (#"{ "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 }"#, "0.5"),
      (
        #"{ "type": "integer", "minimum": 5000, "exclusiveMaximum": 5002, "multipleOf": 5001 }"#,
        "5001"
      ),
      (#"{ "type": "integer", "maximum": -3 }"#, "-3"),
      (#"{ "type": "array", "minItems": 2 }"#, #"["x","x"]"#),
      (
        #"{ "type": "array", "minItems": 3, "uniqueItems": true, "items": { "type": "integer" } }"#,
        "[1,0,10]"
      ),
      (
        #"{ "type": "array", "minItems": 2, "uniqueItems": true, "items": { "pattern": "^\\d+$" } }"#,
        #"["1","11"]"#
      ),
      (
        #"""
        { "type": "object", "required": ["a"], "minProperties": 2,
          "properties": { "a": { "type": "integer" }, "b": { "type": "array" } } }
        """#, #"{"a":1,"b":[]}"#
      ),
      (#"{ "type": "object", "minProperties": 1 }"#, #"{"x1":"x"}"#),
      (#"{ "type": ["null", "string"] }"#, "null"),
      (#"{ "type": "string", "minLength": 100000000 }"#, nil),
      (
        #"{ "type": "array", "minItems": 3, "uniqueItems": true, "items": { "type": "boolean" } }"#,
        nil
      ),
    ] as [(String, String?)])
  func findsAValueThatFits(schema text: String, expected: String?) throws {
    let schema = try schema(text)
    let example = schema.example()
    #expect(example?.description == expected)
    if let example { #expect(schema.faults(of: example).isEmpty) }
  }

  @Test func findsASecretThatCanBeMasked() throws {
    let limits = WorkflowLimits.secretBytes
    for text in [#"{}"#, #"{ "pattern": "^[0-9]+$" }"#, #"{ "enum": ["a", "abcdef"] }"#] {
      let example = try schema(text).example(secretBytes: limits)
      let value = try #require(example)
      #expect(try schema(text).faults(of: value, secretBytes: limits).isEmpty)
    }
  }
}
