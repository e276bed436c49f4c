import Synchronization
import TestSupport
import Testing
import Weft
import WeftTestKit

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Commands that the embedding program runs in place of processes of this machine.
@Suite(.hangLimit) struct CommandRunnerTests {
  /// The calls of a runner, in the order of their starts.
  private final class Calls: Sendable {
    private let made = Mutex<[CommandCall]>([])
    func add(_ call: CommandCall) { made.withLock { $0.append(call) } }
    var all: [CommandCall] { made.withLock { $0 } }
    func of(_ step: String) -> CommandCall? { all.first { $0.step.text == step } }
  }

  private func end(of step: String, in report: RunReport) throws -> StepEnd {
    guard case .finished(let end)? = report.steps.first(where: { $0.address.text == step })?.state
    else { throw NoEnd() }
    return end
  }

  private struct NoEnd: Error {}

  @Test func aCallHasWhatAProcessWouldGet() async throws {
    let calls = Calls()
    var options = Engine.Options()
    options.environment = ["HOME": "/home/x", "DROPPED": "1"]
    options.startDirectory = "/usr"
    let workflow = try Workflow(
      json: """
        { "inputs": { "who": { "type": "string" } }, "onFailure": "continue",
          "env": { "DROPPED": null, "GREETING": "hello" },
          "parallel": [
            { "id": "script", "run": "echo ${{ inputs.who }}", "cwd": "lib", "timeout": "30s",
              "outputs": { "file": "${{ self.stdout }}", "n": { "type": "string" } } },
            { "id": "program", "run": ["tool", "${{ inputs.who }}"] }] }
        """)
    let run = try Engine(
      options: options,
      commands: { call in
        calls.add(call)
        return .code(0)
      }
    ).start(workflow, inputs: ["who": "a b"])
    _ = await run.report
    let script = try #require(calls.of("script"))
    #expect(script.run == run.id && script.attempt == 1)
    #expect(script.arguments.first?.hasSuffix("sh") == true && script.arguments.contains("-e"))
    #expect(script.workingDirectory == "/usr/lib")
    #expect(script.timeout == .seconds(30))
    #expect(script.environment["HOME"] == "/home/x")
    #expect(script.environment["GREETING"] == "hello")
    #expect(script.environment["DROPPED"] == nil)
    #expect(script.environment["WEFT_OUTPUT"] != nil)
    let program = try #require(calls.of("program"))
    #expect(program.arguments == ["tool", "a b"])
    #expect(program.timeout == nil)
    #expect(program.environment["WEFT_OUTPUT"] == nil)
  }

  @Test func standardInputIsNothingATextAFileOrALog() async throws {
    let calls = Calls()
    let workflow = try Workflow(
      json: """
        { "steps": [
          { "id": "none", "run": ["a"] },
          { "id": "text", "run": ["b"], "stdin": "yes\\n" },
          { "id": "file", "run": ["c"], "cwd": "/usr", "stdin": { "file": "data.csv" } },
          { "id": "log", "run": ["d"], "stdin": { "log": "text" } }] }
        """)
    let run = try Engine(commands: { call in
      calls.add(call)
      call.write("from \(call.step)\n")
      return .code(0)
    }).start(workflow)
    #expect(await run.report.succeeded)
    #expect(calls.of("none")?.input == CommandCall.Input.none)
    #expect(calls.of("text")?.input == .bytes(Array("yes\n".utf8)))
    #expect(calls.of("file")?.input == .file("/usr/data.csv"))
    #expect(calls.of("log")?.input == .bytes(Array("from text\n".utf8)))
  }

  @Test func aLogThatIsNotWholeIsNoInput() async throws {
    let calls = Calls()
    let workflow = try Workflow(
      json: """
        { "steps": [
          { "id": "long", "run": ["a"], "logLimit": "1KiB" },
          { "id": "reader", "run": ["b"], "stdin": { "log": "long" } }] }
        """)
    let run = try Engine(commands: { call in
      calls.add(call)
      call.write(String(repeating: "0123456789abcde\n", count: 1000))
      return .code(0)
    }).start(workflow)
    let end = try end(of: "reader", in: await run.report)
    #expect(end.failure?.classes.first?.description == "limit")
    #expect(calls.of("reader") == nil)
  }

  @Test(
    arguments: [
      (.code(0), true, nil), (.code(3), false, "exit:3"), (.signal("KILL"), false, "signal:KILL"),
    ]
      as [(ProgramExit, Bool, String?)])
  func theExitIsThatOfAProgram(_ exit: ProgramExit, succeeds: Bool, failure: String?) async throws {
    let report = await
      (try Engine(commands: { _ in exit }).start(
        Workflow(steps: [Step("a", run: ["tool"])]))).report
    #expect(report.succeeded == succeeds)
    let end = try end(of: "a", in: report)
    #expect(end.exit == exit)
    #expect(end.failure?.classes.first?.description == failure)
  }

  @Test func outputIsLoggedMaskedAndReadByOtherSteps() async throws {
    let workflow = try Workflow(
      json: """
        { "inputs": { "token": { "type": "string", "secret": true } },
          "steps": [
            { "id": "a", "run": ["a"], "env": { "TOKEN": "${{ inputs.token }}" },
              "outputs": { "said": "${{ self.stdout }}" } },
            { "id": "b", "run": ["b", "${{ steps.a.outputs.said }}"] }] }
        """)
    let calls = Calls()
    let run = try Engine(commands: { call in
      calls.add(call)
      if call.step.text == "a" {
        call.write("public")
        call.write(Array("token \(call.environment["TOKEN"] ?? "")\n".utf8), to: .stderr)
      }
      return .code(0)
    }).start(workflow, inputs: ["token": "s3cr3t-value"])
    var lines: [String] = []
    for await event in run.events {
      if case .stepOutput(_, let output) = event.kind { lines.append(output.text) }
    }
    #expect(await run.report.succeeded)
    #expect(lines.contains("public") && lines.contains("token ***"))
    #expect(!String(decoding: run.output(of: StepAddress("a")), as: UTF8.self).contains("s3cr3t"))
    #expect(calls.of("b")?.arguments == ["b", "public"])
  }

  @Test func outputsAreReadFromTheFileThatTheCallNames() async throws {
    let run = try Engine(commands: { call in
      let file = try #require(call.environment["WEFT_OUTPUT"])
      let output = try #require(fopen(file, "a"))
      fputs("number=7\n", output)
      fclose(output)
      return .code(0)
    }).start(
      try Workflow(
        json: """
          { "steps": [{ "id": "a", "run": ["tool"], "outputs": { "number": { "type": "string" } } }] }
          """))
    let end = try end(of: "a", in: await run.report)
    #expect(end.outputs == [ReportedOutput(name: "number", value: "7")])
  }

  @Test func progressIsReportedAsThatOfAProgram() async throws {
    let run = try Engine(commands: { call in
      call.report(StepProgress(1, of: 2, text: "half"))
      call.report(StepProgress(2, of: 2))
      return .code(0)
    }).start(Workflow(steps: [Step("a", run: ["tool"])]))
    var last: StepProgress?
    for await event in run.events {
      if case .stepProgress(_, let progress) = event.kind { last = progress }
    }
    #expect(last == StepProgress(2, of: 2))
  }

  private struct NoRoute: Error, CustomStringConvertible {
    var description: String { "no route to host" }
  }

  @Test func aThrownErrorIsAFailureToStartAndIsRetried() async throws {
    let calls = Calls()
    let workflow = Workflow(steps: [
      Step("a", run: ["tool"]).retry(RetryPolicy(max: 2, delay: .zero, classes: [.spawn]))
    ])
    let run = try Engine(commands: { call in
      calls.add(call)
      if call.attempt < 3 { throw NoRoute() }
      return .code(0)
    }).start(workflow)
    var failures: [StepFailure] = []
    for await event in run.events {
      if case .stepRetrying(_, let retry) = event.kind { failures.append(retry.failure) }
    }
    #expect(await run.report.succeeded)
    #expect(calls.all.map(\.attempt) == [1, 2, 3])
    #expect(failures.map(\.classes) == [[.spawn], [.spawn]])
    #expect(failures.first?.message == "did not start: no route to host")
  }

  @Test func theTimeLimitCancelsTheTaskByTheClockOfTheEngine() async throws {
    let clock = TestClock()
    var step = Step("a", run: ["tool"])
    step.timeout = .seconds(3600)
    let began = Mutex(false)
    let run = try Engine(
      commands: { _ in
        began.withLock { $0 = true }
        try await Task.sleep(for: .seconds(100_000))
        return .code(0)
      }, clock: clock
    ).start(Workflow(steps: [step]))
    await until { began.withLock { $0 } && clock.sleeperCount > 0 }
    clock.advance(by: .seconds(3600))
    let end = try end(of: "a", in: await run.report)
    #expect(end.failure?.classes == [.timeout])
  }

  @Test func aCancelledRunCancelsTheTask() async throws {
    let run = try Engine(commands: { call in
      call.write("started\n")
      try await Task.sleep(for: .seconds(100_000))
      return .code(0)
    }).start(Workflow(steps: [Step("a", run: ["tool"])]))
    for await event in run.events {
      if case .stepOutput = event.kind { run.cancel() }
    }
    #expect(await run.report.end?.outcome == .cancelled)
  }

  @Test func aRunnerThatIgnoresItsCancellationIsLeftBehind() async throws {
    let release = Moment()
    var options = Engine.Options()
    options.grace = .milliseconds(1)
    let late = Mutex<CommandCall?>(nil)
    let run = try Engine(
      options: options,
      commands: { call in
        late.withLock { $0 = call }
        call.write("started\n")
        await Task.detached { await release.hasCome() }.value
        return .code(0)
      }
    ).start(Workflow(steps: [Step("a", run: ["tool"])]))
    var warnings: [RunWarning.Kind] = []
    for await event in run.events {
      if case .stepOutput = event.kind { run.cancel() }
      if case .runWarning(let warning) = event.kind { warnings.append(warning.kind) }
    }
    #expect(await run.report.end?.outcome == .cancelled)
    #expect(warnings == [.actionLeftBehind])
    late.withLock { $0 }?.write("too late\n")
    #expect(run.output(of: StepAddress("a")) == Array("started\n".utf8))
    release.comes()
  }

  @Test func loopsAndCleanupsRunThroughIt() async throws {
    let calls = Calls()
    let workflow = try Workflow(
      json: """
        { "steps": [{ "id": "up", "run": ["up", "${{ item }}"], "forEach": { "in": ["a", "b"] },
                      "cleanup": { "run": ["down"] } }],
          "finally": [{ "run": ["tidy"] }] }
        """)
    let run = try Engine(commands: { call in
      calls.add(call)
      return .code(0)
    }).start(workflow)
    #expect(await run.report.succeeded)
    let all = calls.all.map { $0.arguments.joined(separator: " ") }.sorted()
    #expect(all.filter { $0 != "down" } == ["tidy", "up a", "up b"])
    #expect(all.contains("down"))
  }
}
