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
      ("git checkout -q ${{V}}", [true]), ("curl ${{V}} -- ${{V}}", [true, false]),
      ("sudo -u www rm ${{V}}", [true]),
      ("echo ${{V}}", [false]), ("printf %s ${{V}}", [false]), ("[ -n ${{V}} ]", [false]),
      ("x=${{V}}", [false]),
      ("ls --sort=${{V}}", [false]), ("ls > ${{V}}", [false]), ("find ${{V}} -name x", [true]),
      ("echo \"$(rm ${{V}})\"", [true]),
      ("# rm ${{V}}", [false]), ("for i in ${{V}}; do :; done", [false]),
    ])
  func mayBeOption(text: String, expected: [Bool]) {
    #expect(mayBeOption(text) == expected)
  }

  @Test(
    "a value that an option takes is no option",
    arguments: [
      ("curl -o ${{V}} -- ${{V}}", [false, false]), ("curl -sSLo ${{V}} ${{V}}", [false, true]),
      ("curl -x -o ${{V}}", [true]), ("curl -o -- ${{V}}", [true]),
      ("curl --fail --output ${{V}}", [false]), ("curl --fail ${{V}}", [true]),
      ("git commit -m ${{V}}", [false]), ("git commit -am ${{V}} ${{V}}", [false, true]),
      ("git -C d commit --author=${{V}} -m ${{V}}", [false, false]),
      ("git branch -m ${{V}}", [true]), ("git log -m ${{V}}", [true]), ("git -m ${{V}}", [true]),
      ("git commit -mx ${{V}}", [true]), ("git commit -Sm ${{V}}", [true]),
      ("tar -If ${{V}}", [true]), ("curl -XPOST ${{V}}", [true]),
      ("git commit -m -- ${{V}}", [true]),
      ("git commit -m x -- ${{V}}", [false]), ("git stash push -m ${{V}}", [false]),
      ("git $x -m ${{V}}", [true]), ("git commit $x -m ${{V}}", [true]),
      ("git commit ${{V}} -m ${{V}}", [true, true]), ("sudo git commit -m ${{V}}", [false]),
      ("git $x commit -m ${{V}}", [true]), ("git stash -m ${{V}}", [true]),
      ("docker run --rm --name ${{V}} -v ${{V}}:/x i", [false, false]),
      ("docker run i rm -e ${{V}}", [true]),
      ("docker run --name=${{V}} -e ${{V}} i", [false, false]),
      ("docker --host x compose -f f run -e ${{V}} i ${{V}}", [false, true]),
      ("docker exec b git commit -m ${{V}}", [true]),
      ("kubectl -n ${{V}} get pods -l ${{V}}", [false, false]),
      ("kubectl apply -f ${{V}}", [false]), ("kubectl logs -f ${{V}}", [true]),
      ("kubectl exec -n ${{V}} pod -c ${{V}}", [false, true]),
      ("tar -czf ${{V}} -C ${{V}} .", [false, false]), ("tar czf ${{V}}", [true]),
      ("find . -name ${{V}} -newer ${{V}}", [false, false]), ("find . -print ${{V}}", [true]),
      ("jq --arg a ${{V}} .a", [false]), ("jq --arg ${{V}} ${{V}} .", [false, false]),
      ("gcc -o ${{V}} -c ${{V}}", [false, true]), ("go test -run ${{V}} ${{V}}", [false, true]),
      ("/usr/bin/curl -o ${{V}}", [false]), ("frob -o ${{V}}", [true]),
      ("sh -c 'echo \"got $1\"' sh ${{V}}", [false]), ("bash -c 'echo \"$0\"' ${{V}}", [false]),
      ("sh -c 'rm \"$1\"' sh ${{V}}", [true]), ("sh -c 'rm -- \"$1\"' sh ${{V}}", [false]),
      ("sh -c 'o=$1; shift; cat -- \"$@\" > \"$o\"' sh ${{V}} ${{V}}", [false, false]),
      ("sh -c 'f() { rm \"$1\"; }; f \"$1\"' sh ${{V}}", [true]), ("sh script ${{V}}", [true]),
      ("sudo sh -c 'echo \"$@\"' sh ${{V}}", [false]),
      ("make -j ${{V}}", [true]), ("f() { git commit -m \"$1\"; }; f ${{V}}", [false]),
    ] as [(String, [Bool?])])
  func aValueOfAnOptionIsNoOption(text: String, expected: [Bool?]) {
    #expect(mayBeOption(text) == expected)
  }

  @Test(
    "an argument of a function is an option only where the function passes it on",
    arguments: [
      ("log() { echo \"$1\"; }; log ${{V}}", [false]),
      ("log ${{V}}; log() { printf '%s\n' \"$@\" >&2; }", [false]),
      ("log() { echo \"$(date) $*\"; }; main() { log ${{V}}; }; main", [false]),
      ("del() { rm \"$1\"; }; del ${{V}}", [true]),
      ("del() { rm -- \"$1\"; }; del ${{V}}", [false]),
      ("del() { sudo rm \"$@\"; }; del ${{V}}", [true]), ("del() { rm x$1; }; del ${{V}}", [false]),
      ("del() { find \"$1\"; }; del ${{V}}", [true]), ("f() { rm \"$x\"; }; f ${{V}}", [false]),
      ("del() { local x=$1; rm \"$x\"; }; del ${{V}}", [true]),
      ("del() { for x; do rm $x; done; }; del ${{V}}", [true]),
      ("del() { for x in \"$@\"; do rm $x; done; }; del ${{V}}", [true]),
      ("del() { x=$(echo $1); rm $x; }; del ${{V}}", [true]),
      ("del() { rm $(cat <<E\n$1\nE\n); }; del ${{V}}", [true]),
      ("del() { rm ${!#}; }; del ${{V}}", [true]), ("del() { rm $_; }; del ${{V}}", [true]),
      ("del() { rm ${1%/}; }; del ${{V}}", [true]),
      ("del() { rm ${BASH_ARGV[0]}; }; del ${{V}}", [true]),
      ("del() { rm2 $1; }; rm2() { rm $1; }; del ${{V}}; rm2 ${{V}}", [true, true]),
      ("f() { g $1; }; g() { f $1; }; f ${{V}}; g ${{V}}", [false, false]),
      ("f() { g $1; }; g() { rm $1; f; }; f ${{V}}; g ${{V}}", [true, true]),
      ("f() { echo $1; }; f() { rm $1; }; f ${{V}}", [true]),
      ("f() { echo $1; }; sudo f ${{V}}; command f ${{V}}", [true, true]),
      ("f() { echo $1; }; . ./lib; f ${{V}}", [true]),
      ("f() { echo $1; rm ${{V}}; }; f", [true]),
      ("f() { set -- \"$@\"; rm $1; }; f ${{V}}", [true]),
    ] as [(String, [Bool?])])
  func anArgumentOfAFunction(text: String, expected: [Bool?]) {
    #expect(mayBeOption(text, .bash) == expected)
  }

  private func mayBeOption(_ text: String, _ dialect: ShellDialect = .posix) -> [Bool?] {
    QuotedScript(text, dialect).placements.map { placement in
      if case .quoted(_, let mayBeOption) = placement { mayBeOption } else { nil }
    }
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
