import Testing
import WeftDefinition
import WeftJSON

@testable import WeftEvents
@testable import WeftExecution

@Suite struct OutputFileTests {
  private static let declared = [
    OutputFile.Declaration("text", ValueSchema(.string)),
    OutputFile.Declaration("count", ValueSchema(.integer)),
    OutputFile.Declaration("list", ValueSchema(.array)),
  ]

  private func values(_ text: String, _ names: String...) throws -> [String: JSONValue] {
    let declared = OutputFileTests.declared.filter { names.contains($0.name) }
    let found = try OutputFile.values(in: Array(text.utf8), declared: declared)
    #expect(found.map(\.name) == declared.map(\.name))
    return Dictionary(uniqueKeysWithValues: found.map { ($0.name, $0.value) })
  }

  private func faults(_ text: String, _ names: String...) -> [String] {
    let declared = OutputFileTests.declared.filter { names.contains($0.name) }
    return faults(in: Array(text.utf8), declared: declared)
  }

  private func faults(in bytes: [UInt8], declared: [OutputFile.Declaration]) -> [String] {
    do throws(OutputsError) {
      _ = try OutputFile.values(in: bytes, declared: declared)
      return []
    } catch {
      return error.faults.map(\.message)
    }
  }

  // MARK: Forms

  @Test(arguments: [
    ("text=a\n", "a"), ("text=a", "a"), ("text=\n", ""), ("text=a=b<<c\n", "a=b<<c"),
    ("text= a \n", " a "), ("\n\ntext=a\n\n", "a"), ("text=a\r\n", "a"), ("\u{FEFF}text=a\n", "a"),
    ("text=a\rb\n", "a\rb"), (#"text={"a":1}"#, #"{"a":1}"#), ("text=ä😀", "ä😀"),
    ("text<<END\na\nb\nEND\n", "a\nb"), ("text<<END\nEND", ""), ("text<<END\n\nEND\n", ""),
    ("text<<END\na\n\nEND\n", "a\n"), ("text<<END\r\na\r\nb\r\nEND\r\n", "a\r\nb"),
    ("text<<END\n END\nEND\n", " END"), ("text<<END\nEND=\nEND\n", "END="),
    ("text<<a=b\nx\na=b\n", "x"),
    ("text<<END\n{\"count\": 1}\ncount=5\nEND\n", "{\"count\": 1}\ncount=5"),
    (#"{"text": "a\nb"}"#, "a\nb"), (#"{ "text": "" }"# + "\r\n", ""),
  ])
  func aTextIsRead(file: String, text: String) throws {
    #expect(try values(file, "text") == ["text": .string(text)])
  }

  @Test func theFormsMayStandTogetherAndValuesHaveTheDeclaredType() throws {
    let found = try values(
      "count=5\n{\"list\": [1, \"a\"]}\ntext<<END\n5\nEND\n", "text", "count", "list")
    #expect(found == ["text": "5", "count": 5, "list": [1, "a"]])
    #expect(try values("list=[1, \"a\"]\n", "list") == ["list": [1, "a"]])
    #expect(try values("list<<X\n[1,\n2]\nX\n", "list") == ["list": [1, 2]])
  }

  @Test func undeclaredOutputsAreNotExpected() throws {
    #expect(try OutputFile.values(in: [], declared: []).isEmpty)
    #expect(
      faults("text=a") == [
        #"line 1 of $WEFT_OUTPUT sets "text", which is not declared in the step's "outputs""#
      ])
  }

  // MARK: S03

  @Test(
    "S03: a value with line ends sets no other output, as JSON",
    arguments: [
      "x\nPATH=/evil", "x\ncount=666", "x\r\ncount=666\n", "\"}\n{\"count\": 666}\n",
      "END\ncount<<END\n666",
    ])
  func aValueCannotAddOutputsAsJSON(value: String) throws {
    let object: JSONValue = ["text": .string(value), "count": 5]
    #expect(
      try values(object.description + "\n", "text", "count") == [
        "text": .string(value), "count": 5,
      ])
  }

  @Test("S03: as a line it is cut at the line end, and what follows fails the step")
  func aValueWithLineEndsFailsAsALine() {
    #expect(
      faults("text=x\nPATH=/evil\n", "text")
        == [#"line 2 of $WEFT_OUTPUT sets "PATH", which is not declared in the step's "outputs""#])
    #expect(
      faults("text=x\ncount=666\ncount=5\n", "text", "count")
        == [#"line 3 of $WEFT_OUTPUT sets the output "count", which line 2 already sets"#])
    #expect(
      faults("text=x\nsecond line\n", "text")
        == ["line 2 of $WEFT_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object"])
  }

  // MARK: Errors

  @Test(arguments: [
    ("text", ["line 1 of $WEFT_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object"]),
    ("=a\ntext=b", ["line 1 of $WEFT_OUTPUT has no name"]),
    ("<<X\na\nX\ntext=b", ["line 1 of $WEFT_OUTPUT has no name"]),
    (
      "\ntext<<\na\n",
      [
        #"line 2 of $WEFT_OUTPUT has no end word for the value of "text""#,
        "line 3 of $WEFT_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object",
      ]
    ),
    (
      "text<<END\na\nEND \n",
      [#"line 1 of $WEFT_OUTPUT starts the value of "text", but no line "END" ends it"#]
    ),
    (
      "text<<END",
      [#"line 1 of $WEFT_OUTPUT starts the value of "text", but no line "END" ends it"#]
    ),
    (
      "txet=a\ntext=b",
      [#"line 1 of $WEFT_OUTPUT sets "txet", which is not declared in the step's "outputs""#]
    ),
    (
      "Text=a\ntext=b",
      [#"line 1 of $WEFT_OUTPUT sets "Text", which is not declared in the step's "outputs""#]
    ),
    (
      "text=a\n\ntext=b",
      [#"line 3 of $WEFT_OUTPUT sets the output "text", which line 1 already sets"#]
    ),
    (
      "text=a\n{\"text\": \"b\"}",
      [#"line 2 of $WEFT_OUTPUT sets the output "text", which line 1 already sets"#]
    ),
    (
      "{\"text\": \"a\"} {}",
      [
        "line 1 of $WEFT_OUTPUT is not JSON, at 1:15: unexpected text after "
          + "the end of the JSON value"
      ]
    ),
    (
      "{\"text\": 5}",
      [
        #"line 1 of $WEFT_OUTPUT sets an invalid value: output "text" is 5, expected a string"#
      ]
    ),
    (
      "{\"text\": null}",
      [
        #"line 1 of $WEFT_OUTPUT sets an invalid value: output "text" is null, expected a string"#
      ]
    ),
    (
      "text=a\u{0}b",
      [
        "line 1 of $WEFT_OUTPUT contains a NUL character"
      ]
    ),
    ("", [#"$WEFT_OUTPUT does not set the output "text""#]),
  ])
  func outputFileErrorsHaveTheirLocations(file: String, messages: [String]) {
    #expect(faults(file, "text") == messages)
  }

  @Test func tellsEverythingThatIsWrongAtOnce() {
    #expect(
      faults("count=five\nlist=[1,]\nnothing\n", "text", "count", "list") == [
        #"line 1 of $WEFT_OUTPUT sets an invalid value: output "count" is "five", expected a whole number"#,
        #"line 2 of $WEFT_OUTPUT sets an invalid value: output "list" is not JSON, at 1:3: trailing comma before "]""#,
        "line 3 of $WEFT_OUTPUT is neither NAME=VALUE nor NAME<<END nor a JSON object",
      ])
  }

  @Test func repeatedKeyOfAnObjectIsReported() {
    let said = faults(#"{"text": "a", "text": "b"}"#, "text")
    #expect(said.first?.contains(#"the key "text" is repeated"#) == true)
  }

  @Test func invalidUTF8IsReported() {
    let bytes = Array("count=1\ntext=".utf8) + [0xFF, 0x0A]
    let declared = Array(OutputFileTests.declared.prefix(2))
    #expect(faults(in: bytes, declared: declared).first == "line 2 of $WEFT_OUTPUT is not UTF-8")
    let inside = Array("text<<X\na\n".utf8) + [0xFF, 0x0A] + Array("X\ncount=1\n".utf8)
    #expect(faults(in: inside, declared: declared).first == "line 3 of $WEFT_OUTPUT is not UTF-8")
  }

  @Test func multilineObjectSuggestsADelimiter() {
    let rejected = #expect(throws: OutputsError.self) {
      try values("{\n  \"text\": \"a\"\n}\n", "text")
    }
    #expect(rejected?.help?.contains("jq -c") == true)
  }

  @Test func aNameIsSuggested() {
    let rejected = #expect(throws: OutputsError.self) { try values("txet=a\n", "text") }
    #expect(rejected?.help == #"did you mean "text"?"#)
  }

  @Test func messageNamesAtMostThreeErrors() {
    let rejected = #expect(throws: OutputsError.self) { try values("a\nb\nc\nd\n", "text") }
    #expect(rejected?.faults.count == 4)
    #expect(rejected?.message.hasSuffix("; and 1 more") == true)
  }

  @Test(arguments: [
    "token=hunter2\nswordfish=1\n", "{\"token\": \"hunter2 swordfish\n", "swordfish<<END\n",
    "token<<swordfish\nhunter2\n",
    "token=a\ntoken<<\nswordfish\n", "{\"swordfish\": 1}", "{\"token\": {\"swordfish\": 1}}",
    "swordfish\n",
  ])
  func messageRevealsNoSecretOutput(file: String) {
    // The output is declared as secret, or the file contains a secret of the run.
    for isDeclared in [true, false] {
      let declared = [OutputFile.Declaration("token", ValueSchema(.integer), isSecret: isDeclared)]
      do throws(OutputsError) {
        _ = try OutputFile.values(
          in: Array(file.utf8), declared: declared, containsSecret: !isDeclared)
        Issue.record("it was accepted")
      } catch {
        for fault in error.faults {
          #expect(!fault.message.contains("swordfish") && !fault.message.contains("hunter2"))
          #expect(
            fault.help?.contains("swordfish") != true && fault.help?.contains("hunter2") != true)
        }
      }
    }
  }

  @Test func aMebibyteIsReadInNoTime() throws {
    let line = String(repeating: "x", count: 1 << 20 - 16)
    #expect(try values("text=" + line, "text") == ["text": .string(line)])
    let many = String(repeating: "x\n", count: 1 << 18)
    #expect(
      try values("text<<END\n" + many + "END\n", "text")["text"] == .string(String(many.dropLast()))
    )
  }
}
