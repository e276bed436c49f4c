import Testing
import WeftDefinition
import WeftPlanning
import WeftPlatform

@testable import WeftEvents
@testable import WeftExecution

@Suite struct CommandExecutorTests {
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

  @Test func bothStreamsAreReported() async throws {
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

  @Test func aSignalIsNamed() async throws {
    let run = try await RealRun(Workflow(steps: [step("a", .script("kill -KILL $$"))]))
    #expect(run.end(of: "a")?.failure?.classes == [.signal("KILL"), .signal])
  }

  @Test func kernelUsageOfAStepIsReported() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .script("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"))]))
    let usage = try #require(run.end(of: "a")?.usage)
    #expect(usage.userTime + usage.systemTime > .zero)
    #expect((usage.minorFaults ?? 0) > 0)
  }

  @Test("a cancelled run of fifty sleepers ends them all")
  func cancelledRunLeavesNoProcesses() async throws {
    let workflow = Workflow(
      parallel: (0..<50).map { Step(StepID("s\($0)")!, run: ["sleep", "1000"]) })
    let (plan, _) = Planner.plan(workflow)
    var configuration = EngineConfiguration()
    configuration.maxParallel = 50
    var subscription: EventSubscription?
    let run = try RunEngine.start(try #require(plan), configuration: configuration) {
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
