import Testing
import WeftTestKit

@testable import WeftShell

/// The message for each reason and the suggested remedy, compared whole.
@Suite struct RejectionWordingTests {
  /// One script for each reason, each remedy and each way in which a script cannot be analysed.
  private static let scripts = [
    "cat <<'E'\n${{ inputs.x }}\nE", "cat <<E${{ inputs.x }}\n", "echo `echo ${{ inputs.x }}`",
    "echo ${x:-${{ inputs.x }}}",
    "echo $\"${{ inputs.x }}\"", "echo \\${{ inputs.x }}", "echo $${{ inputs.x }}",
    "echo >&${{ inputs.x }}", "echo $((${{ inputs.x }}))",
    "a=([${{ inputs.x }}]=1)", "[[ ${{ inputs.x }} -eq 1 ]]", "test -v ${{ inputs.x }}",
    "[ a ${{ inputs.x }} b ]", "[ -n a -a ${{ inputs.x }} = b ]",
    "eval ${{ inputs.x }}", "set ${{ inputs.x }}", "declare x=${{ inputs.x }}",
    "read ${{ inputs.x }}", "printf -v x %s ${{ inputs.x }}",
    "n=${{ inputs.x }}; echo $((n))", "f() { eval $1; }; f ${{ inputs.x }}",
    "declare -i n; n=${{ inputs.x }}",
    "${{ inputs.x }} a", "$tool ${{ inputs.x }}", "export ${{ inputs.x }}=1",
    "${{ inputs.x }}() { :; }", "for ${{ inputs.x }} in a; do :; done",
    "PS4=${{ inputs.x }}", "sh -c 'echo ${{ inputs.x }}'", "python3.12 -c ${{ inputs.x }}",
    "awk ${{ inputs.x }}", "sed s/a/${{ inputs.x }}/", "make V=${{ inputs.x }}",
    "bash ${{ inputs.x }}", "echo ${{ inputs.x }} | sh", "ssh host ${{ inputs.x }}",
    "watch ${{ inputs.x }}", "ssh ${{ inputs.x }}", "printf ${{ inputs.x }}",
    "echo 'a\necho ${{ inputs.x }}", "echo $[1\necho ${{ inputs.x }}",
    "alias a=b\necho ${{ inputs.x }}", "echo \u{1} ${{ inputs.x }}", "if true\n${{ inputs.x }}",
    "echo (${{ inputs.x }}",
    "echo `${{ inputs.x\n|| 'some text that is much too long to be shown in a message of one line' }}`",
  ]

  @Test func everyReasonNamesTheErrorAndTheRemedy() {
    var text = ""
    for script in Self.scripts {
      for (_, rejection) in QuotedScript(script, .bash).rejections {
        text += "\(script.split(separator: "\n").joined(separator: " / "))\n"
        text += "  \(rejection.message)\n  help: \(rejection.help)\n\n"
      }
    }
    let unknown = QuotedScript("print(${{ inputs.x }})", .unknown("python3")).rejections[0]
      .rejection
    text += "print(${{ inputs.x }})\n  \(unknown.message)\n  help: \(unknown.help)\n"
    let mismatch = Golden("Golden/rejections.txt").mismatch(with: text)
    #expect(mismatch == nil, "\(mismatch ?? "")")
  }
}
