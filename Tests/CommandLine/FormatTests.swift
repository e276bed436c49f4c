import Testing

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// `weft fmt` and the files that it writes.
struct FormatTests {
  private static let source = "{\"steps\":[\n\"true\"]}"
  private static let result = "{\n  \"steps\": [\n    \"true\"\n  ]\n}\n"

  private static let repository =
    "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")

  private func text(_ name: String, in directory: Directory) -> String? {
    directory.read(name).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func aFileIsReplacedAndNamedOnce() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    directory.write("b.json", Self.result)
    let first = Weft.run("fmt", "a.json", "b.json", in: directory)
    #expect(first == .init(stdout: Array("a.json\n".utf8), stderr: [], status: 0))
    #expect(text("a.json", in: directory) == Self.result)
    let second = Weft.run("fmt", "a.json", "b.json", in: directory)
    #expect(second == .init(stdout: [], stderr: [], status: 0))
    #expect(text("a.json", in: directory) == Self.result)
    #expect(Weft.shell("ls -A", in: directory).output == "a.json\nb.json\n")
  }

  @Test func aFileThatIsFormattedIsNotTouched() {
    let directory = Directory()
    directory.write("a.json", Self.result)
    let result = Weft.shell(
      "touch -d @1000000000 a.json; \"$WEFT\" fmt a.json && stat -c %Y a.json", in: directory)
    #expect(result.output == "1000000000\n")
  }

  @Test func aCheckWritesNothing() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    let result = Weft.run("fmt", "--check", "a.json", in: directory)
    #expect(result == .init(stdout: Array("a.json\n".utf8), stderr: [], status: 1))
    #expect(text("a.json", in: directory) == Self.source)
  }

  @Test func aRejectedFileStaysAndOthersAreFormatted() {
    let directory = Directory()
    directory.write("a.json", "{\"steps\":[}")
    directory.write("b.json", Self.source)
    let result = Weft.run("fmt", "a.json", "b.json", in: directory)
    #expect(result.status == 3)
    #expect(result.output == "b.json\n")
    #expect(result.errors.contains("a.json:1:11: error: found \"}\", expected \"]\" [W0010]"))
    #expect(text("a.json", in: directory) == "{\"steps\":[}")
    #expect(text("b.json", in: directory) == Self.result)
  }

  @Test func permissionsStay() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    let result = Weft.shell(
      "chmod 754 a.json; umask 077; \"$WEFT\" fmt a.json && stat -c %a a.json", in: directory)
    #expect(result.output == "a.json\n754\n")
  }

  @Test func aLinkStaysALink() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    let result = Weft.shell(
      "mkdir -p b/c; mv a.json b/c; ln -s c/a.json b/l.json; ln -s b/l.json l.json\n"
        + "\"$WEFT\" fmt l.json && readlink l.json b/l.json && ls -A . b/c && cat b/c/a.json",
      in: directory)
    #expect(
      result.output
        == "l.json\nb/l.json\nc/a.json\n.:\nb\nl.json\n\nb/c:\na.json\n" + Self.result)
  }

  @Test func theFileOfALookupIsFormattedAbove() {
    let directory = Directory()
    directory.write("weft.jsonc", Self.source)
    let result = Weft.shell("mkdir sub; cd sub; exec \"$WEFT\" fmt", in: directory)
    #expect(result.errors == "weft: using ../weft.jsonc\n")
    #expect(result.output == "weft.jsonc\n")
    #expect(text("weft.jsonc", in: directory) == Self.result)
  }

  @Test func aNameMeansAWorkflowOfTheFolder() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    let result = Weft.shell(
      "mkdir workflows; mv a.json workflows; \"$WEFT\" fmt a && cat workflows/a.json",
      in: directory)
    #expect(result.output == "workflows/a.json\n" + Self.result)
  }

  @Test func whatIsNoFileCannotBeReplaced() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    let result = Weft.shell(
      "mkfifo f.json; cat a.json >f.json & \"$WEFT\" fmt f.json", in: directory)
    #expect(result.status == 2)
    #expect(result.output == "")
    #expect(
      result.errors == """
        weft: error: "f.json" is a FIFO, which cannot be replaced
           = help: pass its text on standard input, as "-"

        """)
  }

  @Test(.enabled(if: geteuid() != 0, "root may write any file"))
  func aFileThatCannotBeWrittenStays() {
    let directory = Directory()
    directory.write("a.json", Self.source)
    directory.write("b.json", Self.source)
    let result = Weft.shell("chmod 444 a.json; \"$WEFT\" fmt a.json b.json", in: directory)
    #expect(result.status == 4)
    #expect(result.output == "b.json\n")
    #expect(
      result.errors == """
        weft: error: "a.json" cannot be replaced: permission denied (EACCES)
           = help: both the file and its directory must be writable

        """)
    #expect(text("a.json", in: directory) == Self.source)
    #expect(Weft.shell("ls -A", in: directory).output == "a.json\nb.json\n")
  }

  @Test func outputThatCannotBeWrittenIsAnError() {
    let result = Weft.shell("echo '[1]' | \"$WEFT\" fmt - >/dev/full", in: Directory())
    #expect(result.status == 4)
  }

  /// The files that `weft init` writes, and the workflows of this repository.
  @Test func theWorkflowsOfWeftAreFormatted() {
    let directory = Directory()
    let result = Weft.shell(
      """
      { "$WEFT" init && "$WEFT" init --test; } >&2
      "$WEFT" fmt --check workflow.json workflow.test.json &&
      "$WEFT" fmt --check "$1"/workflows/*.json "$1"/workflows/*/*.json
      """, [Self.repository], in: directory)
    #expect(result.output == "")
    #expect(result.status == 0)
  }
}
