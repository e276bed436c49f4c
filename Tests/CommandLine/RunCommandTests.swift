import Testing

struct RunCommandTests {
  @Test(
    "events and reports replace no file of the workflow",
    arguments: [
      ["--events", "w.json"], ["--events", "sub/../w.json"], ["--report", "html=n.json"],
      ["--report", "csv=link"],
    ])
  func workflowFilesStay(options: [String]) {
    let directory = Directory()
    let text = #"{ "steps": [{ "workflow": "n.json" }, "touch ran"] }"#
    directory.write("w.json", text)
    directory.write("n.json", #"{ "steps": ["true"] }"#)
    let result = Weft.shell(
      "mkdir sub; ln -s w.json link; exec \"$WEFT\" run w.json \"$@\"", options, in: directory)
    #expect(result.status == 2 && result.errors.contains("would overwrite"), "\(result.errors)")
    #expect(directory.read("w.json") == Array(text.utf8) && directory.read("ran") == nil)
  }

  @Test("G06: with -j1 two runs say the same, byte for byte but for times")
  func runsWithOneJobAreRepeatable() {
    let directory = Directory()
    let steps = (1...40).map { n in
      #"{ "id": "s\#(n)", "run": "echo \#(n)"\#(n % 3 == 0 ? #", "needs": ["s\#(n / 3)"]"# : "") }"#
    }
    directory.write("workflow.json", "{ \"parallel\": [" + steps.joined(separator: ",") + "] }")
    let said = (1...3).map { _ in
      Normalised.run(Weft.run("run", "-j1", "workflow.json", in: directory).output)
    }
    #expect(said[0] == said[1] && said[1] == said[2])
    let order = said[0].matches(of: #/\] (\d+)\n/#).map { Int($0.1)! }
    #expect(order == Array(1...40))
  }

  @Test func theDirectoryOptionComesBeforeAnyPath() {
    let result = Weft.shell(
      """
      mkdir below; cd below; echo '{ "steps": ["pwd; touch started"] }' >w.json; cd ..
      "$WEFT" run --events events.json -C below w.json && ls below
      """, in: Directory())
    #expect(result.status == 0)
    #expect(result.output.hasSuffix("events.json\nstarted\nw.json\n"))
    #expect(result.output.contains("/below\n"))
  }

  @Test("exit 1 for a step's time limit, 124 for the run's")
  func stepAndRunTimeoutsAreDistinguished() {
    let directory = Directory()
    directory.write(
      "step.json", #"{ "steps": [{ "run": "exec sleep 1000", "timeout": "50ms" }] }"#)
    directory.write("run.json", #"{ "timeout": "50ms", "steps": ["exec sleep 1000"] }"#)
    #expect(Weft.run("run", "step.json", in: directory).status == 1)
    #expect(Weft.run("run", "run.json", in: directory).status == 124)
    #expect(Weft.run("run", "--timeout", "1h", "step.json", in: directory).status == 1)
  }

  @Test func failFastEndsWhatRuns() {
    let directory = Directory()
    directory.write(
      "workflow.json",
      #"{ "parallel": ["echo x >fifo; exit 1", "read line <fifo; exec sleep 1000"] }"#)
    let result = Weft.shell(
      "mkfifo fifo; exec \"$WEFT\" run -j2 --fail-fast workflow.json", in: directory)
    #expect(result.status == 1)
  }
}

extension RunCommandTests {
  @Test(
    "--strict counts tolerated failures of steps, members and groups",
    arguments: [
      (#""true""#, 0), (#"{ "run": "exit 1", "allowFailure": true }"#, 1),
      (#"{ "allowFailure": true, "steps": ["exit 1"] }"#, 1),
      (#"{ "allowFailure": true, "timeout": "20ms", "steps": ["sleep 1000"] }"#, 1),
      (#"{ "allowFailure": true, "steps": ["true"], "if": "fromJSON(steps.x.stdout)" }"#, 1),
    ])
  func strictness(step: String, status: Int32) {
    let directory = Directory()
    directory.write(
      "workflow.json", "{ \"steps\": [{ \"id\": \"x\", \"run\": \"echo x\" }, \(step)] }")
    #expect(Weft.run("run", "workflow.json", in: directory).status == 0)
    let strict = Weft.run("run", "--strict", "workflow.json", in: directory)
    #expect(strict.status == status)
    #expect(strict.errors.contains("--strict counts tolerated failures") == (status == 1))
  }
}

struct InitCommandTests {
  @Test("X66: what it writes is right, names its schema, and runs")
  func initialWorkflowIsValidAndRuns() {
    let directory = Directory()
    let written = Weft.run("init", in: directory)
    #expect(written.status == 0 && written.output.contains("wrote workflow.schema.json"))
    #expect(directory.read("workflow.schema.json") == Weft.run("schema", in: directory).stdout)
    let text = String(decoding: directory.read("workflow.json") ?? [], as: UTF8.self)
    #expect(text.contains("\"$schema\": \"./workflow.schema.json\""))
    let check = Weft.run("check", "--strict", "workflow.json", in: directory)
    #expect(check.output == "1 file: no problems\n")
    let run = Weft.run("run", "workflow.json", in: directory)
    #expect(run.status == 0)
    #expect(run.output.contains("hello from the last step"))
  }

  @Test(
    "it overwrites nothing: no file, no link, no directory",
    arguments: [
      "echo mine >target", "ln -s elsewhere target", "mkdir target",
    ])
  func initOverwritesNothing(preparation: String) {
    let directory = Directory()
    let result = Weft.shell("\(preparation); exec \"$WEFT\" init target", in: directory)
    #expect(result.status == 2)
    #expect(result.errors.contains("\"target\" already exists"))
    #expect(directory.read("elsewhere") == nil)
    #expect(directory.read("workflow.schema.json") == nil)
    #expect(directory.read("target").map { $0 == Array("mine\n".utf8) || $0.isEmpty } ?? true)
  }

  @Test func initKeepsASchema() {
    let directory = Directory()
    let result = Weft.shell(
      "mkdir sub; echo mine >sub/workflow.schema.json; exec \"$WEFT\" init sub/a.json",
      in: directory)
    #expect(result.output == "wrote sub/a.json; to run it: weft run sub/a.json\n")
    #expect(directory.read("sub/workflow.schema.json") == Array("mine\n".utf8))
  }

  @Test func initReportsAWriteError() {
    let result = Weft.run("init", "nowhere/workflow.json", in: Directory())
    #expect(result.status == 2)
    #expect(result.errors.contains("no such file or directory"))
  }

  @Test func aDashIsStandardOutput() {
    let directory = Directory()
    let printed = Weft.run("init", "-", in: directory)
    #expect(Files.names(in: directory.path) == [])
    _ = Weft.run("init", in: directory)
    #expect(directory.read("workflow.json") == printed.stdout)
  }
}
