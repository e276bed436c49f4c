import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform

@testable import WeftExecution

@Suite struct CommandExecutorTests {
  /// A step of one command.
  private func step(
    _ id: StepID, _ invocation: Command.Invocation, stdin: StandardInput? = nil,
    settings: CommandSettings = CommandSettings(), timeout: Duration? = nil
  ) -> Step {
    Step(
      id: id, action: .run(Command(invocation, stdin: stdin)), settings: settings, timeout: timeout)
  }

  @Test func aScriptRunsInItsShellAndStopsAtTheFirstFailure() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script("echo one; false; echo two"))]))
    #expect(run.logs["a"] == "one\n")
    #expect(run.end(of: "a")?.exit == .code(1))
    #expect(run.end(of: "a")?.failure?.message == "exited with code 1")
    #expect(run.end(of: "a")?.failure?.classes == [.exit(1), .exit])
  }

  @Test func aProgramGetsItsArgumentsAsTheyAre() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["printf", "%s|", "a b", "$HOME", "", "*"]))]))
    #expect(run.logs["a"] == "a b|$HOME||*|")
  }

  @Test func bothStreamsAreTold() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script("echo out; echo err >&2"))]))
    let lines = run.events.compactMap { event -> String? in
      guard case .stepOutput(_, let output) = event.kind else { return nil }
      return "\(output.stream): \(output.text)"
    }
    #expect(Set(lines) == ["stdout: out", "stderr: err"])
  }

  @Test func layersOfEnvironmentInnerWinsAndNullRemoves() async throws {
    let show = step(
      "a", .script("echo $A $B $C ${D-unset} $WEFT_STEP $WEFT_ATTEMPT"),
      settings: CommandSettings(environment: ["C": "step", "D": nil]))
    var group = Step("g", steps: [show])
    group.settings = CommandSettings(environment: ["B": "group", "C": "group", "D": "group"])
    var workflow = Workflow(steps: [group])
    workflow.settings = CommandSettings(environment: ["A": "top", "B": "top", "C": "top"])
    let run = try await RealRun(workflow)
    #expect(run.logs["a"] == "top group step unset a 1\n")
  }

  @Test func workingDirectoriesAreRelativeToTheStart() async throws {
    var configuration = EngineConfiguration()
    configuration.startDirectory = "/usr"
    var group = Step(
      "g",
      steps: [
        step("a", .program(["pwd"])),
        step("b", .program(["pwd"]), settings: CommandSettings(workingDirectory: "lib")),
      ])
    group.settings = CommandSettings(workingDirectory: "bin")
    let run = try await RealRun(
      Workflow(steps: [step("top", .program(["pwd"])), group]), configuration: configuration)
    #expect(run.logs["top"] == "/usr\n")
    #expect(run.logs["b"]?.hasSuffix("/lib\n") == true)
    #expect(run.logs["a"]?.hasSuffix("/bin\n") == true)
  }

  @Test(arguments: [
    (Shell.bash, "set -o | grep -c 'pipefail.*on'", "1\n"),
    (Shell.python, "print(6 * 7)", "42\n"),
    (Shell(prefix: ["sh", "-c"]), "false; echo on", "on\n"),
  ])
  func theShellRunsTheScript(shell: Shell, script: String, output: String) async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script(script), settings: CommandSettings(shell: shell))]))
    #expect(run.logs["a"] == output)
  }

  @Test func standardInputComesFromTextFileOrLog() async throws {
    let run = try await RealRun(
      Workflow(steps: [
        step("text", .program(["cat"]), stdin: .text("given\n")),
        step("log", .program(["cat"]), stdin: .log("text")),
        step("file", .program(["head", "-c", "3"]), stdin: .file("/proc/sys/kernel/ostype")),
        step("none", .program(["cat"])),
      ]))
    #expect(run.report.succeeded)
    #expect(run.logs["text"] == "given\n")
    #expect(run.logs["log"] == "given\n")
    #expect(run.logs["file"] == "Lin")
    #expect(run.logs["none"] == "")
  }

  @Test func aLargeLogIsPassedOnWhole() async throws {
    let run = try await RealRun(
      Workflow(steps: [
        step("many", .script("seq 1 300000")),
        step("count", .script("wc -l"), stdin: .log("many")),
      ]))
    #expect(run.logs["count"]?.contains("300000") == true)
  }

  @Test func aMissingInputFileIsToldWithItsCure() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["cat"]), stdin: .file("/nope"))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.contains("\"/nope\" cannot be read"))
    #expect(failure.help?.contains("earlier step") == true)
  }

  @Test func aDirectoryAsInputIsToldAsOne() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["cat"]), stdin: .file("/tmp"))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.contains("\"/tmp\" cannot be read: is a directory (EISDIR)"))
  }

  /// A directory with a FIFO in it, made and taken away by steps of the workflow.
  private func reading(
    _ command: Command, timeout: Duration? = nil, writer: String
  ) async throws -> RealRun {
    var command = command
    let path = "/tmp/weft-fifo-\(UInt64.random(in: 0 ... .max))"
    command.stdin = .file(path)
    let reader = Step("reader", command, timeout: timeout, allowFailure: .all)
    let steps = Step(
      "both", parallel: [reader, Step("writer", run: writer + " '\(path)'")])
    return try await RealRun(
      Workflow(steps: [
        Step("make", run: ["mkfifo", path]), steps, Step("remove", run: ["rm", path]),
      ]))
  }

  @Test func aFIFOIsWaitedForAsAShellWould() async throws {
    let run = try await reading(Command(.program(["cat"])), writer: "exec echo given >")
    #expect(run.report.succeeded && run.logs["reader"] == "given\n")
  }

  @Test func aFIFOThatNobodyWritesIntoIsWaitedForUntilTheTimeLimit() async throws {
    let run = try await reading(
      Command(.program(["cat"])), timeout: .milliseconds(60), writer: "test -p")
    let end = try #require(run.end(of: "reader"))
    #expect(end.failure?.classes == [.timeout] && end.exit == nil)
  }

  @Test func waitingForAFIFOIsSilence() async throws {
    var command = Command(.program(["cat"]))
    command.stallTimeout = .milliseconds(60)
    let run = try await reading(command, writer: "test -p")
    let end = try #require(run.end(of: "reader"))
    #expect(end.failure?.classes == [.stall] && end.exit == nil)
  }

  @Test func aRunThatWaitsForAFIFOCanBeCancelled() async throws {
    let path = "/tmp/weft-fifo-\(UInt64.random(in: 0 ... .max))"
    let (plan, _) = Planner.plan(
      Workflow(steps: [
        Step("make", run: ["mkfifo", path]),
        step("read", .script("cat"), stdin: .file(path)),
      ]))
    var subscription: EventSubscription?
    let run = try LiveRun.start(try #require(plan)) { subscription = $0.subscribe() }
    for await event in subscription! {
      if case .stepStarted(StepAddress("read"), _) = event.kind { run.cancel(.requested) }
    }
    #expect(run.report.end?.counts.cancelled == 1)
    try await #expect(RealRun(Workflow(steps: [Step(run: ["rm", path])])).report.succeeded)
  }

  @Test("P01: a program that does not exist names itself and the PATH searched")
  func aMissingProgramIsNamed() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["no-such-program-here"]))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.contains("no-such-program-here"))
    #expect(failure.message.contains("PATH"))
    #expect(run.end(of: "a")?.exit == nil)
  }

  @Test("P09: an argument of 128 KiB or more fails as a limit before the start")
  func aHugeArgumentFailsAsALimit() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["echo", String(repeating: "x", count: 200_000)]))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.limit])
    #expect(failure.help?.contains("stdin") == true)
  }

  @Test("K01: a time limit ends the step by TERM")
  func aTimeLimitEndsTheStep() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["sleep", "1000"]), timeout: .milliseconds(50))]))
    let end = try #require(run.end(of: "a"))
    #expect(end.outcome == .failure)
    #expect(end.failure?.classes == [.timeout])
    #expect(end.exit == .signal("TERM"))
  }

  @Test func aStepThatIsSilentForTooLongFailsAsAStall() async throws {
    var command = Command(.script("echo begun; sleep 1000"))
    command.stallTimeout = .milliseconds(80)
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    let end = try #require(run.end(of: "a"))
    #expect(end.failure?.classes == [.stall])
    #expect(end.failure?.message == "wrote nothing for 80ms, and was ended")
    #expect(end.exit == .signal("TERM") && run.logs["a"] == "begun\n")
  }

  @Test(arguments: [FailureTolerance.classes([.stall]), .all])
  func aStallMayBeTolerated(tolerance: FailureTolerance) async throws {
    var command = Command(.program(["sleep", "1000"]))
    command.stallTimeout = .milliseconds(20)
    var step = Step("a", command)
    step.allowFailure = tolerance
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.report.succeeded && run.end(of: "a")?.conclusion == .success)
  }

  @Test func aStepIsAskedToEndAsItWishes() async throws {
    var command = Command(.script("trap 'echo got INT; exit 7' INT; sleep 1000 & wait"))
    command.stop = StopRequest(signal: "INT")
    let step = Step("a", command, timeout: .seconds(1))
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.logs["a"] == "got INT\n")
    #expect(run.end(of: "a")?.exit == .code(7))
  }

  @Test func aStepWithoutAGraceIsKilledAtOnce() async throws {
    var command = Command(.script("trap '' TERM; sleep 1000 & wait"))
    command.stop = StopRequest(grace: .zero)
    let step = Step("a", command, timeout: .milliseconds(100))
    let run = try await RealRun(Workflow(steps: [step]))
    #expect(run.end(of: "a")?.exit == .signal("KILL"))
  }

  @Test(arguments: SignalName.ofStopping)
  func everySignalThatMayBeWrittenExistsHere(name: String) {
    let policy = StopPolicy(signal: .kill, grace: .zero)
    #expect(policy.following(StopRequest(signal: name)).signal.name == name)
    #expect(policy.following(StopRequest(signal: name)).grace == .zero)
    #expect(policy.following(nil) == policy)
  }

  @Test("O15: merged output is all standard output, in its very order")
  func mergedOutputIsInOrder() async throws {
    var command = Command(
      .script("for i in 1 2 3 4 5 6 7 8 9; do echo o$i; echo e$i >&2; done"))
    command.mergesOutput = true
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    #expect(run.logs["a"] == (1...9).map { "o\($0)\ne\($0)\n" }.joined())
    for event in run.events {
      if case .stepOutput(_, let output) = event.kind { #expect(output.stream == .stdout) }
    }
  }

  @Test("O04: a log ends at its limit with a mark, and the step goes on")
  func aLogEndsAtItsLimit() async throws {
    var command = Command(.script("echo 12345678; echo rest; echo rest >&2; exit 3"))
    command.logLimit = ByteCount(11)
    let run = try await RealRun(Workflow(steps: [Step("a", command)]))
    let end = try #require(run.end(of: "a"))
    #expect(end.exit == .code(3) && end.outputTruncated && end.outputBytes == 19)
    let mark = "weft: the log ends here: it holds 11B (logLimit)\n"
    #expect(["12345678\nre\n", "12345678\nr\ne\n"].map { $0 + mark }.contains(run.logs["a"]))
    let warnings = run.report.warnings
    #expect(warnings.map(\.kind) == [.outputTruncated])
    #expect(warnings.first?.message.contains("step \"a\" has written more than 11B") == true)
  }

  @Test func aLogThatWasCutIsNobodysInput() async throws {
    var command = Command(.script("seq 1 1000"))
    command.logLimit = ByteCount(1000)
    let run = try await RealRun(
      Workflow(steps: [Step("many", command), step("count", .script("wc -l"), stdin: .log("many"))])
    )
    let failure = try #require(run.end(of: "count")?.failure)
    #expect(failure.classes == [.limit])
    #expect(failure.message == "did not start: the log of step \"many\" holds only the first 1KB")
    #expect(failure.help?.contains("logLimit") == true)
  }

  @Test("O08: progress that writes over itself is told while it goes on; the log has every byte")
  func progressIsTold() async throws {
    let script =
      "i=0; while [ $i -lt 20000 ]; do printf 'state %d\\r' $i; i=$((i+1)); done; "
      + "sleep 0.2; printf 'last\\r'; echo done"
    let run = try await RealRun(Workflow(steps: [step("a", .script(script))]))
    let expected = (0..<20_000).map { "state \($0)\r" }.joined() + "last\rdone\n"
    #expect(run.logs["a"] == expected)
    let outputs = run.events.compactMap { event -> StepOutput? in
      if case .stepOutput(_, let output) = event.kind { output } else { nil }
    }
    let states = outputs.filter { $0.ending == .transient }.map(\.text)
    #expect(states.contains("state 19999") && states.count >= 2)
    #expect(outputs.filter { $0.ending != .transient }.map(\.text) == ["done"])
    let lasted = run.events.last!.elapsed
    #expect(states.count <= 1 + Int(lasted / ProgressPace.interval))
  }

  @Test func aSignalIsNamed() async throws {
    let run = try await RealRun(Workflow(steps: [step("a", .script("kill -KILL $$"))]))
    #expect(run.end(of: "a")?.failure?.classes == [.signal("KILL"), .signal])
  }

  @Test func theKernelsCountIsTold() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))]))
    let usage = try #require(run.end(of: "a")?.usage)
    #expect(usage.userTime + usage.systemTime > .zero)
    #expect(usage.minorFaults > 0)
  }

  @Test("a cancelled run of fifty sleepers ends them all")
  func aCancelledRunLeavesNobody() async throws {
    let workflow = Workflow(
      parallel: (0..<50).map { Step(StepID("s\($0)")!, run: ["sleep", "1000"]) })
    let (plan, _) = Planner.plan(workflow)
    var configuration = EngineConfiguration()
    configuration.maxParallel = 50
    var subscription: EventSubscription?
    let run = try LiveRun.start(try #require(plan), configuration: configuration) {
      subscription = $0.subscribe()
    }
    var started = 0
    var end: RunEnd?
    for await event in subscription! {
      switch event.kind {
      case .stepStarted:
        started += 1
        if started == 50 { run.cancel(.requested) }
      case .runFinished(let runEnd): end = runEnd
      default: break
      }
    }
    #expect(end?.counts.cancelled == 50)
    #expect(end?.outcome == .cancelled)
  }
}
