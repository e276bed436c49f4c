import TestSupport
import Testing
import Weft
import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// The recorded runs of a directory, some of them of other processes.
@Suite(.hangLimit) struct HistoryTests {
  private let folder: Scratch
  private let store: FileRunStore

  init() throws {
    folder = try Scratch()
    store = FileRunStore(directory: folder.path + "/.weft")
  }

  private static let missing = RunID(validating: "20200101-000000-abcdef")!

  private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

  private func run(_ workflow: Workflow) async throws -> RunID {
    let run = try Engine().start(workflow, in: store)
    _ = await run.report
    return run.id
  }

  /// A run whose process is gone, and which left a program behind.
  ///
  /// The process is one of its own, which ends without its destructors as one that is killed does.
  private func interruptedRun() async throws -> RunID {
    let directory = store.directory
    await #expect(processExitsWith: .exitCode(9)) { [directory = directory as String] in
      let run = try Engine().start(
        Workflow(name: "long", steps: [Step("a", run: "echo up; exec sleep 1000")]),
        in: FileRunStore(directory: directory))
      // Its program runs.
      for await event in run.events {
        if case .stepOutput = event.kind { break }
      }
      _exit(9)
    }
    return try #require(store.runs.last)
  }

  // MARK: List

  @Test func aMissingDirectoryHasNoRuns() throws {
    #expect(try store.list() == [])
    #expect(try store.clean(CleaningPolicy(count: 0)).removed == [])
    #expect(!FileSystem.isDirectory(store.directory), "reading creates nothing")
    for ask: () throws -> Void in [
      { _ = try store.recorded(HistoryTests.missing) },
      { _ = try store.follow(HistoryTests.missing) },
      { _ = try store.reap(HistoryTests.missing) },
      { try store.answer(StepAddress("a"), of: HistoryTests.missing, approved: true) },
      { try store.cancel(HistoryTests.missing) },
    ] { #expect(throws: RunStoreError.self) { try ask() } }
  }

  @Test func runsAreListedNewestFirstWithTheirStates() async throws {
    let good = try await run(Workflow(name: "good", steps: [Step("a", run: "true")]))
    let bad = try await run(Workflow(name: "bad", steps: [Step("a", run: "false")]))
    let waiting = try await run(Workflow(name: "waits", steps: [Step("a", approve: "well?")]))
    let all = try store.list()
    #expect(all.map(\.run) == [waiting, bad, good])
    #expect(all.map(\.state) == [.waiting, .failure, .success])
    #expect(all.map(\.workflow) == ["waits", "bad", "good"])
    #expect(try store.list(atMost: 1).map(\.run) == [waiting])
    #expect(try store.list(atMost: 1, where: { $0.state == .success }).map(\.run) == [good])
    #expect(try store.list(atMost: 0) == [])
    let lines = text(all.rendered(as: .table)).split(separator: "\n")
    #expect(lines.count == 4 && lines.last?.hasPrefix(good.text) == true)
  }

  @Test func aDamagedRunIsListedAndSaysWhy() async throws {
    let id = try await run(Workflow(steps: [Step("a", run: "true")]))
    let journal = "\(store.directory)/runs/\(id)/journal.jsonl"
    let fault = try #require(fopen(journal, "r+"))
    fseek(fault, 0, SEEK_END)
    fseek(fault, ftell(fault) / 2, SEEK_SET)
    fputs("#", fault)
    fclose(fault)
    let recorded = try store.recorded(id)
    #expect(recorded.state == .damaged && recorded.damage != nil)
    #expect(try store.list().map(\.run) == [id])
  }

  // MARK: Recorded runs

  @Test func aRecordedRunHasWhatTheRunHad() async throws {
    try await write("w.json", #"{ "steps": [{ "id": "a", "run": "echo hello" }] }"#)
    let workflow = try Workflow(contentsOf: folder.path + "/w.json")
    let run = try Engine().start(workflow, in: store)
    let report = await run.report
    let recorded = try store.recorded(run.id)
    #expect(recorded.run == run.id && recorded.state == .success && recorded.damage == nil)
    #expect(recorded.file == folder.path + "/w.json")
    #expect(recorded.end?.outcome == .success)
    #expect(try recorded.report()?.steps.map(\.address) == report.steps.map(\.address))
    #expect(try recorded.report()?.end?.counts == report.end?.counts)
    let a = StepAddress("a")
    #expect(text(recorded.output(of: a)) == "hello\n")
    #expect(text(recorded.output(of: a, last: 3)) == "lo\n")
    #expect(recorded.output(of: a, last: -1) == [])
    #expect(recorded.output(of: StepAddress("none")) == [])
    #expect(text(recorded.rendered(as: RunDetailFormat.text)).contains(run.id.text))
    let json = try JSONValue(
      evaluating: "fromJSON(text).state",
      in: ["text": .string(text(recorded.rendered(as: RunDetailFormat.json)))])
    #expect(json == "success")
    #expect(text(try recorded.rendered(as: ReportFormat.html)).contains("<svg"))
  }

  @Test func aWorkflowBuiltInSwiftIsKnownByItsEnd() async throws {
    let id = try await run(Workflow(name: "built", steps: [Step("a", run: "exit 3")]))
    let recorded = try store.recorded(id)
    #expect(recorded.file == nil && recorded.end?.firstFailure?.text == "a")
    #expect(try recorded.report() == nil)
  }

  @Test func twoRunsAreCompared() async throws {
    func workflow(_ code: Int) throws -> Workflow {
      try Workflow(json: #"{ "name": "w", "steps": [{ "id": "a", "run": "exit \#(code)" }] }"#)
    }
    let first = try store.recorded(try await run(try workflow(0)))
    let second = try store.recorded(try await run(try workflow(3)))
    let difference = text(try second.difference(from: first).rendered(as: .text))
    #expect(difference.contains("exit 0") && difference.contains("exit 3"), "\(difference)")
  }

  private func write(_ name: String, _ content: String) async throws {
    try Descriptor.creating("\(folder.path)/\(name)", .orEmptied).writeAll(Array(content.utf8))
  }

  // MARK: Requests to other processes

  @Test func anotherProcessAnswersAndCancels() async throws {
    let workflow = Workflow(steps: [
      Step("ask", approve: "well?"), Step("wait", wait: .seconds(100_000)),
    ])
    // With an approver that never answers, the run waits in this process.
    let run = try Engine(approve: { _ in
      try? await Task.sleep(for: .seconds(100_000))
      return false
    }).start(workflow, in: store)
    let (directory, id) = (store.directory, run.id.text)
    for await event in run.events {
      switch event.kind {
      case .stepAsking:
        let recorded = try store.recorded(run.id)
        #expect(recorded.state == .running)
        #expect(recorded.pendingApprovals.map(\.step.text) == ["ask"])
        await #expect(processExitsWith: .success) {
          [directory = directory as String, id = id as String] in
          try FileRunStore(directory: directory).answer(
            StepAddress("ask"), of: RunID(validating: id)!, approved: true)
        }
      case .stepWaiting:
        await #expect(processExitsWith: .success) {
          [directory = directory as String, id = id as String] in
          try FileRunStore(directory: directory).cancel(RunID(validating: id)!)
        }
      default: break
      }
    }
    let report = await run.report
    #expect(report.end?.outcome == .cancelled)
    #expect(report.end?.cancellation == .requested)
    guard case .finished(let end)? = report.steps.first?.state else {
      Issue.record("the question has no end")
      return
    }
    #expect(end.outcome == .success)
  }

  @Test func theLastAnswerBeforeTheResumptionCounts() async throws {
    let workflow = Workflow(steps: [Step("ask", approve: "well?")])
    let id = try await run(workflow)
    #expect(try store.recorded(id).pendingApprovals.map(\.message) == ["well?"])
    try store.answer(StepAddress("ask"), of: id, approved: true)
    try store.answer(StepAddress("ask"), of: id, approved: false)
    let resumed = try Engine().resume(id, workflow, in: store)
    let report = await resumed.report
    #expect(report.end?.outcome == .failure, "\(report.end.map { "\($0)" } ?? "no end")")
    // A run that has ended is not affected any more.
    try store.cancel(id)
    #expect(try store.recorded(id).state == .failure)
  }

  // MARK: Following

  @Test func aRunIsFollowedWhileItRunsAndAfterwards() async throws {
    let workflow = Workflow(
      name: "w", steps: [Step("a", run: "echo one"), Step("b", approve: "well?")])
    let run = try Engine(approve: { _ in
      try? await Task.sleep(for: .seconds(100_000))
      return false
    }).start(workflow, in: store)
    var kinds: [String] = []
    for await event in try store.follow(run.id) {
      kinds.append(word(event))
      if case .stepAsking = event.kind { run.approve(StepAddress("b")) }
    }
    #expect(kinds.first == "started" && kinds.last == "finished")
    #expect(kinds.contains("output one"))
    #expect(await run.report.succeeded)
    // Each iterator reads from the beginning.
    let followed = try store.follow(run.id)
    for _ in 0..<2 {
      var again: [String] = []
      for await event in followed { again.append(word(event)) }
      #expect(again.first == "started" && again.last == "finished")
    }
  }

  private func word(_ event: RunEvent) -> String {
    switch event.kind {
    case .runStarted: "started"
    case .runFinished: "finished"
    case .stepOutput(_, let output): "output \(output.text)"
    default: "step"
    }
  }

  @Test func followingEndsWithItsTask() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("wait", wait: .seconds(100_000))]), in: store)
    let events = try store.follow(run.id)
    let task = Task { for await _ in events {} }
    task.cancel()
    await task.value
    #expect(run.progress.end == nil)
    run.cancel()
    _ = await run.report
  }

  // MARK: Removing

  @Test func oldRunsAreRemovedButNotThoseThatCouldBeResumed() async throws {
    let ended = try await run(Workflow(steps: [Step("a", run: "true")]))
    let waiting = try await run(Workflow(steps: [Step("a", approve: "well?")]))
    let live = try Engine().start(
      Workflow(steps: [Step("wait", wait: .seconds(100_000))]), in: store)
    var policy = CleaningPolicy(count: 0)
    let planned = try store.clean(policy, isDryRun: true)
    #expect(planned.removed.map(\.run) == [ended])
    #expect(try #require(planned.removed.first).bytes > 0)
    #expect(planned.resumable.map(\.run) == [waiting])
    #expect(store.runs.count == 3, "nothing is removed yet")

    #expect(try store.clean(policy).removed.map(\.run) == [ended])
    #expect(Set(store.runs) == [waiting, live.id])
    policy.removesUnfinished = true
    let rest = try store.clean(policy)
    #expect(rest.removed.map(\.run) == [waiting] && rest.failures.isEmpty && rest.unknown.isEmpty)
    #expect(store.runs == [live.id], "an engine holds it")
    live.cancel()
    _ = await live.report
  }

  @Test func aFolderThatIsNoRunIsLeftAloneAndReported() async throws {
    _ = try await run(Workflow(steps: [Step("a", run: "true")]))
    let stranger = "\(store.directory)/runs/\(HistoryTests.missing)"
    try FileSystem.makeDirectory(stranger)
    try Descriptor.creating(stranger + "/mine", .orEmptied).writeAll([1])
    let result = try store.clean(CleaningPolicy(count: 0, removesUnfinished: true))
    #expect(result.removed.count == 1 && result.unknown.count == 1)
    #expect(FileSystem.isDirectory(stranger))
  }

  @Test func whatAKilledProcessLeftBehindIsTerminated() async throws {
    let id = try await interruptedRun()
    #expect(try store.list().map(\.state) == [.interrupted])
    #expect(try store.recorded(id).end == nil)
    let result = try store.reap(id)
    #expect(result.leftovers.count == 1 && result.leftovers[0].command.hasPrefix("sleep"))
    #expect(result.unkillable.isEmpty)
    #expect(try store.reap(id).leftovers.isEmpty, "they are gone")
    // It ends for those that follow it, and can be resumed.
    for await _ in try store.follow(id) {}
    #expect(try store.clean(CleaningPolicy(count: 0)).resumable.map(\.run) == [id])
  }

  @Test func theProcessesOfALiveEngineAreNotReaped() async throws {
    let run = try Engine().start(
      Workflow(steps: [Step("a", run: ["sleep", "1000"])]), in: store)
    for await event in run.events {
      if case .stepStarted = event.kind { break }
    }
    #expect(throws: RunStoreError.self) { try store.reap(run.id) }
    #expect(run.progress.end == nil)
    run.cancel()
    #expect(await run.report.end?.outcome == .cancelled)
  }
}
