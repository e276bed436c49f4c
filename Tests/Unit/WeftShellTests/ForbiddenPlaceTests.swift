import Testing
import WeftTestKit

@testable import WeftShell

/// A place where no value is allowed stays forbidden, whatever surrounds it.
@Suite struct ForbiddenPlaceTests {
  /// Fragments with one expression each, in a place that is forbidden in every dialect.
  static let fragments = [
    "cat <<'Q'\n${{V}}\nQ\n:", "echo `echo ${{V}}`", "echo \"`echo '${{V}}'`\"",
    "echo $((${{V}} + 1))", "x=$(( ${{V}} ))",
    "echo ${x:-${{V}}}", "echo \"${x%${{V}}}\"", "echo ${x[${{V}}]}", "echo \\${{V}}",
    "echo $${{V}}", "echo \"$${{V}}\"",
    "eval ${{V}}", "eval \"echo '${{V}}'\"", "let ${{V}}", "declare x=${{V}}", "typeset ${{V}}",
    "local -i x=${{V}}", "unset ${{V}}",
    "read ${{V}}", "trap ${{V}} EXIT", ". ${{V}}", "source ${{V}}", "printf -v ${{V}} %s x",
    "printf ${{V}}", "test -v ${{V}}",
    "[ -v ${{V}} ]", "[ 1 ${{V}} 1 ]", "export ${{V}}=1", "${{V}}=1", "${{V}}", "env ${{V}}",
    "sudo -n ${{V}}", "exec ${{V}}", "nice -n 3 ${{V}}",
    "sh -c ${{V}}", "bash -ec 'echo ${{V}}'", "find . -exec sh -c \"${{V}}\" \\;",
    "xargs -n 1 sh -c ${{V}}", "busybox sh -c ${{V}}",
    "su -c ${{V}}", "ssh host ${{V}}", "watch ${{V}}", "python3 -c ${{V}}", "perl -e ${{V}}",
    "awk ${{V}}", "sed -e ${{V}}", "jq ${{V}}", "ruby -e ${{V}}",
    "node -e ${{V}}", "php -r ${{V}}", "lua -e ${{V}}", "sh <<Q\n${{V}}\nQ\n:", "echo ${{V}} | sh",
    "PS4=${{V}}", "LD_PRELOAD=${{V}} ls", "for ${{V}} in a; do :; done",
    "${{V}}() { :; }", "cat <<${{V}}\n${{V}}", "mapfile ${{V}}", "getopts a ${{V}}",
    "alias a=${{V}}", "bind ${{V}}", "complete ${{V}}", "$x ${{V}}",
    "n=${{V}}; echo $((n))", "n=${{V}}; eval \"$n\"", "n=${{V}}; $n",
    "sh -c 'eval \"$1\"' _ ${{V}}", "env A=${{V}} sh -c 'echo $((A))'",
    "f() { eval \"$1\"; }; f ${{V}}",
    "f() { echo ${{V}}; }; f | sh", "f() { echo ${{V}}; }; n=$(f); echo $((n))",
    "f() { sh; }; echo ${{V}} | f", "f() { read n; eval \"$n\"; }; f <<Q\n${{V}}\nQ\n:",
    "exec 3<<Q\n${{V}}\nQ\nsh <&3", "sh /dev/fd/3 3<<Q\n${{V}}\nQ\n:",
    "echo ${{V}} | { x=$(cat); eval \"$x\"; }",
    "[[ ${{V}} -eq 1 ]]", "[[ -v ${{V}} ]]", "((${{V}}))", "for ((i = ${{V}}; ; )); do :; done",
    "coproc ${{V}}", "a[${{V}}]=1", "a=([${{V}}]=1)", "echo $[${{V}}]", "sh <<< ${{V}}",
  ]

  /// Text that may surround a command.
  static let surroundings = [
    ("", ""), ("if ", "\nthen :; fi"), ("if true; then ", "\nfi"), ("while ", "\ndo break; done"),
    ("for i in a; do ", "\ndone"), ("{ ", "\n}"), ("( ", "\n)"),
    ("echo \"$( ", "\n)\""), ("x=$( ", "\n)"), ("g() { ", "\n}"), ("case a in a) ", "\n;; esac"),
    ("true && ", ""), ("! ", ""), ("cat <<E\n$( ", "\n)\nE"), ("echo 'it' # it's\n", ""),
    ("echo ${{OK}}; ", ""), ("cat <<'E'\n'\nE\n", ""),
    ("case '${{OK}}' in (\"${{OK}}\") ", "\nesac"), ("f() {\n", "\n} >\"${{OK}}\""),
    ("true | ", ""),
  ]

  @Test(arguments: fragments)
  func isRejectedWhateverSurroundsIt(fragment: String) {
    var random = SeededGenerator(seed: UInt64(fragment.utf8.count))
    for _ in 0..<80 {
      var text = fragment
      for _ in 0..<Int.random(in: 0...3, using: &random) {
        let (before, after) = Self.surroundings.randomElement(using: &random)!
        text = before + text + after
      }
      for dialect in ShellDialect.known {
        let script = QuotedScript(text, dialect)
        let rejected = script.rejections.contains { script.expressions[$0.placeholder] == "V" }
        #expect(rejected, "\(dialect): \(text)")
      }
    }
  }
}
