import Testing

@testable import WeftShell

/// Arrays in scripts: each is an argument for each of its elements, where any number of arguments is allowed.
@Suite struct ScriptListTests {
  @Test(
    "an array may be any number of arguments",
    arguments: [
      "cat ${{ a }}", "cat x ${{ a }} | wc -l", "cat ${{ a }}>out", "(cat ${{ a }})",
      "for f in ${{ a }}; do echo \"$f\"; done", "x=$(cat -- ${{ a }})", "echo \"$(cat ${{ a }})\"",
      "cat ${{ a }} ${{ a }}", "cat \\\n  ${{ a }}", "set -- ${{ a }}", "true # ${{ a }}",
      "timeout 5 cat ${{ a }}", "printf '%s\\n' ${{ a }}",
    ])
  func accepted(text: String) {
    for dialect in ShellDialect.known {
      #expect(QuotedScript(text, dialect, areLists: true).reasons.isEmpty, "\(dialect)")
    }
  }

  @Test func inArrayLiteralsOfBash() {
    #expect(QuotedScript("x=( ${{ a }} )", .bash, areLists: true).isSound)
  }

  @Test(
    "only one word is possible",
    arguments: [
      "cat \"${{ a }}\"", "cat '${{ a }}'", "cat x${{ a }}", "cat ${{ a }}x",
      "cat ${{ a }}${{ a }}",
      "cat < ${{ a }}", "cat <${{ a }}", "cat 2> ${{ a }}", "cat >| ${{ a }}", "cat >& ${{ a }}",
      "x=${{ a }}", "x=${{ a }} cat", "case ${{ a }} in x) ;; esac", "cat <<E\n${{ a }}\nE\n",
      "cat \\ ${{ a }}", "echo $(( ${{ a }} ))",
    ])
  func rejected(text: String) {
    for dialect in ShellDialect.known {
      #expect(!QuotedScript(text, dialect, areLists: true).isSound, "\(dialect)")
    }
  }

  @Test func namesTheArray() throws {
    let error = try #require(
      QuotedScript("cat \"${{ a }}\"", .posix, areLists: true).rejections.first?.rejection)
    #expect(error.message == "${{ a }} is an array, and only one word is possible here")
  }

  @Test(
    "a second element would be a command, or text that a program runs",
    arguments: [
      "timeout ${{ a }} sleep 5", "nice ${{ a }}", "timeout ${{ a }}", "xargs ${{ a }}",
      "env ${{ a }}", "awk -v ${{ a }}", "ssh ${{ a }}", "eval ${{ a }}",
    ])
  func aLaterElementMayBeRun(text: String) {
    for dialect in ShellDialect.known {
      #expect(!QuotedScript(text, dialect, areLists: true).isSound, "\(dialect)")
    }
  }

  @Test("a value after an array may be at any place", arguments: [ShellDialect.posix, .bash])
  func valuesAfterAnArray(dialect: ShellDialect) {
    let text = "timeout ${{ a }} ${{ x }}"
    #expect(!QuotedScript(text, dialect, lists: [0]).isSound)
    // With one element, it is a command; without any, it is what `cat` reads.
    #expect(QuotedScript("cat ${{ a }} ${{ x }}", dialect, lists: [0]).isSound)
  }

  @Test func referencesOfOtherValuesStay() {
    let script = QuotedScript("cat ${{ a }} \"${{ b }}\"", .posix, lists: [0])
    #expect(script.rewritten == "cat \"${a}\" \"${b}\"")
  }

  @Test("an element may be an option wherever one is")
  func options() {
    let script = QuotedScript("rm ${{ a }}", .posix, areLists: true)
    #expect(script.placements == [.quoted(.bare, mayBeOption: true)])
    #expect(
      QuotedScript("rm -- ${{ a }}", .posix, areLists: true).placements
        == [.quoted(.bare, mayBeOption: false)])
    // The second element follows the argument of an option.
    #expect(
      QuotedScript("git commit -m ${{ a }}", .posix, areLists: true).placements
        == [.quoted(.bare, mayBeOption: true)])
  }
}
