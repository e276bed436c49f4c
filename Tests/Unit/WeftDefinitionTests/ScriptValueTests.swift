import Testing
import WeftJSON
import WeftPatterns
import WeftShell

@testable import WeftDefinition

/// Shells and schemas as the rules for values in scripts see them.
@Suite struct ScriptValueTests {
  @Test func theNamedShellsAreKnownButPython() {
    #expect(
      Shell.named.map { ShellDialect(commandLine: $0.shell.prefix) } == [
        .posix, .bash, .unknown("python3"),
      ])
  }

  @Test(
    "X23: a schema says what a value may be",
    arguments: [
      (ValueSchema(.integer), .listed), (ValueSchema(.boolean, .number), .listed),
      (ValueSchema(.string), .any), (ValueSchema(), .any),
      (ValueSchema(allowed: ["a; b", "c"]), .listed),
      (Self.text("^[a-z][a-z0-9-]*$"), .word), (Self.text("^(a|b-c)+$"), .word),
      (Self.text("^v?[0-9]+(\\.[0-9]+){2}$"), .word), (Self.text("[a-z]+"), .any),
      (Self.text("^[a-z]+"), .any), (Self.text("^[a-z-]+$"), .any), (Self.text("^-?a$"), .any),
      (Self.text("^[^;]+$"), .any), (Self.text("^.$"), .any), (Self.text("^a$|b"), .any),
      (Self.text("^\\w+$"), .word), (Self.text("^\\S+$"), .any), (Self.text("^\\p{L}+$"), .any),
      (Self.text("^a b$"), .any), (Self.text("^(^a$|^b$)$"), .word),
    ] as [(ValueSchema, ValueText)])
  func schemasAreRead(schema: ValueSchema, text: ValueText) {
    #expect(ValueText(of: schema) == text)
  }

  private static func text(_ pattern: Pattern) -> ValueSchema {
    var schema = ValueSchema(.string)
    schema.text.pattern = pattern
    return schema
  }
}
