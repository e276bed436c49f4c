import Testing
import WeftDefinition
import WeftPlanning

@testable import WeftEvents
@testable import WeftExecution

/// Standard input of steps, with real programs.
@Suite struct StandardInputTests {
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

  @Test func missingInputFileSuggestsARemedy() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["cat"]), stdin: .file("/nope"))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.contains("\"/nope\" cannot be read"))
    #expect(failure.help?.contains("earlier step") == true)
  }

  /// The system would open the path before the NUL.
  @Test func aPathWithANULNamesNoFile() {
    let workflow = Workflow(
      steps: [step("a", .program(["cat"]), stdin: .file("/proc/sys/kernel/ostype\0x"))])
    #expect(Planner.plan(workflow).plan == nil)
  }

  @Test func directoryAsStandardInputIsReported() async throws {
    let run = try await RealRun(
      Workflow(steps: [step("a", .program(["cat"]), stdin: .file("/tmp"))]))
    let failure = try #require(run.end(of: "a")?.failure)
    #expect(failure.classes == [.spawn])
    #expect(failure.message.contains("\"/tmp\" cannot be read: is a directory (EISDIR)"))
  }

  /// A directory with a FIFO in it, created and removed by steps of the workflow.
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

  @Test func fifoWithoutAWriterIsAwaitedUntilTheTimeout() async throws {
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
    let run = try RunEngine.start(try #require(plan)) { subscription = $0.subscribe() }
    for await event in subscription! {
      if case .stepStarted(StepAddress("read"), _, _) = event.kind { run.cancel(.requested) }
    }
    #expect(run.report.end?.counts.cancelled == 1)
    try await #expect(RealRun(Workflow(steps: [Step(run: ["rm", path])])).report.succeeded)
  }
}
