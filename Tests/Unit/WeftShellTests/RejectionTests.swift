import TestSupport
import Testing

@testable import WeftShell

/// The places where no value is allowed.
@Suite struct RejectionTests {
  typealias Reason = ShellQuotingError.Reason

  @Test(
    arguments: [
      ("cat <<'E'\n${{V}}\nE", [.quotedHereDocument]),
      ("cat <<\\E\n$x ${{V}}\nE", [.quotedHereDocument]),
      ("cat <<-\"E\"\n\t${{V}}\n\tE", [.quotedHereDocument]),
      ("cat <<${{V}}\nx\n", [.hereDocumentDelimiter]),
      ("cat <<'E${{V}}'\nx\n", [.hereDocumentDelimiter]),
      ("echo `echo ${{V}}`", [.backquotes]),
      ("echo \"`echo '${{V}}' ${{W}}`\" ${{V}}", [.backquotes, .backquotes]),
      ("cat <<E\n`echo ${{V}}`\nE", [.backquotes]),
      ("echo $((1 + ${{V}}))", [.arithmetic]),
      ("echo \"$(( $(echo ${{V}}) ))\"", [.arithmetic]),
      ("echo $((a[${{V}}]))", [.arithmetic]),
      ("echo ${x:-${{V}}}", [.expansion(isEvaluated: false)]),
      ("echo \"${x#${{V}}}\"", [.expansion(isEvaluated: false)]),
      ("echo ${x:-$(echo ${{V}})}", [.expansion(isEvaluated: false)]),
      ("echo ${${{V}}}", [.expansion(isEvaluated: true)]),
      ("echo ${x:${{V}}:1}", [.expansion(isEvaluated: true)]),
      ("echo \\${{V}}", [.afterBackslash]),
      ("echo \"a\\${{V}}\"", [.afterBackslash]),
      ("cat <<E\n\\${{V}}\nE", [.afterBackslash]),
      ("echo $${{V}}", [.afterDollar]),
      ("echo \"$${{V}}\"", [.afterDollar]),
      ("cat <<E\n$${{V}}\nE", [.afterDollar]),
      ("echo $\"a ${{V}}\"", [.translated]),
      ("echo a >&${{V}}", [.descriptor]),
      ("${{V}}", [.commandWord]),
      ("./bin/${{V}} ${{W}}", [.commandWord, .unknownCommand]),
      ("x=1 '${{V}}'", [.commandWord]),
      ("env A=b ${{V}}", [.commandWord]),
      ("sudo -u www ${{V}} x", [.commandWord]),
      ("exec ${{V}}", [.commandWord]),
      ("command -- ${{V}}", [.commandWord]),
      ("ls | xargs -n 1 ${{V}}", [.commandWord]),
      ("timeout 5 ${{V}}", [.commandWord]),
      ("$(echo ${{V}}) x", [.commandWord]),
      ("$tool ${{V}}", [.unknownCommand]),
      ("\"$bin/$tool\" ${{V}}", [.unknownCommand]),
      ("${{V}}=x", [.assignmentName]),
      ("export ${{V}}=x", [.assignmentName]),
      ("export ${{V}}", [.assignmentName]),
      ("env ${{V}}=x ls", [.assignmentName]),
      ("${{V}}() { :; }", [.functionName]),
      ("for ${{V}} in a; do :; done", [.loopName]),
      ("LD_PRELOAD=${{V}} ls", [.specialVariable("LD_PRELOAD")]),
      ("PS4='${{V}}'", [.specialVariable("PS4")]),
      ("export IFS=${{V}}", [.specialVariable("IFS")]),
      ("env BASH_ENV=${{V}} bash x", [.specialVariable("BASH_ENV")]),
      ("eval echo ${{V}}", [.evaluatedArgument("eval")]),
      ("eval \"$(echo ${{V}})\"", [.evaluatedArgument("eval")]),
      ("command eval '${{V}}'", [.evaluatedArgument("eval")]),
      ("let x=${{V}}", [.evaluatedArgument("let")]),
      ("declare x=${{V}}", [.evaluatedArgument("declare")]),
      ("typeset -i x=${{V}}", [.evaluatedArgument("typeset")]),
      ("local -i x=${{V}}", [.evaluatedArgument("local")]),
      ("readonly -- x=${{V}}", [.evaluatedArgument("readonly")]),
      ("declare -i n; n=${{V}}", [.attributes("n")]),
      ("unset ${{V}}", [.evaluatedArgument("unset")]),
      ("read -r ${{V}}", [.evaluatedArgument("read")]),
      ("trap 'echo ${{V}}' EXIT", [.evaluatedArgument("trap")]),
      (". ${{V}}", [.evaluatedArgument(".")]),
      ("source x ${{V}}", [.evaluatedArgument("source")]),
      ("mapfile -t ${{V}}", [.evaluatedArgument("mapfile")]),
      ("getopts ab ${{V}}", [.evaluatedArgument("getopts")]),
      ("set ${{V}}", [.evaluatedArgument("set")]),
      ("set -o ${{V}}", [.evaluatedArgument("set")]),
      ("printf -v x %s ${{V}}", [.evaluatedArgument("printf -v")]),
      ("printf -v${{V}} %s x", [.evaluatedArgument("printf -v")]),
      ("printf ${{V}} x", [.format]),
      ("printf 'a ${{V}}\\n'", [.format]),
      ("test -v ${{V}}", [.condition("-v")]),
      ("[ -v ${{V}} ]", [.condition("-v")]),
      ("[ ${{V}} ${{W}} ]", [.condition(nil), .condition(nil)]),
      ("[ a ${{V}} b ]", [.condition(nil)]),
      ("[ -n x -a ${{V}} = y ]", [.longTest]),
      ("alias ll='ls ${{V}}'", [.evaluatedArgument("alias")]),
      ("sh -c 'echo ${{V}}'", [.programText("sh")]),
      ("bash -euc \"echo ${{V}}\"", [.programText("bash")]),
      ("sudo -u www env A=1 nice -n 5 bash -c ${{V}}", [.programText("bash")]),
      ("timeout 5 sh -c ${{V}}", [.programText("sh")]),
      ("busybox sh -c ${{V}}", [.programText("sh")]),
      ("find . -exec sh -c 'echo ${{V}}' \\;", [.programText("sh")]),
      ("ls | xargs -I{} sh -c 'echo ${{V}}'", [.programText("sh")]),
      ("docker exec -it box sh -c 'echo ${{V}}'", [.programText("sh")]),
      ("kubectl exec pod -- /bin/bash -ec 'echo ${{V}}'", [.programText("bash")]),
      ("/usr/bin/env bash -c ${{V}}", [.programText("bash")]),
      ("\"$HOME/bin/bash\" -c ${{V}}", [.programText("bash")]),
      ("su www -c ${{V}}", [.programText("su")]),
      ("runuser -u www -- sh -c ${{V}}", [.programText("sh")]),
      ("python3 tool.py bash -c ${{V}}", [.programText("bash")]),
      ("sshpass -p x ssh host ${{V}}", [.scriptText("ssh")]),
      ("watch -n 1 ls ${{V}}", [.scriptText("watch")]),
      ("flock x -c 'echo ${{V}}'", [.scriptText("flock")]),
      ("env -S 'ls ${{V}}'", [.scriptText("env")]),
      ("ssh host ls ${{V}}", [.scriptText("ssh")]),
      ("ssh ${{V}} ls", [.optionOf("ssh")]),
      ("ssh -o ProxyCommand=${{V}} host", [.optionOf("ssh")]),
      ("bash ${{V}}", [.programFile("bash")]),
      ("python3 ${{V}}", [.programFile("python3")]),
      ("python3 -c 'print(${{V}})'", [.programText("python3")]),
      ("python3.12 -c'print(${{V}})'", [.programText("python3.12")]),
      ("perl -ne 'print ${{V}}'", [.programText("perl")]),
      ("perl -e 'print' ${{V}}", [.optionOf("perl")]),
      ("ruby -e ${{V}}", [.programText("ruby")]),
      ("node --eval=${{V}}", [.programText("node")]),
      ("php -r ${{V}}", [.programText("php")]),
      ("lua -e ${{V}}", [.programText("lua")]),
      ("awk '{ print ${{V}} }' x", [.programText("awk")]),
      ("awk -f ${{V}} x", [.optionOf("awk")]),
      ("sed -i 's/a/${{V}}/' x", [.programText("sed")]),
      ("sed -e p -e ${{V}} x", [.programText("sed")]),
      ("sed p ${{V}}", [.optionOf("sed")]),
      ("jq '.a = \"${{V}}\"' x", [.programText("jq")]),
      ("make VERSION=${{V}}", [.programText("make")]),
      ("psql -c 'select ${{V}}'", [.programText("psql")]),
      ("sqlite3 db 'select ${{V}}'", [.programText("sqlite3")]),
      ("sh <<E\necho ${{V}}\nE", [.programInput]),
      ("ssh host <<E\necho ${{V}}\nE", [.programInput]),
      ("{ cat; sh; } <<E\necho ${{V}}\nE", [.programInput]),
      ("cat <<E |\necho ${{V}}\nE\nsh", [.programInput]),
      ("cat <<E | sudo bash -s\necho ${{V}}\nE", [.programInput]),
      ("echo ${{V}} | sh", [.programInput]),
      ("curl ${{V}} | bash", [.programInput]),
      ("bash < ${{V}}", [.programInput]),
      ("n=${{V}}; echo $((n + 1))", [.evaluatedLater("n")]),
      ("n=${{V}}; m=$n; echo ${x:$m}", [.evaluatedLater("m")]),
      ("c=${{V}}; $c", [.evaluatedLater("c")]),
      ("c=${{V}}; sh -c \"echo $c\"", [.evaluatedLater("c")]),
      ("c=${{V}}; eval 'echo $c'", [.evaluatedLater("c")]),
      ("for c in ${{V}}; do sh -c \"$c\"; done", [.evaluatedLater("c")]),
      ("f() { echo $(($1)); }; f ${{V}}", [.evaluatedLater("@")]),
      ("set -- ${{V}}; eval \"$@\"", [.evaluatedLater("@")]),
      ("echo ${{V}} | while read -r x; do echo $((x)); done", [.evaluatedLater("x")]),
      ("n=${{V}}; ((n))", nil),
      ("f() { echo ${{V}}; }\nf | sh", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; n=$(f); echo $((n + 1))", [.evaluatedLater("n")]),
      ("f() { cat <<E\n${{V}}\nE\n}; eval \"$(f)\"", [.evaluatedLater("f()")]),
      ("f() { g; }; g() { echo ${{V}}; }; sh -c \"$(f)\"", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; $(f)", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; eval '$(f)'", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; x=`f`; sh -c \"$x\"", [.evaluatedLater("x")]),
      ("v=${{V}}; f() { echo $v; }; f | sh", [.evaluatedLater("f()")]),
      ("f() { sh; }; echo ${{V}} | f", [.programInput]),
      ("g() { f; }; f() { sh; }; g <<E\n${{V}}\nE", [.programInput]),
      ("main() { echo ${{V}} | f; }; f() { sh; }; main", [.programInput]),
      ("f() { read -r n; echo $((n)); }; f <<E\n${{V}}\nE", [.evaluatedLater("n")]),
      ("f() { x=$(cat); eval \"$x\"; }; echo ${{V}} | f", [.programInput]),
      ("echo ${{V}} | { x=$(cat); echo $((x)); }", [.evaluatedLater("x")]),
      ("read -r n <<E\n${{V}}\nE\neval \"$n\"", [.evaluatedLater("n")]),
      ("while read -r n; do echo $((n)); done <<E\n${{V}}\nE", [.evaluatedLater("n")]),
      ("echo ${{V}} | sh -c 'read -r n; eval \"$n\"'", [.programInput]),
      ("echo ${{V}} | sh -c 'cat | sh'", [.programInput]),
      ("exec 3<<E\n${{V}}\nE\nsh <&3", [.programInput]),
      ("sh /dev/fd/3 3<<E\n${{V}}\nE", [.evaluatedLater("&")]),
      ("exec <<E\n${{V}}\nE\nsh", [.programInput]),
      ("exec 3<<E\n${{V}}\nE\nread -r n <&3; eval \"$n\"", [.evaluatedLater("n")]),
    ] as [(String, [Reason]?)])
  func isRejected(script: String, expected: [Reason]?) {
    for dialect in [ShellDialect.posix, .bash] {
      let reasons = QuotedScript(script, dialect).reasons
      if let expected { #expect(reasons == expected) } else { #expect(!reasons.isEmpty) }
    }
  }

  @Test(
    arguments: [
      ("((${{V}} > 1))", [.arithmetic]),
      ("for ((i = ${{V}}; ; )); do :; done", [.arithmetic]),
      ("[[ ${{V}} -eq 1 ]]", [.condition("-eq")]),
      ("[[ -v ${{V}} ]]", [.condition("-v")]),
      ("[[ -n a && 1 -lt '${{V}}' ]]", [.condition("-lt")]),
      ("a=([${{V}}]=x)", [.elementIndex]),
      ("a[${{V}}]=x", [.elementIndex]),
      ("sh <<< ${{V}}", [.programInput]),
      ("read -r n <<< ${{V}}; echo $((n))", [.evaluatedLater("n")]),
      ("n=${{V}}; [[ $n -gt 1 ]]", [.evaluatedLater("n")]),
      ("n=${{V}}; echo ${a[n]}", [.evaluatedLater("n")]),
      ("n=${{V}}; echo ${!n}", [.evaluatedLater("n")]),
      ("f() { echo ${{V}}; }; [[ $(f) -gt 3 ]]", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; read n < <(f); ((n))", [.evaluatedLater("n")]),
      ("f() { echo ${{V}}; }; mapfile -t a < <(f); ((a[0]))", [.evaluatedLater("a")]),
      ("f() { echo ${{V}}; }; bash <<< \"$(f)\"", [.evaluatedLater("f()")]),
      ("f() { echo ${{V}}; }; source <(f)", [.evaluatedLater("f()")]),
      ("declare -i n; f() { cat <<E\n${{V}}\nE\n}; n=$(f)", [.evaluatedLater("n")]),
      ("exec 3<<< ${{V}}; bash <&3", [.programInput]),
      ("exec 3<<< ${{V}}; read -u 3 n; ((n))", [.evaluatedLater("n")]),
      ("echo ${{V}} > >(sh)", [.programInput]),
      ("exec > >(bash); echo ${{V}}", [.programInput]),
      ("exec 4> >(sh); echo ${{V}} >&4", [.programInput]),
      ("tee >(bash) <<E\n${{V}}\nE", [.programInput]),
      ("{ echo ${{V}}; } > >(bash)", [.programInput]),
      ("exec < <(echo ${{V}}); sh", [.programInput]),
      ("echo $'\\${{V}}'", [.afterBackslash]),
      ("echo $'\\c${{V}}'", [.afterBackslash]),
    ] as [(String, [Reason])])
  func isRejectedInBash(script: String, expected: [Reason]) {
    #expect(QuotedScript(script, .bash).reasons == expected)
    #expect(!QuotedScript(script, .posix).isSound)
  }

  /// Functions and descriptors whose text nothing evaluates.
  @Test(arguments: [
    "cleanup() { rm -rf -- ${{V}}; }\ntrap cleanup EXIT\ntrap 'echo x; cleanup' INT",
    "f() { echo ${{V}}; }; x=$(f); echo \"$x\"", "f() { echo ${{V}}; }; x=`f`; echo \"$x\"",
    "f() { echo ${{V}}; }; g() { sh; }; f | grep x; g <script.sh",
    "f() { echo ${{V}} | while read -r x; do echo \"$x\"; done; }; read -r n <list; eval \"$n\"; f",
    "echo ${{V}} | grep y; echo ls | sh", "exec 3<<E\n${{V}}\nE\ncat <&3; echo ls | sh",
    "f() { sh; }; f <<E\nls\nE\ncat <<E\n${{V}}\nE",
    "n=$(wc -l <<E\n${{V}}\nE\n); echo \"$n\"", "die() { echo ${{V}}; exit 1; }; sh <x || die",
  ])
  func isAccepted(script: String) {
    for dialect in [ShellDialect.posix, .bash] {
      #expect(QuotedScript(script, dialect).reasons == [])
    }
  }

  @Test(arguments: [
    "echo 'a ${{V}}", "echo \"${{V}}", "echo $(echo ${{V}}", "if true; then echo ${{V}}",
    "echo ${{V}})",
    "{ echo ${{V}}", "cat <<E\n${{V}}\n", "case ${{V}} in a) echo", "((1)\necho ${{V}}",
    "alias e=eval\ne ${{V}}", "set -k\necho ${{V}}", "shopt -s expand_aliases\necho ${{V}}",
    "echo $[1 ${{V}}", "echo $[(1]) ${{V}}", "echo $['1'] ${{V}}", "echo ${ ls;} ${{V}}",
    "echo ${x:-{} ${{V}}", "echo \"${x:-'a'}\" ${{V}}",
    "echo a(b) ${{V}}", "coproc cat ${{V}}", "echo \u{1} ${{V}}", "cat <<$E\n${{V}}\n$E",
    "cat <<E\n\\\nE\n${{V}}\nE", "cat <<E $(echo\n) ${{V}}\nE", "fi ${{V}}",
    "echo a && && echo ${{V}}",
  ])
  func isNotFollowed(script: String) {
    for dialect in ShellDialect.known {
      #expect(!QuotedScript(script, dialect).isSound)
    }
  }

  @Test(arguments: [
    "[[ a || x -eq ${{V}} ]]", "echo <(${{V}})", "cat <<< ${{V}}", "echo &> ${{V}}", "x=(${{V}})",
    "function f { echo ${{V}}; }", "echo $'\\'' ${{V}}", "((1)); echo ${{V}}",
    "select x in ${{V}}; do :; done",
    "ls |& cat ${{V}}", "echo $[1 + 2]${{V}}",
  ])
  func isNotFollowedWhereShellsCalledShDiffer(script: String) {
    #expect(!QuotedScript(script, .posix).isSound)
  }

  @Test func earlierRejectionSurvivesASyntaxError() {
    let script = QuotedScript("echo ${{V}}\nif echo ${{V}}; then echo 'x", .posix)
    #expect(script.rejections.map(\.placeholder) == [1])
    #expect(script.reasons == [.unfollowable(.unbalanced("'"), line: 2)])
  }

  @Test func nestingHasALimit() {
    func nested(_ depth: Int) -> QuotedScript {
      QuotedScript(
        String(repeating: "echo $(", count: depth) + "echo ${{V}}"
          + String(repeating: ")", count: depth),
        .posix)
    }
    #expect(nested(ScriptReading.depthLimit).isSound)
    #expect(nested(ScriptReading.depthLimit + 1).reasons == [.unfollowable(.tooDeep, line: 1)])
    #expect(nested(largeCount).reasons == [.unfollowable(.tooDeep, line: 1)])
  }

  @Test func noValueHasAPlaceInAnUnknownLanguage() {
    #expect(
      QuotedScript("print('${{V}}')", .unknown("python3")).reasons == [.unknownShell("python3")])
  }
}
