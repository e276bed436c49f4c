import Testing

/// Destinations of the program's own output, and failures to write it.
struct OutputTests {
  private static let filler = String(repeating: "much-", count: 20)
  /// A workflow that writes more than a pipe holds.
  private static let talkative =
    #"{ "steps": [{ "id": "talk", "run": "yes \#(filler) | head -2000" }, "touch ended"] }"#

  @Test("O13: a run whose output nobody reads goes on, and keeps its exit code")
  func runWithoutAReaderContinues() {
    let directory = Directory()
    directory.write("workflow.json", OutputTests.talkative)
    let result = Weft.shell(
      "{ \"$WEFT\" run workflow.json; echo $? >code; } | head -1 >first", in: directory)
    #expect(directory.read("code") == Array("0\n".utf8))
    #expect(directory.read("ended") != nil)
    #expect(result.errors == "")
  }

  @Test("O13: the code of a failed run is kept as well")
  func aFailedRunWithoutAReaderKeepsItsCode() {
    let directory = Directory()
    directory.write(
      "workflow.json", #"{ "steps": ["yes \#(OutputTests.filler) | head -2000; exit 3"] }"#)
    _ = Weft.shell("{ \"$WEFT\" run workflow.json; echo $? >code; } | head -1", in: directory)
    #expect(directory.read("code") == Array("1\n".utf8))
  }

  @Test("C05: so does a run whose events nobody reads")
  func runWithoutAReaderOfEventsContinues() {
    let directory = Directory()
    directory.write("workflow.json", OutputTests.talkative)
    _ = Weft.shell(
      "{ \"$WEFT\" run --events - workflow.json 2>/dev/null; echo $? >code; } | head -1 >first",
      in: directory)
    #expect(directory.read("code") == Array("0\n".utf8))
    #expect(directory.read("ended") != nil)
    #expect(String(decoding: directory.read("first")!, as: UTF8.self).contains("run.started"))
  }

  @Test(
    "O14: a run whose output cannot be written completes, and then tells it with exit 4",
    arguments: ["", "-k", "--events -", "--events /dev/full", "--events fd:5"])
  func aRunThatCannotWriteCompletes(options: String) {
    let directory = Directory()
    directory.write("workflow.json", OutputTests.talkative)
    let target = options.contains("/") ? "" : options.contains("5") ? "5>/dev/full" : ">/dev/full"
    let result = Weft.shell("\"$WEFT\" run \(options) workflow.json \(target)", in: directory)
    #expect(result.status == 4)
    #expect(directory.read("ended") != nil)
    #expect(result.errors.contains("no space left on device (ENOSPC)"))
  }

  @Test(
    "O14: every other command tells it as well",
    arguments: [
      "help", "version", "schema", "completions bash", "graph workflow.json", "check workflow.json",
      "init -", "run --dry-run workflow.json",
    ])
  func everyCommandReportsAWriteError(command: String) {
    let directory = Directory()
    directory.write("workflow.json", OutputTests.talkative)
    for target in [">/dev/full", ">&-"] {
      let result = Weft.shell("\"$WEFT\" \(command) \(target)", in: directory)
      #expect(result.status == 4, "\(command) \(target)")
      #expect(result.errors.contains("weft: error: cannot write to standard output"))
    }
  }

  @Test func closedStandardStreamsAreNotReused() {
    let directory = Directory()
    directory.write("workflow.json", #"{ "steps": ["echo from a step"] }"#)
    let result = Weft.shell(
      "\"$WEFT\" run --events events.json workflow.json <&- >&- 2>&-", in: directory)
    #expect(result.status == 4)
    let lines = String(decoding: directory.read("events.json") ?? [], as: UTF8.self)
    #expect(lines.split(separator: "\n").allSatisfy { $0.hasPrefix("{\"n\":") })
    #expect(lines.contains("run.finished"))
  }

  @Test("C05: events go where they are told, the same lines everywhere")
  func eventsGoToTheirTarget() {
    let directory = Directory()
    directory.write("workflow.json", #"{ "steps": ["echo one", "exit 3"] }"#)
    let result = Weft.shell(
      """
      "$WEFT" run --events - workflow.json >a 2>human; "$WEFT" run --events=b workflow.json >human-b
      "$WEFT" run --events fd:7 workflow.json 7>c >human-c
      mkfifo d; cat d >e & "$WEFT" run --events d workflow.json >human-d; wait
      """, in: directory)
    #expect(result.status == 0)
    let types = ["a", "b", "c", "e"].map { name in
      String(decoding: directory.read(name) ?? [], as: UTF8.self)
        .matches(of: #/"type":"([a-z.]+)"/#).map { String($0.1) }
    }
    #expect(types.allSatisfy { $0 == types[0] })
    #expect(types[0].first == "run.started" && types[0].last == "run.finished")
    let reported = String(decoding: directory.read("human") ?? [], as: UTF8.self)
    #expect(reported.contains("] one\n"))
  }

  @Test(
    "a descriptor that is closed or only open for reading is bad usage",
    arguments: [
      "fd:8", "fd:9",
    ])
  func aDescriptorThatCannotBeWrittenToIsBadUsage(target: String) {
    let directory = Directory()
    directory.write("workflow.json", #"{ "steps": ["touch started"] }"#)
    let result = Weft.shell(
      "\"$WEFT\" run --events \(target) workflow.json 8>&- 9</dev/null", in: directory)
    #expect(result.status == 2)
    #expect(directory.read("started") == nil)
  }
}
