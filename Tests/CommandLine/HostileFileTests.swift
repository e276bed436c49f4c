import TestSupport
import Testing

/// Files that are too large, endless or changing, or not files at all.
struct HostileFileTests {
  @Test(
    "W08: an endless file is rejected after its limit, by every command that reads one",
    arguments: ["check", "run", "graph"])
  func anEndlessFileIsRejected(command: String) {
    let result = Weft.run(command, "/dev/zero", in: Directory())
    #expect(result.status == 3)
    #expect((result.output + result.errors).contains("has more than 64 MiB"))
  }

  @Test("W08: an endless pipe is rejected after its limit")
  func anEndlessPipeIsRejected() {
    let result = Weft.shell("yes | \"$WEFT\" check -", in: Directory())
    #expect(result.status == 3)
    #expect(result.output.contains("standard input has more than 64 MiB"))
  }

  @Test("W08: a file of a gigabyte is rejected without reading it")
  func aHugeFileIsRejected() {
    let result = Weft.shell(
      "truncate -s 1G huge.json && ulimit -v 400000 && exec \"$WEFT\" check huge.json",
      in: Directory())
    #expect(result.status == 3)
    #expect(result.output.contains("\"huge.json\" has more than 64 MiB"))
  }

  @Test("W08: a FIFO that nobody writes to is given up after 5 s")
  func aFIFOWithoutAWriterIsGivenUp() {
    let result = Weft.shell("mkfifo fifo.json && exec \"$WEFT\" check fifo.json", in: Directory())
    #expect(result.status == 3)
    #expect(result.output.contains("was not opened for writing within 5 s"))
  }

  @Test("W08: a FIFO with a writer is read")
  func aFIFOWithAWriterIsRead() {
    let result = Weft.shell(
      "mkfifo fifo.json; echo '{ \"steps\": [\"true\"] }' >fifo.json & \"$WEFT\" check fifo.json",
      in: Directory())
    #expect(result.output == "1 file: no problems\n")
    #expect(result.status == 0)
  }

  @Test("W12: nothing starts when there is an error anywhere, and all are told by place")
  func rejectedFileStartsNothing() {
    let directory = Directory()
    directory.write(
      "workflow.json",
      #"{ "steps": ["touch started", { "run": 1 }, { "rnu": "x" }, { "run": "x", "timeout": 5 }] }"#
    )
    let result = Weft.run("run", "workflow.json", in: directory)
    #expect(result.status == 3)
    #expect(directory.read("started") == nil)
    let places = result.errors.matches(of: #/workflow\.json:1:(\d+): error/#).map { Int($0.1)! }
    #expect(places.count >= 3)
    #expect(places == places.sorted())
  }

  @Test("W14: a name that is no command makes no path and no run")
  func aStrangeWordTouchesNothing() {
    let directory = Directory()
    let result = Weft.run("..", in: directory)
    #expect(result.status == 2)
    #expect(Files.names(in: directory.path) == [])
  }

  @Test("W19: a file that is replaced while it is read is one version or the other")
  func aFileThatIsReplacedIsOneVersion() {
    let result = Weft.shell(
      """
      echo '{ "steps": ["echo one"] }' >one; echo '{ "steps": ["echo two"] }' >two; cp one w.json
      (while [ ! -e stop ]; do cp one .a; mv .a w.json; cp two .b; mv .b w.json; done) &
      for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        "$WEFT" run w.json || echo "broke with $?"
      done
      touch stop; wait
      """, in: Directory())
    #expect(!result.output.contains("broke"))
    #expect(result.errors == "")
    let runs = result.output.matches(of: #/\] (one|two)\n/#).count
    #expect(runs == 20)
  }

  @Test("W22: of very many errors the first 20 are shown, and how many more there are")
  func onlyTheFirstErrorsAreShown() {
    let directory = Directory()
    let steps = (0..<largeCount).map { #"{ "id": "s\#($0)", "run": "x", "needs": ["n\#($0)"] }"# }
    directory.write(
      "workflow.json", "{ \"parallel\": [\n" + steps.joined(separator: ",\n") + "\n] }")
    let result = Weft.run("check", "workflow.json", in: directory)
    #expect(result.status == 3)
    #expect(result.output.matches(of: #/: error: /#).count == 20)
    #expect(result.output.contains("… and \(largeCount - 20) more"))
    #expect(result.output.hasSuffix("1 file: \(largeCount) errors\n"))
  }

  @Test("C07: names of any bytes do no harm in any locale")
  func namesOfAnyBytesDoNoHarm() {
    let result = Weft.shell(
      """
      export LC_ALL=C; name=$(printf 'caf\\351.json'); echo '{ "steps": ["true"] }' >"$name"
      "$WEFT" check "$name"; echo "code $?"
      name=$(printf 'caf\\303\\251\\033[2J.json'); echo '{ "steps": ["true",] }' >"$name"
      "$WEFT" check "$name"; echo "code $?"
      """, in: Directory())
    #expect(result.output.contains("code 2\n"))
    #expect(result.output.contains("code 3\n"))
    #expect(result.errors.contains("argument 2 is not UTF-8"))
    #expect(!(result.stdout + result.stderr).contains(0x1B))
  }

  @Test(arguments: [#"-i "$v""#, #""-i$v""#, #"--input "$v""#, #""--input=$v""#])
  func inputThatIsNotUTF8IsNamedWithoutItsValue(option: String) {
    let result = Weft.shell(
      """
      echo '{ "inputs": { "key": {} }, "steps": ["true"] }' >w.json
      v=$(printf 'key=hunter2\\377'); "$WEFT" run w.json \(option)
      """, in: Directory())
    #expect(result.errors.hasPrefix(#"weft: error: "-i key" is not UTF-8 (argument"#))
    #expect(result.errors.contains("inputs are texts in UTF-8") && result.status == 2)
    #expect(!result.errors.contains("hunter2"))
  }
}
