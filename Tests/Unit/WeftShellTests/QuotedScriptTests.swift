import Testing

@testable import WeftShell

/// Dialects, the names of variables, and properties of a place besides its quotes.
@Suite struct QuotedScriptTests {
  @Test(
    arguments: [
      (["/bin/sh", "-e", "-c"], .posix), (["dash", "-c"], .posix),
      (["busybox", "sh", "-c"], .posix),
      (["bash", "-eo", "pipefail", "-c"], .bash),
      (["/usr/local/bin/bash", "--norc", "-uc"], .bash), (["zsh", "-f", "-c"], .zsh),
      (["python3", "-c"], .unknown("python3")), (["bash"], .unknown("bash")),
      (["bash", "script.sh"], .unknown("bash")),
      (["bash", "-O", "extglob", "-c"], .unknown("bash")),
      (["bash", "-o", "posix", "-c"], .unknown("bash")), (["bash", "-kc"], .unknown("bash")),
      (["env", "bash", "-c"], .unknown("env")),
      (["docker", "run", "x", "sh", "-c"], .unknown("docker")), (["busybox"], .unknown("busybox")),
      (["ksh", "-c"], .unknown("ksh")), (["fish", "-c"], .unknown("fish")),
    ] as [([String], ShellDialect)])
  func theDialectIsThatOfTheShell(prefix: [String], expected: ShellDialect) {
    #expect(ShellDialect(commandLine: prefix) == expected)
  }

  @Test func equalExpressionsShareAVariable() {
    let script = QuotedScript("echo ${{a}} '${{b}}' ${{a}}", .posix)
    let names = script.variableNames(for: script.expressions)
    #expect(names == ["WEFT_VALUE_1", "WEFT_VALUE_2", "WEFT_VALUE_1"])
    #expect(
      script.text(referringTo: names)
        == #"echo "${WEFT_VALUE_1}" ''"${WEFT_VALUE_2}"'' "${WEFT_VALUE_1}""#)
  }

  @Test(arguments: [
    ("WEFT_VALUE=1 echo ${{a}}", "WEFT_VALUE_1"),
    ("unset WEFT_VALUE_1; echo ${{a}}", "WEFT_VALUE_X_1"),
    ("# WEFT_VALUE_ WEFT_VALUE_X_1\necho ${{a}}", "WEFT_VALUE_XX_1"),
    ("echo ${{WEFT_VALUE_1}}", "WEFT_VALUE_1"),
  ])
  func aNameThatTheScriptMentionsIsNotTaken(text: String, expected: String) {
    #expect(QuotedScript(text, .posix).variableNames(for: ["a"]) == [expected])
  }

  @Test(
    "S02: a value that may be read as an option is known, and is none behind --",
    arguments: [
      ("rm ${{V}}", [true]), ("rm -- ${{V}}", [false]),
      ("rm \"${{V}}\" '${{V}}' a${{V}} $x${{V}}", [true, true, false, true]),
      ("git checkout -q ${{V}}", [true]), ("curl -o ${{V}} -- ${{V}}", [true, false]),
      ("sudo -u www rm ${{V}}", [true]),
      ("echo ${{V}}", [false]), ("printf %s ${{V}}", [false]), ("[ -n ${{V}} ]", [false]),
      ("x=${{V}}", [false]),
      ("ls --sort=${{V}}", [false]), ("ls > ${{V}}", [false]), ("find ${{V}} -name x", [true]),
      ("echo \"$(rm ${{V}})\"", [true]),
      ("# rm ${{V}}", [false]), ("for i in ${{V}}; do :; done", [false]),
    ])
  func mayBeOption(text: String, expected: [Bool]) {
    let found = QuotedScript(text, .posix).placements.map { placement -> Bool? in
      if case .quoted(_, let mayBeOption) = placement { mayBeOption } else { nil }
    }
    #expect(found == expected)
  }

  @Test func aScriptWithoutExpressionsIsNotRead() {
    #expect(QuotedScript("echo 'not closed", placeholders: [], dialect: .posix).isSound)
  }

  @Test func expressionsMayHoldAnything() {
    let expressions = ["${{ 'it''s \"$( ` \n # }}' }}", "${{ ')' }}"]
    let text = "echo \(expressions[0]) '\(expressions[1])'"
    let first = 5..<5 + expressions[0].utf8.count
    let second = first.upperBound + 2..<first.upperBound + 2 + expressions[1].utf8.count
    let script = QuotedScript(text, placeholders: [first, second], dialect: .posix)
    #expect(script.text(referringTo: ["A", "B"]) == #"echo "${A}" ''"${B}"''"#)
  }
}
