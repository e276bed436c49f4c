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

  private static let listedName: ValueText = [.listed, .name]
  private static let nameOrInteger: ValueText = [.name, .integer]

  @Test(
    "X23: a schema says what a value may be",
    arguments: [
      (ValueSchema(.integer), .integer), (ValueSchema(.boolean, .number), .listed),
      (ValueSchema(.boolean), Self.listedName),
      (ValueSchema(.string), .any), (ValueSchema(), .any),
      (ValueSchema(allowed: ["a; b", "c"]), .listed), (ValueSchema(allowed: ["-c"]), .listed),
      (ValueSchema(allowed: ["b", "c"]), Self.listedName),
      (ValueSchema(allowed: [1, -2]), .integer),
      (ValueSchema(allowed: [1, 2.5]), .listed), (ValueSchema(allowed: ["07"]), Self.listedName),
      (Self.text("^[a-z][a-z0-9-]*$"), .name), (Self.text("^(a|b-c)+$"), .name),
      (Self.text("^v?[0-9]+(\\.[0-9]+){2}$"), .name), (Self.text("[a-z]+"), .any),
      (Self.text("^[a-z]+"), .any), (Self.text("^[a-z-]+$"), .any), (Self.text("^-?a$"), .any),
      (Self.text("^[^;]+$"), .any), (Self.text("^.$"), .any), (Self.text("^a$|b"), .any),
      (Self.text("^\\w+$"), .name), (Self.text("^\\S+$"), .any), (Self.text("^\\p{L}+$"), .any),
      (Self.text("^a b$"), .any), (Self.text("^[a-z/:@]+$"), .word),
      (Self.text("^v?1[+]b$"), .word), (Self.text("^(^a$|^b$)$"), .name),
      (Self.text("^(0|[1-9][0-9]*)$"), Self.nameOrInteger), (Self.text("^[0-9]+$"), .name),
      (Self.text("^-?[1-9][0-9]*$"), .integer), (Self.text("^-?[0-9]$"), .integer),
      (Self.text("^-[1-9]{2}$"), .integer), (Self.text("^-*1$"), .any),
      (Self.text("^[1-9][0-9]*|$"), .any), (Self.text("^([1-9][0-9]*)?$"), .name),
      (Self.text("^1$|^2$"), Self.nameOrInteger), (Self.text("^\\d+$"), .name),
      (Self.text("^[a-z]+\\b$"), .name), (Self.text("(^a|^b)$"), .name),
      (Self.text("^a($|b)"), .any),
      (Self.text("^(a$)?$"), .name), (Self.text("^[a-z]+$|;"), .any), (Self.text("^(a|-b)$"), .any),
      (Self.text("^a*-$"), .any), (Self.text("^a+-$"), .name), (Self.text("^[a-z\n]+$"), .any),
    ] as [(ValueSchema, ValueText)])
  func schemasAreRead(schema: ValueSchema, text: ValueText) {
    #expect(ValueText(of: schema) == text)
  }

  @Test(
    "X23: the suggested patterns prove what they are suggested for", arguments: ValueProof.allCases)
  func suggestedPatternsAreProofs(proof: ValueProof) throws {
    guard let pattern = proof.pattern else { return #expect(proof == .listed) }
    let known = ValueText(of: Self.text(try Pattern(pattern)))
    #expect(known.contains(proof == .word ? .word : .integer))
  }

  private static func text(_ pattern: Pattern) -> ValueSchema {
    var schema = ValueSchema(.string)
    schema.text.pattern = pattern
    return schema
  }
}
