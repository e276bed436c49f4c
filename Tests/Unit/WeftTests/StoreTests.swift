import Synchronization
import TestSupport
import Testing
import Weft
import WeftFutures
import WeftPlatform

#if canImport(Glibc)
  import Glibc
#elseif canImport(Darwin)
  import Darwin
#endif

/// Runs whose journal is kept, and that a different engine resumes.
@Suite struct StoreTests {
  /// The number of calls of each action, and the actions that fail.
  private final class Calls: Sendable {
    private let state = Mutex<(counts: [String: Int], failing: Set<String>)>(([:], []))

    init(failing: Set<String> = []) { state.withLock { $0.failing = failing } }

    var counts: [String: Int] { state.withLock { $0.counts } }

    func mend() { state.withLock { $0.failing = [] } }

    func call(_ name: String) throws {
      let fails = state.withLock { state in
        state.counts[name, default: 0] += 1
        return state.failing.contains(name)
      }
      if fails { throw Broken() }
    }

    struct Broken: Error {}
  }

  private func engine(_ calls: Calls, _ options: Engine.Options = Engine.Options()) -> Engine {
    Engine(
      options: options,
      actions: [("one", "one"), ("two", "two"), ("three", "three")].map {
        (action: ActionName, name: String) in
        Action(action) { _ in
          try calls.call(name)
          return .null
        }
      })
  }

  private static let workflow = Workflow(steps: [
    Step(id: "one", action: .use(ActionCall("one"))),
    Step(id: "two", action: .use(ActionCall("two"))),
    Step(id: "three", action: .use(ActionCall("three"))),
  ])

  enum Kind: CaseIterable { case memory, file, functions }

  /// An empty store of each kind.
  private func store(_ kind: Kind) throws -> (any RunStore, keeps: Any?) {
    switch kind {
    case .memory: return (MemoryRunStore(), nil)
    case .file:
      let folder = try Scratch()
      return (FileRunStore(directory: folder.path + "/.weft"), folder)
    case .functions: return (LineStore(), nil)
    }
  }

  @Test(arguments: Kind.allCases)
  func otherEngineResumesAFailedRun(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let calls = Calls(failing: ["two"])
    let first = try engine(calls).start(StoreTests.workflow, in: store)
    #expect(await first.report.end?.outcome == .failure)
    calls.mend()
    let second = try engine(calls).resume(first.id, StoreTests.workflow, in: store)
    #expect(await second.report.succeeded)
    #expect(second.recordFault == nil)
    #expect(calls.counts == ["one": 1, "two": 2, "three": 1])
    #expect(throws: RunStoreError.self) {
      try engine(calls).resume(first.id, StoreTests.workflow, in: store)
    }
    withExtendedLifetime(keeps) {}
  }

  @Test("X24: the library, too, writes a report that the engine of a finished run did not come to")
  func aMissingReportIsWritten() async throws {
    let folder = try Scratch()
    let store = FileRunStore(directory: folder.path + "/.weft")
    let calls = Calls(failing: [])
    let run = try engine(calls).start(StoreTests.workflow, in: store)
    #expect(await run.report.succeeded)
    let path = folder.path + "/.weft/runs/\(run.id)/report.json"
    let isThere = { (try? FileReading.bytes(ofRegularFile: path, limit: 1 << 20)) != nil }
    for _ in 0..<2 {
      #expect(isThere())
      Descriptor.remove(path)
      #expect(throws: RunStoreError.self) {
        try engine(calls).resume(run.id, StoreTests.workflow, in: store)
      }
    }
    #expect(isThere() && calls.counts == ["one": 1, "two": 1, "three": 1])
  }

  /// The second run's first step runs until the test releases it.
  @Test(arguments: Kind.allCases)
  func runsLearnFromEachOtherHowLongStepsTake(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let gate = Mutex<CheckedContinuation<Void, Never>?>(nil)
    let isGated = Atomic(false)
    let (reached, signal) = AsyncStream.makeStream(of: Void.self)
    let engine = Engine(
      actions: [
        Action("gate") { _ in
          if isGated.load(ordering: .sequentiallyConsistent) {
            await withCheckedContinuation { continuation in
              gate.withLock { $0 = continuation }
              signal.yield()
            }
          }
          return .null
        },
        Action("after") { _ in .null },
      ])
    let workflow = Workflow(
      name: "learns",
      steps: [
        Step(id: "gate", action: .use(ActionCall("gate"))),
        Step(id: "after", action: .use(ActionCall("after"))),
      ])
    let first = try engine.start(workflow, in: store)
    #expect(first.remaining == nil)
    #expect(await first.report.succeeded)
    isGated.store(true, ordering: .sequentiallyConsistent)
    let second = try engine.start(workflow, in: store)
    for await _ in reached { break }
    if kind == .functions {
      // This store keeps no durations.
      #expect(second.remaining == nil)
    } else {
      #expect(second.remaining != nil)
    }
    gate.withLock { $0 }?.resume()
    #expect(await second.report.succeeded)
    #expect(second.remaining == nil)
    withExtendedLifetime(keeps) {}
  }

  @Test(arguments: Kind.allCases)
  func unselectedStepStaysUnselectedOnResume(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let calls = Calls(failing: ["two"])
    var options = Engine.Options()
    options.only = ["two"]
    let first = try engine(calls, options).start(StoreTests.workflow, in: store)
    _ = await first.report
    calls.mend()
    let second = try engine(calls).resume(first.id, StoreTests.workflow, in: store)
    #expect(await second.report.succeeded)
    #expect(calls.counts == ["one": 1, "two": 2])
    withExtendedLifetime(keeps) {}
  }

  @Test(arguments: Kind.allCases)
  func namedStepIsRerun(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let calls = Calls(failing: ["three"])
    let first = try engine(calls).start(StoreTests.workflow, in: store)
    _ = await first.report
    calls.mend()
    let second = try engine(calls).resume(
      first.id, StoreTests.workflow, rerunning: ["one"], in: store)
    #expect(await second.report.succeeded)
    #expect(calls.counts == ["one": 2, "two": 1, "three": 2])
    withExtendedLifetime(keeps) {}
  }

  private struct Download: Transport {
    func exchange(
      _ request: WireRequest, answering plan: @escaping @Sendable (HTTPResponseHead) -> BodyPlan
    ) -> Future<HTTPExchange, HTTPFailure> {
      let head = HTTPResponseHead(status: 200)
      guard case .write(let writer, _) = plan(head) else {
        return Future(failure: HTTPFailure(.connect(to: request.url.host, why: "not asked for")))
      }
      Array("saved".utf8).withUnsafeBytes { try? writer.write($0) }
      try? writer.end(.complete)
      return Future(value: HTTPExchange(head: head, body: []))
    }
  }

  /// The path is derived from the working directory of the process.
  @Test(arguments: [true, false])
  func aSavedFileIsFoundAgainWhereTheEnginesDirectoryIsRelative(isThere: Bool) async throws {
    let directory = "weft-test-" + String(UInt64.random(in: 0 ... .max), radix: 36)
    try FileSystem.makeDirectory(directory)
    defer { Directory.removeTree(directory) }
    let calls = Calls(failing: ["two"])
    var options = Engine.Options()
    options.startDirectory = directory
    func engine() -> Engine {
      Engine(
        options: options,
        actions: [
          Action("two") { _ in
            try calls.call("two")
            return .null
          }
        ], transport: Download())
    }
    let workflow = try Workflow(
      json: """
        { "steps": [
          { "id": "get", "http": { "url": "http://a.test/", "saveTo": "out.bin" } },
          { "use": "two" }
        ] }
        """)
    let store = MemoryRunStore()
    let first = try engine().start(workflow, in: store)
    #expect(await first.report.end?.firstFailure?.text == "2")
    calls.mend()
    #expect(try FileReading.bytes(of: directory + "/out.bin", limit: 100).count == 5)
    guard isThere else {
      Directory.removeTree(directory)
      #expect(throws: RunStoreError.self) {
        try engine().resume(first.id, workflow, in: store)
      }
      return
    }
    let second = try engine().resume(first.id, workflow, in: store)
    #expect(await second.report.succeeded)
  }

  @Test(arguments: Kind.allCases)
  func runInProgressHasOneEngine(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let workflow = Workflow(steps: [Step(id: "pause", action: .wait(.duration(.seconds(600))))])
    let run = try Engine().start(workflow, in: store)
    #expect(throws: RunStoreError.self) { try Engine().resume(run.id, workflow, in: store) }
    run.cancel()
    _ = await run.report
    let second = try Engine().resume(run.id, workflow, in: store)
    second.cancel()
    #expect(await second.report.end?.outcome == .cancelled)
    withExtendedLifetime(keeps) {}
  }

  @Test(arguments: Kind.allCases)
  func runWithoutAnApproverIsSuspendedAndResumed(_ kind: Kind) async throws {
    let (store, keeps) = try store(kind)
    let calls = Calls()
    let workflow = Workflow(steps: [
      Step(id: "one", action: .use(ActionCall("one"))),
      Step(id: "ask", action: .approve(Approval(message: "go on?"))),
      Step(id: "two", action: .use(ActionCall("two"))),
    ])
    let first = try engine(calls).start(workflow, in: store)
    let report = await first.report
    #expect(report.end == nil)
    #expect(
      report.pause?.requests == [ApprovalRequest(step: StepAddress("ask"), message: "go on?")])
    var options = Engine.ResumeOptions()
    options.answers = [StepAddress("ask"): true]
    let second = try engine(calls).resume(first.id, workflow, options: options, in: store)
    #expect(await second.report.succeeded)
    #expect(calls.counts == ["one": 1, "two": 1])
    withExtendedLifetime(keeps) {}
  }

  @Test func inputsAreThoseOfTheRecordAndSecretOnesAreGivenAgain() async throws {
    let text = """
      { "inputs": { "name": {}, "token": { "secret": true } },
        "steps": [ { "run": "test -n \\"$T\\"; exit 1", "env": { "T": "${{ inputs.token }}" },
                     "name": "for ${{ inputs.name }}" } ] }
      """
    let store = MemoryRunStore()
    let workflow = try Workflow(json: text)
    let run = try Engine().start(
      workflow, inputs: ["name": "ada", "token": "hush-hush"], in: store)
    _ = await run.report
    let record = String(decoding: store.record(of: run.id), as: UTF8.self)
    #expect(record.contains("\"ada\"") && !record.contains("hush-hush"))
    #expect(throws: WorkflowError.self) { try Engine().resume(run.id, workflow, in: store) }
    let second = try Engine().resume(
      run.id, workflow, inputs: ["token": "hush-hush"], in: store)
    #expect(await second.report.end?.outcome == .failure)
  }

  @Test func aFileThatHasChangedIsRefused() async throws {
    let store = MemoryRunStore()
    let run = try Engine().start(Workflow(json: #"{"steps": ["exit 1"]}"#), in: store)
    _ = await run.report
    let other = try Workflow(json: #"{"steps": ["exit 2"]}"#)
    #expect(throws: RunStoreError.self) { try Engine().resume(run.id, other, in: store) }
    #expect(throws: RunStoreError.self) {
      try Engine().resume(
        run.id, Workflow(json: #"{"steps": ["exit 1"]}"#), rerunning: ["x"], in: store)
    }
  }

  @Test("E12: a start writes the records of its first steps on the caller's thread, and no others")
  func startWritesItsFirstRecordsOnly() async throws {
    let store = LineStore()
    // An action that has ended when `start` looks at it is continued from there.
    let hasStarted = Moment()
    let actions = (["one", "two", "three"] as [ActionName]).map { name in
      Action(name) { _ in
        await hasStarted.hasCome()
        return .null
      }
    }
    let run = try Engine(actions: actions).start(StoreTests.workflow, in: store)
    let lineCountOfStart = store.lineCountOfThisThread
    hasStarted.comes()
    #expect(await run.report.succeeded)
    #expect(store.lineCount > 5)
    #expect((1...4).contains(lineCountOfStart))
  }

  @Test func lostJournalEndsTheRun() async throws {
    let calls = Calls()
    // The third step is never announced.
    let store = LineStore(lineLimit: 9)
    let run = try engine(calls).start(StoreTests.workflow, in: store)
    let report = await run.report
    #expect(report.end?.cancellation == .recordLost)
    #expect(run.recordFault?.message.contains("no more paper") == true)
    #expect((calls.counts["three"] ?? 0) == 0)
    #expect(throws: RunStoreError.self) {
      try engine(calls).start(StoreTests.workflow, in: LineStore(lineLimit: 0))
    }
  }

  @Test func damagedOrMissingRecordIsRefused() async throws {
    let store = LineStore()
    let run = try Engine().start(Workflow(steps: [Step(run: "exit 1")]), in: store)
    _ = await run.report
    let workflow = Workflow(steps: [Step(run: "exit 1")])
    store.damage()
    let fault = #expect(throws: RunStoreError.self) {
      try Engine().resume(run.id, workflow, in: store)
    }
    #expect(fault?.message.contains("checksum") == true)
    #expect(throws: RunStoreError.self) {
      try Engine().resume(
        RunID(validating: "20200101-000000-abcdef")!, workflow, in: MemoryRunStore())
    }
  }

  @Test func aRecordThatEndsInTheMiddleOfALineIsNotAppendedTo() async throws {
    let store = LineStore()
    let workflow = Workflow(steps: [Step(run: "exit 1")])
    let run = try Engine().start(workflow, in: store)
    _ = await run.report
    store.tear()
    let fault = #expect(throws: RunStoreError.self) {
      try Engine().resume(run.id, workflow, in: store)
    }
    #expect(fault?.message.contains("middle of a line") == true)
    // The failed resume has released the run.
    store.mend()
    let second = try Engine().resume(run.id, workflow, in: store)
    #expect(await second.report.end?.outcome == .failure)
  }

  @Test func failedOpeningReleasesTheRun() async throws {
    let store = LineStore(lineLimit: 0)
    for _ in 0..<2 {
      let fault = #expect(throws: RunStoreError.self) {
        try Engine().start(Workflow(steps: [Step(run: "true")]), in: store)
      }
      #expect(fault?.message.contains("no more paper") == true)
    }
  }

  @Test(arguments: ["", "x", "20200101-000000-abcde", "../20200101-000000-abcdef"])
  func malformedRunIDIsRejected(_ text: String) { #expect(RunID(validating: text) == nil) }
}

/// A temporary directory for one test, removed with it.
final class Scratch: Sendable {
  let path = "\(FileSystem.temporaryDirectory)/weft-store-\(UInt64.random(in: 0 ... .max))"

  init() throws { try FileSystem.makeDirectory(path, mode: 0o700) }

  deinit { Directory.removeTree(path) }
}

/// A store made of functions, which may run out of space.
private final class LineStore: RunStore {
  private struct State {
    var lines: [UInt8] = []
    var count = 0
    var isHeld = false
    var threads: [UInt] = []
  }

  private let state = Mutex(State())
  private let lineLimit: Int

  init(lineLimit: Int = .max) { self.lineLimit = lineLimit }

  var lineCount: Int { state.withLock { $0.count } }

  /// The number of lines that were written on the caller's thread.
  var lineCountOfThisThread: Int {
    let thread = UInt(pthread_self())
    return state.withLock { state in state.threads.count { $0 == thread } }
  }

  func tear() { state.withLock { $0.lines += Array("{\"n\":".utf8) } }

  func mend() { state.withLock { $0.lines.removeLast(5) } }

  func damage() { state.withLock { $0.lines[10] ^= 1 } }

  func begin(_ beginning: RunBeginning) throws(RunStoreError) -> RunJournal {
    try take(beginning.run)
  }

  func take(_ run: RunID) throws(RunStoreError) -> RunJournal {
    let wasHeld = state.withLock { state in
      defer { state.isHeld = true }
      return state.isHeld
    }
    if wasHeld { throw RunStoreError(message: "somebody has it") }
    return RunJournal(
      read: { () throws(RunStoreError) in self.state.withLock { $0.lines } },
      append: { line throws(RunStoreError) in
        let fits = self.state.withLock { state in
          guard state.count < self.lineLimit else { return false }
          state.count += 1
          state.lines += line
          state.threads.append(UInt(pthread_self()))
          return true
        }
        if !fits { throw RunStoreError(message: "no more paper") }
      },
      close: { self.state.withLock { $0.isHeld = false } })
  }
}
